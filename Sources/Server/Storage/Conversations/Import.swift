// What comes from another place. An imported conversation is made, filled and then opened: until then nobody but the
// importer knows of it, and then it is there as a whole. Its messages keep their own times. Everything else is as with
// `post`: the chain, the ids in its order, the search index, and one event a message, whose time is that of the import.
//
// An importer fills it in chunks, as a job, with a `clientID` for each message: after a crash a chunk that is repeated
// finds what it made. People who are to take part join after it was opened, so that they have nothing unread.

public import ParleyModel
import ParleySQLite

/// The conversation that an import makes.
public struct ImportedConversation: Sendable {
  public let kind: Conversation.Kind
  /// Of a room or a topic, and of nothing else.
  public var forum: ID<Forum>?
  /// Of a feed, and of nothing else.
  public var owner: ID<User>?
  public var title: String?
  public let creator: ID<User>
  /// When it began, in milliseconds since 1970.
  public let createdAt: Int64

  public init(_ kind: Conversation.Kind, title: String? = nil, by creator: ID<User>, createdAt: Int64) {
    self.kind = kind
    self.title = title
    self.creator = creator
    self.createdAt = createdAt
  }
}

extension WriteTransaction {
  /// Makes a conversation that nobody sees. A room or a feed is `conflict` where there is one already.
  public func startImport(of conversation: ImportedConversation) throws(Refusal) -> ID<Conversation> {
    guard conversation.createdAt <= now else { throw .invalid("created_at", .outOfRange(0...Int(now))) }
    let id = ID<Conversation>(nextID())
    let isMade = try run { connection in
      try connection.execute(
        """
        insert into conversation (id, kind, forum_id, owner_id, title, imported, state, created_by, created_at)
        values ($1, $2, $3, $4, $5, 1, 'importing', $6, $7)
        on conflict do nothing
        """, id.number, conversation.kind.rawValue, conversation.forum?.number, conversation.owner?.number,
        conversation.title, conversation.creator.number, Int(conversation.createdAt)) == 1
    }
    guard isMade else { throw .conflict }
    try log(
      .conversationCreated, in: .conversation(id), subject: id.number, revision: 1, actor: conversation.creator.number)
    return id
  }

  /// Adds the next message, which is not older than the one before it.
  public func importMessage(_ message: NewMessage, createdAt: Int64) throws(Refusal) -> StoredMessage {
    let fingerprint = message.clientID == nil ? [] : try message.fingerprint()
    if let earlier = try earlier(message, fingerprint) { return earlier }
    guard let place = try end(of: message.conversation, in: "importing") else { throw .notFound }
    let earliest = try lastTime(in: message.conversation)
    guard earliest <= createdAt, createdAt <= now else {
      throw .invalid("created_at", .outOfRange(Int(min(earliest, now))...Int(now)))
    }
    return try append(message, to: place, at: createdAt, fingerprint)
  }

  /// From now on it is a conversation like any other, and can be read and written.
  public func openImported(_ id: ID<Conversation>, by actor: ID<User>) throws(Refusal) {
    let opened = try run { connection in
      try connection.first(
        """
        update conversation
        set state = 'open', revision = revision + 1
        where id = $1 and state = 'importing'
        returning revision, forum_id
        """, id.number
      ) { row in (revision: try row.int(0), forum: try row.optionalInt(1).map { ID<Forum>($0) }) }
    }
    guard let opened else { throw .notFound }
    try log(
      .conversationUpdated, in: .conversation(id), subject: id.number, revision: opened.revision, actor: actor.number)
    guard let forum = opened.forum else { return }
    try log(
      .conversationCreated, in: .forum(forum), subject: id.number, revision: opened.revision, actor: actor.number)
  }

  /// Of its last message, or else of itself.
  private func lastTime(in conversation: ID<Conversation>) throws(Refusal) -> Int64 {
    try run { connection in
      try connection.first(
        """
        select coalesce(m.created_at, c.created_at)
        from conversation c
        left join message m on m.id = c.last_message_id
        where c.id = $1
        """, conversation.number
      ) { row in Int64(try row.int(0)) } ?? 0
    }
  }
}
