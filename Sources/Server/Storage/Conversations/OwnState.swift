// All that one user has, at once: what a first screen shows.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// What somebody takes part in and their feed, whether or not their rights let them read it still, last active first.
  /// Without last messages. Unread is counted from where their own row says that their history begins.
  public func ownConversations(of user: ID<User>, limit: Int) throws(Refusal) -> [OwnConversation] {
    var found = try run { connection in
      var found = try connection.all(
        SQL(
          """
          select \(Self.conversationColumns), \(Self.ownColumns), \(Self.participantCountColumn),
            coalesce(nullif(c.last_message_id, 0), c.id) as activity
          from (
            select conversation_id as id
            from participant
            where user_id = $1
            union all
            select id
            from conversation
            where owner_id = $1 and kind = 'feed'
          ) as own
          join conversation c on c.id = own.id
          left join participant p on p.conversation_id = c.id and p.user_id = $1
          left join read_position k on k.user_id = $1 and k.conversation_id = c.id
          left join stream s on s.id = 4 * c.id + 3
          left join level l on l.user_id = $1 and l.scope_id = c.id
          left join level f on f.user_id = $1 and f.scope_id = c.forum_id
          where c.state = 'open'
          order by activity desc
          limit $2
          """), user.number, limit
      ) { row in
        var own = try OwnConversation(row)
        own.conversation.participantCount = try row.optionalInt(31)
        return own
      }
      let users = try Self.listed(found.map(\.conversation), connection)
      for place in found.indices {
        found[place].conversation.participants = users[found[place].conversation.id]
      }
      return found
    }
    for place in found.indices {
      let id = found[place].conversation.id
      let participation = found[place].participation
      let (lastSeq, fromSeq) = (found[place].conversation.lastSeq, participation?.fromSeq ?? 1)
      if lastSeq < fromSeq { found[place].conversation.lastMessage = nil }
      let start = ConversationHead.unreadStart(
        readSeq: found[place].readSeq, joinedSeq: participation?.joinedSeq ?? 0, fromSeq: fromSeq)
      if lastSeq > start { found[place].unread = try unread(of: user, in: id, after: start) }
    }
    return found
  }

  /// In which of these forums not everything can be read that was ever said, by this user.
  public func forumsWithHistoryStart(
    among forums: [ID<Forum>], for user: ID<User>
  ) throws(Refusal) -> Set<ID<Forum>> {
    var found: Set<ID<Forum>> = []
    try run { connection in
      try Self.historyStartsOfForums.each(forums.map { (user.number, $0.number) }, connection) { row in
        found.insert(ID(try row.int(0)))
      }
    }
    return found
  }

  private static let historyStartsOfForums = PairQuery(
    """
    select f.id
    from wanted w
    cross join forum f on f.id = w.b
    left join forum_member m on m.forum_id = w.b and m.user_id = w.a
    where f.users_from_id > 0 or f.anyone_from_id > 0 or m.from_id > 0
    """)

  /// Where somebody has said what they want to hear.
  public func levels(of user: ID<User>) throws(Refusal) -> [LevelScope: Level] {
    var levels: [LevelScope: Level] = [:]
    try run { connection in
      try connection.each(
        """
        select l.scope_id, l.level, c.id is not null
        from level l
        left join conversation c on c.id = l.scope_id
        where l.user_id = $1
        """, user.number
      ) { row in
        let place: LevelScope =
          try row.bool(2) ? .conversation(ID(try row.int(0))) : .forum(ID(try row.int(0)))
        levels[place] = try row.word(1)
      }
    }
    return levels
  }

  /// Whom somebody follows, mutes and blocks.
  public func relations(of user: ID<User>) throws(Refusal) -> [ID<User>: Set<Relation>] {
    var relations: [ID<User>: Set<Relation>] = [:]
    try run { connection in
      try connection.each(
        """
        select other_id, kind
        from relation
        where user_id = $1
        """, user.number
      ) { row in relations[ID(try row.int(0)), default: []].insert(try row.word(1)) }
    }
    return relations
  }

  /// The last message of each, where it is not before the history.
  public func addLastMessages(to conversations: inout [OwnConversation]) throws(Refusal) {
    let ids = conversations.compactMap(\.conversation.lastMessage)
    var found: [ID<Message>: Message] = [:]
    for start in stride(from: 0, to: ids.count, by: MessageQuery.maxMessages) {
      for message in try messages(Array(ids[start...].prefix(MessageQuery.maxMessages))) {
        found[message.id] = message
      }
    }
    for place in conversations.indices {
      conversations[place].lastMessage = conversations[place].conversation.lastMessage.flatMap { found[$0] }.map {
        MessageView($0)
      }
    }
  }
}
