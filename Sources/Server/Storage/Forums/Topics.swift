public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Creates a topic with its creator as a participant.
  ///
  /// - Parameter tags: those of the first message, which the caller adds in this transaction.
  public func addTopic(
    _ title: String, tags: [String] = [], in forum: ID<Forum>, by creator: ID<User>
  ) throws(Refusal) -> ID<Conversation> {
    let id = ID<Conversation>(nextID())
    try addConversation(id, .topic, in: forum, title: title, tags: tags, by: creator)
    try insert(NewParticipant(creator), in: id, fromSeq: 1, fromOffset: 1, joinedSeq: 0)
    try logToUser(.conversationCreated, of: id, to: creator, by: creator)
    return id
  }

  /// Stores the changed fields of a topic and increments its revision.
  public func change(_ before: Topic, to topic: Topic, by actor: ID<User>) throws(Refusal) -> Topic {
    var topic = topic
    topic.revision = before.revision + 1
    try indexingTitle(of: topic.id) { () throws(Refusal) in
      try update(
        "conversation", topic.id.number,
        set: topic.columns(since: before) + [("revision", .int(topic.revision))])
    }
    for stream in [EventStream.conversation(topic.id), .forum(topic.forum)] {
      try log(.conversationUpdated, in: stream, subject: topic.id.number, revision: topic.revision, actor: actor.number)
    }
    return topic
  }
}

extension ReadTransaction {
  /// Nil for a deleted topic or another kind of conversation.
  public func topic(_ id: ID<Conversation>) throws(Refusal) -> Topic? {
    try run { connection in try connection.first(Self.topicByID, id.number, read: Topic.init) }
  }

  private static let topicByID = SQL(
    """
    select \(Topic.columns)
    from conversation c
    where id = $1 and kind = 'topic' and state = 'open'
    """)

  /// Topics of a forum: pinned ones first, then by newest activity. With a filter the rows of other topics are read, too:
  /// run it on a background reader.
  public func topics(
    of forum: ID<Forum>, by creator: ID<User>? = nil, isSolved: Bool? = nil, _ slice: ListSlice
  ) throws(Refusal) -> [Topic] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(Topic.columns)
          from conversation c
          where forum_id = $1 and kind = 'topic' and state = 'open' and (pinned, activity) \(page.comparison) ($2, $3)
          and ($4 is null or created_by = $4) and ($5 is null or (solved_by is not null) = $5)
          order by pinned \(page.order), activity \(page.order), id \(page.order)
          limit $6
          """), forum.number, page.number(), page.number(1), creator?.number, isSolved, slice.limit, read: Topic.init)
    }
  }

  /// The topic of a forum with the newest activity.
  public func newestTopic(of forum: ID<Forum>) throws(Refusal) -> Topic? {
    var newest: [Topic] = []
    for isPinned in [true, false] {
      try run { connection in
        newest += try connection.all(
          SQL(
            """
            select \(Topic.columns)
            from conversation c
            where forum_id = $1 and kind = 'topic' and state = 'open' and pinned = $2
            order by activity desc, id desc
            limit 1
            """), forum.number, isPinned, read: Topic.init)
      }
    }
    return newest.max { $0.activity < $1.activity }
  }

  /// Whether a conversation contains this message, not deleted.
  public func hasMessage(_ message: ID<Message>, in conversation: ID<Conversation>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from message
        where id = $1 and conversation_id = $2 and deletion is null
        """, message.number, conversation.number
      ) { _ in true } ?? false
    }
  }
}

extension Topic {
  /// The columns of `init(_: Row)`, for a table `c`.
  static let columns = """
    c.id, c.forum_id, c.created_by, c.created_at, c.last_message_id, c.last_seq, c.revision, \(shownTags) as tags,
    \(columns(of: "c"))
    """

  init(_ row: borrowing Row) throws {
    let last = try row.int(4)
    self.init(
      id: ID(try row.int(0)), forum: ID(try row.int(1)), createdBy: ID(try row.int(2)),
      createdAt: Int64(try row.int(3)), lastMessage: last == 0 ? nil : ID(last), lastSeq: try row.int(5),
      revision: try row.int(6))
    tags = try row.tags(7)
    try readFields(row, from: 8)
  }
}
