// Moves a branch of a conversation to a topic. The messages are copied, and the originals become tombstones that link
// to the copies. A copy has the revision of its original and takes over its earlier texts, actions and notifications.

public import ParleyJSON
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
      try takeOver(RowMove(message: message.id, actor: actor), to: copy, in: topic)
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
          machine_only, created_at, latest_at, edited_at, edited_by, revision, sent_at, moved_from, buttons)
        select $1, c.id, c.last_seq + 1, nullif(c.last_message_id, 0), m.author_id, m.kind, m.text, m.entities,
          m.annotations, $2, m.machine_only, m.created_at,
          (
            select coalesce(p.latest_at, p.created_at)
            from message p
            where p.id = c.last_message_id and coalesce(p.latest_at, p.created_at) > m.created_at
          ),
          m.edited_at, m.edited_by, m.revision, m.sent_at, m.id, m.buttons
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
      try connection.execute("update revision set message_id = $1 where message_id = $2", id.number, message.id.number)
    }
    if message.hasPoll {
      // The tombstone removes the entry that it finds, which then has no options.
      if let entry = try searchEntry(of: message.id) { searchChanges.append(.remove(entry)) }
      try movePoll(of: message.id, to: id)
      if let entry = try searchEntry(of: message.id) { searchChanges.append(.add(entry)) }
    }
    if let entry = try searchEntry(of: id) { searchChanges.append(.add(entry)) }
    try log(
      .messageCreated, in: .conversation(topic), subject: id.number, revision: message.revision, actor: actor.number)
    try chainMessages(of: topic, limit: 1)
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
    insert into attachment (message_id, position, file_id, description)
    select $1, position, file_id, description
    from attachment
    where message_id = $2
    """,
  ]
}

// MARK: Actions and notifications

// They belong to the copy. They may be many: one chunk of each moves with the message, the rest in a stored job.

/// Job: moves the actions and notifications of a moved message to its copy.
public struct RowMove: Sendable {
  /// The original.
  let message: ID<Message>
  let actor: ID<User>
}

extension JobKind {
  /// Moves the actions and notifications of a message beyond the first chunk.
  public static let rowMove = JobKind("topic.rows") { (tx, move: inout RowMove) throws(Refusal) in
    guard let copy = try tx.liveCopy(of: move.message) else {
      // A tombstone keeps the actions of other users, and has no notifications.
      return try !tx.removeNotificationChunk(
        move.message, limit: WriteTransaction.notificationChunk, by: move.actor)
    }
    let (moved, hasMore) = try tx.moveActionChunk(of: move.message, to: copy.id)
    // The event of the copy was before these actions. Their users fetch the message to know their own.
    for user in Set(moved.filter { $0.type.reach != .personal }.map(\.user)).sorted() {
      try tx.log(
        .actionAdded, in: .conversation(copy.conversation), subject: copy.id.number, revision: 0, actor: user.number)
    }
    return try !tx.moveNotificationChunk(move, to: copy.id, in: copy.conversation) && !hasMore
  }
}

extension WriteTransaction {
  private static let actionChunk = 500

  /// Moves the first chunk, and starts the job for the rest. The copy's event is logged before.
  func takeOver(_ move: RowMove, to copy: ID<Message>, in topic: ID<Conversation>) throws(Refusal) {
    let hasMoreActions = try moveActionChunk(of: move.message, to: copy).hasMore
    let hasMoreNotifications = try moveNotificationChunk(move, to: copy, in: topic)
    guard hasMoreActions || hasMoreNotifications else { return }
    _ = try startJob(kind: JobKind.rowMove.name, subject: move.message.number, by: move.actor, state: move)
  }

  /// Returns the moved actions, and whether more may remain. Logs the stars, which no event of the copy has.
  fileprivate func moveActionChunk(
    of message: ID<Message>, to copy: ID<Message>
  ) throws(Refusal) -> (moved: [(type: ActionType, user: ID<User>)], hasMore: Bool) {
    let rows = try run { connection in
      try connection.all(
        """
        update action
        set message_id = $1
        where message_id = $2 and (type, user_id) in (
          select type, user_id
          from action
          where message_id = $2
          order by type, user_id
          limit $3
        )
        returning type, user_id
        """, copy.number, message.number, Self.actionChunk
      ) { row in (type: try row.text(0), user: ID<User>(try row.int(1))) }
    }
    let moved = rows.compactMap { row in ActionType(row.type).map { (type: $0, user: row.user) } }
    for action in moved.sorted(by: { $0.user < $1.user }) where action.type.reach == .personal {
      let user = action.user
      try log(.actionRemoved, in: .user(user), subject: message.number, revision: 0, actor: user.number)
      try log(.actionAdded, in: .user(user), subject: copy.number, revision: 0, actor: user.number)
    }
    return (moved, rows.count == Self.actionChunk)
  }

  /// Returns whether more may remain. The notifications keep their ids: they announce nothing new.
  fileprivate func moveNotificationChunk(
    _ move: RowMove, to copy: ID<Message>, in topic: ID<Conversation>
  ) throws(Refusal) -> Bool {
    let moved = try run { connection in
      try connection.all(
        """
        update notification
        set message_id = $1, conversation_id = $2
        where id in (
          select id
          from notification
          where message_id = $3
          order by user_id
          limit $4
        )
        returning id, user_id
        """, copy.number, topic.number, move.message.number, Self.notificationChunk
      ) { row in (id: try row.int(0), user: ID<User>(try row.int(1))) }
    }
    for notification in moved.sorted(by: { $0.user < $1.user }) {
      try log(
        .notificationCreated, in: .user(notification.user), subject: notification.id, revision: 0,
        actor: move.actor.number)
    }
    return moved.count == Self.notificationChunk
  }
}

extension ReadTransaction {
  /// The copy of a moved message, which may have been moved again; nil if it was deleted.
  fileprivate func liveCopy(of message: ID<Message>) throws(Refusal) -> (
    id: ID<Message>, conversation: ID<Conversation>
  )? {
    var next = try movedPosition(of: message)
    while let copy = next {
      let deletion = try run { connection in
        try connection.first("select deletion from message where id = $1", copy.id.number) { row in
          try row.optionalText(0)
        }
      }.flatMap(\.self)
      if deletion == nil { return copy }
      next = try movedPosition(of: copy.id)
    }
    return nil
  }
}

extension RowMove: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    message = try object.read("message")
    actor = try object.read("actor")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("message", message)
      json.field("actor", actor)
    }
  }
}
