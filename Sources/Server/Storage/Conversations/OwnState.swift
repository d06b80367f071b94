// All that one person has, at once: what a first screen shows.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// What somebody takes part in and their feed, whether or not their rights let them read it still, last active first.
  /// Without last messages. Unread is counted from where their own row says that their history begins.
  public func ownConversations(of person: ID<Account>, limit: Int) throws(Refusal) -> [OwnConversation] {
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
          left join mark k on k.user_id = $1 and k.conversation_id = c.id
          left join stream s on s.id = 4 * c.id + 3
          left join level l on l.user_id = $1 and l.place_id = c.id
          left join level f on f.user_id = $1 and f.place_id = c.forum_id
          where c.state = 'open'
          order by activity desc
          limit $2
          """), person.number, limit
      ) { row in
        var own = try OwnConversation(row)
        own.conversation.participantCount = try row.optionalInt(31)
        return own
      }
      let people = try Self.listed(found.map(\.conversation), connection)
      for place in found.indices {
        found[place].conversation.participants = people[found[place].conversation.id]
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
      if lastSeq > start { found[place].unread = try unread(of: person, in: id, after: start) }
    }
    return found
  }

  /// In which of these forums not everything can be read that was ever said, by this person.
  public func forumsWithHistoryStart(
    among forums: [ID<Forum>], for person: ID<Account>
  ) throws(Refusal) -> Set<ID<Forum>> {
    var found: Set<ID<Forum>> = []
    try run { connection in
      try Self.historyStartsOfForums.each(forums.map { (person.number, $0.number) }, connection) { row in
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
    where f.people_from_id > 0 or f.anyone_from_id > 0 or m.from_id > 0
    """)

  /// Where somebody has said what they want to hear.
  public func levels(of person: ID<Account>) throws(Refusal) -> [LevelPlace: Level] {
    var levels: [LevelPlace: Level] = [:]
    try run { connection in
      try connection.each(
        """
        select l.place_id, l.level, c.id is not null
        from level l
        left join conversation c on c.id = l.place_id
        where l.user_id = $1
        """, person.number
      ) { row in
        let place: LevelPlace =
          try row.bool(2) ? .conversation(ID(try row.int(0))) : .forum(ID(try row.int(0)))
        levels[place] = try row.word(1)
      }
    }
    return levels
  }

  /// Whom somebody follows, mutes and blocks.
  public func relations(of person: ID<Account>) throws(Refusal) -> [ID<Account>: Set<Relation>] {
    var relations: [ID<Account>: Set<Relation>] = [:]
    try run { connection in
      try connection.each(
        """
        select other_id, kind
        from relation
        where user_id = $1
        """, person.number
      ) { row in relations[ID(try row.int(0)), default: []].insert(try row.word(1)) }
    }
    return relations
  }

  /// The last message of each, where it is not before the history.
  public func addLastMessages(to conversations: inout [OwnConversation]) throws(Refusal) {
    let ids = conversations.compactMap(\.conversation.lastMessage)
    var found: [ID<Message>: Message] = [:]
    for start in stride(from: 0, to: ids.count, by: MessageQuery.mostMessages) {
      for message in try messages(Array(ids[start...].prefix(MessageQuery.mostMessages))) {
        found[message.id] = message
      }
    }
    for place in conversations.indices {
      conversations[place].lastMessage = conversations[place].conversation.lastMessage.flatMap { found[$0] }.map {
        SeenMessage($0)
      }
    }
  }
}
