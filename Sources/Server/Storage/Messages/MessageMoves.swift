// Moves a branch of a conversation to a topic. The messages are copied, and the originals become tombstones that link
// to the copies.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// A message with its direct and indirect replies, in the order of the conversation. Longer branches return `most` +
  /// 1 ids.
  public func branch(of root: ID<Message>, max limit: Int) throws(Refusal) -> [ID<Message>] {
    var branch = [root]
    var frontier = [root]
    while !frontier.isEmpty, branch.count <= limit {
      var replies: [ID<Message>] = []
      try run { connection in
        try Self.repliesByMessage.each(frontier.map(\.number), connection) { row in
          if branch.count + replies.count <= limit { replies.append(ID(try row.int(0))) }
        }
      }
      branch += replies
      frontier = replies
    }
    return branch.sorted()
  }

  private static let repliesByMessage = ListQuery { list in
    """
    select id
    from message
    where reply_to in (\(list))
    """
  }

  /// The copy of a moved message and its conversation; nil for a message that was not moved.
  public func movedPosition(of message: ID<Message>) throws(Refusal) -> (
    id: ID<Message>, conversation: ID<Conversation>
  )? {
    try run { connection in
      try connection.first(
        """
        select c.id, c.conversation_id
        from message m
        join message c on c.id = m.moved_to
        where m.id = $1
        """, message.number
      ) { row in (id: ID(try row.int(0)), conversation: ID(try row.int(1))) }
    }
  }
}

extension WriteTransaction {
  /// Copies live messages, in this order, to the end of another conversation, and turns them into tombstones.
  ///
  /// - Returns: the copy of each original.
  public func move(
    _ messages: [Message], to topic: ID<Conversation>, in forum: ID<Forum>, by actor: ID<User>
  ) throws(Refusal) -> [ID<Message>: ID<Message>] {
    var copies: [ID<Message>: ID<Message>] = [:]
    for message in messages {
      let reply =
        try message.replyTo.flatMap { reply throws(Refusal) in
          if let copy = copies[reply] { return copy }
          // An earlier chunk of a long branch may have moved the parent.
          guard let moved = try movedPosition(of: reply), moved.conversation == topic else { return nil }
          return moved.id
        } as ID<Message>?
      let copy = try self.copy(message, to: topic, replyTo: reply, by: actor)
      copies[message.id] = copy
      _ = try entomb(try state(of: message.id), as: .moved, by: actor, movedTo: copy)
    }
    if let last = copies.values.max() { try setLastMessage(last, of: forum) }
    return copies
  }

  private func copy(
    _ message: Message, to topic: ID<Conversation>, replyTo reply: ID<Message>?, by actor: ID<User>
  ) throws(Refusal) -> ID<Message> {
    let id = ID<Message>(nextID())
    try run { connection in
      try connection.execute(
        """
        insert into message (
          id, conversation_id, seq, previous_message, author_id, kind, text, entities, annotations, reply_to,
          machine_only, created_at, latest_at, sent_at, moved_from, buttons)
        select $1, c.id, c.last_seq + 1, nullif(c.last_message_id, 0), m.author_id, m.kind, m.text, m.entities,
          m.annotations, $2, m.machine_only, m.created_at,
          (
            select coalesce(p.latest_at, p.created_at)
            from message p
            where p.id = c.last_message_id and coalesce(p.latest_at, p.created_at) > m.created_at
          ),
          m.sent_at, m.id, m.buttons
        from message m
        join conversation c on c.id = $3
        where m.id = $4
        """, id.number, reply?.number, topic.number, message.id.number)
      try connection.execute(
        """
        update conversation
        set last_seq = last_seq + 1, last_message_id = $1, tags = tags
        where id = $2
        """, id.number, topic.number)
      for rows in Self.copiedRows { try connection.execute(rows, id.number, topic.number, message.id.number) }
      for rows in Self.copiedMessageRows { try connection.execute(rows, id.number, message.id.number) }
    }
    if message.hasPoll {
      // The tombstone removes the entry that it finds, which then has no options.
      if let entry = try searchEntry(of: message.id) { searchChanges.append(.remove(entry)) }
      try movePoll(of: message.id, to: id)
      if let entry = try searchEntry(of: message.id) { searchChanges.append(.add(entry)) }
    }
    if let entry = try searchEntry(of: id) { searchChanges.append(.add(entry)) }
    try log(
      .messageCreated, in: .conversation(topic), subject: id.number, revision: 1, actor: actor.number)
    return id
  }

  /// Rows of a message that also name its conversation.
  private static let copiedRows: [SQL] = [
    """
    insert into hashtag (message_id, conversation_id, tag)
    select $1, $2, tag
    from hashtag
    where message_id = $3
    """,
    """
    insert into annotation (message_id, conversation_id, type)
    select $1, $2, type
    from annotation
    where message_id = $3
    """,
    """
    insert into location (message_id, conversation_id, name, latitude, longitude)
    select $1, $2, name, latitude, longitude
    from location
    where message_id = $3
    """,
  ]

  /// Rows of a message that do not name its conversation.
  private static let copiedMessageRows: [SQL] = [
    """
    insert into mention (message_id, user_id)
    select $1, user_id
    from mention
    where message_id = $2
    """,
    """
    insert into hyperlink (message_id, position, url)
    select $1, position, url
    from hyperlink
    where message_id = $2
    """,
    """
    insert into attachment (message_id, position, file_id)
    select $1, position, file_id
    from attachment
    where message_id = $2
    """,
  ]
}
