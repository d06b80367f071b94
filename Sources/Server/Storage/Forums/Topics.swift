public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Creates a topic with its creator as a participant.
  public func addTopic(
    _ title: String, in forum: ID<Forum>, by creator: ID<User>
  ) throws(Refusal) -> ID<Conversation> {
    let id = ID<Conversation>(nextID())
    try addConversation(id, .topic, in: forum, title: title, by: creator)
    try insert(NewParticipant(creator), in: id, fromSeq: 1, fromOffset: 1, joinedSeq: 0)
    try notify(.conversationCreated, of: id, to: creator, by: creator)
    return id
  }

  /// Stores the changed fields of a topic and increments its revision.
  public func change(_ before: Topic, to topic: Topic, by actor: ID<User>) throws(Refusal) -> Topic {
    var topic = topic
    topic.revision = before.revision + 1
    try run { connection in
      try connection.execute(
        """
        update conversation
        set title = $1, pinned = $2, locked = $3, slow_seconds = $4, solved_by = $5, revision = $6
        where id = $7
        """, topic.title, topic.isPinned, topic.isLocked, topic.slowSeconds, topic.solvedBy?.number, topic.revision,
        topic.id.number)
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
    try run { connection in
      try connection.first(
        """
        select id, forum_id, title, pinned, locked, slow_seconds, solved_by, created_by, created_at, last_message_id,
          last_seq, revision
        from conversation
        where id = $1 and kind = 'topic' and state = 'open'
        """, id.number, read: Topic.init)
    }
  }

  /// Topics of a forum: pinned ones first, then by newest activity.
  public func topics(
    of forum: ID<Forum>, after last: (isPinned: Bool, activity: Int)? = nil, limit: Int
  ) throws(Refusal) -> [Topic] {
    try run { connection in
      try connection.all(
        """
        select id, forum_id, title, pinned, locked, slow_seconds, solved_by, created_by, created_at, last_message_id,
          last_seq, revision
        from conversation
        where forum_id = $1 and kind = 'topic' and state = 'open' and (pinned, activity) < ($2, $3)
        order by pinned desc, activity desc, id desc
        limit $4
        """, forum.number, last?.isPinned ?? true, last?.activity ?? .max, limit, read: Topic.init)
    }
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
  fileprivate init(_ row: borrowing Row) throws {
    let last = try row.int(9)
    self.init(
      id: ID(try row.int(0)), forum: ID(try row.int(1)), title: try row.text(2), isPinned: try row.bool(3),
      isLocked: try row.bool(4), slowSeconds: try row.int(5), solvedBy: try row.optionalInt(6).map { ID($0) },
      createdBy: ID(try row.int(7)), createdAt: Int64(try row.int(8)), lastMessage: last == 0 ? nil : ID(last),
      lastSeq: try row.int(10), revision: try row.int(11))
  }
}
