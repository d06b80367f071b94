// The state of one user in one read: the content of a first screen.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The conversations of a participant and the user's feed, last active first, without last messages. Access is not
  /// checked. Unread counts start at the history of the participant row.
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
          order by c.kind = 'feed' desc, activity desc
          limit $2
          """), user.number, limit
      ) { row in
        var own = try OwnConversation(row)
        own.conversation.participantCount = try row.optionalInt("participant_count")
        return own
      }
      let users = try Self.listed(found.map(\.conversation), connection)
      for index in found.indices {
        found[index].conversation.participants = users[found[index].conversation.id]
      }
      return found
    }
    for index in found.indices {
      let id = found[index].conversation.id
      let participation = found[index].participation
      let (lastSeq, fromSeq) = (found[index].conversation.lastSeq, participation?.fromSeq ?? 1)
      if lastSeq < fromSeq { found[index].conversation.lastMessage = nil }
      let start = ConversationHead.unreadStart(
        readSeq: found[index].readSeq, joinedSeq: participation?.joinedSeq ?? 0, fromSeq: fromSeq)
      if lastSeq > start { found[index].unread = try unread(of: user, in: id, after: start) }
    }
    return found
  }

  /// The forums with a late start of history for this user.
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

  /// The notification levels that the user has set.
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
        let scope: LevelScope =
          try row.bool(2) ? .conversation(ID(try row.int(0))) : .forum(ID(try row.int(0)))
        levels[scope] = try row.word(1)
      }
    }
    return levels
  }

  /// The users that this user follows, mutes or blocks.
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

  /// Adds the last message of each conversation, unless it is before the user's history. The list ends where these messages
  /// reach `maxBytes`; it has at least one conversation.
  public func addLastMessages(to conversations: inout [OwnConversation], maxBytes: Int) throws(Refusal) {
    var bytes = 0
    for start in stride(from: 0, to: conversations.count, by: MessageQuery.maxMessages) {
      let part = conversations.indices[start...].prefix(MessageQuery.maxMessages)
      let last = try messages(part.compactMap { conversations[$0].conversation.lastMessage })
      let found = Dictionary(last.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
      for index in part {
        let message = conversations[index].conversation.lastMessage.flatMap { found[$0] }
        bytes += message?.size ?? 0
        guard index == 0 || bytes <= maxBytes else {
          conversations.removeSubrange(index...)
          return
        }
        conversations[index].lastMessage = message.map { MessageView($0) }
      }
    }
  }
}
