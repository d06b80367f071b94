// Import of conversations. An imported conversation is created, filled and then opened. It is invisible until it is
// opened. Its messages keep their own times. Everything else works as in `post`: the chain, the ids in its order, the
// search index, and one event per message with the time of the import.
//
// An importer fills the conversation in chunks, as a job, with a `clientID` for each message, so that a chunk repeated
// after a crash finds its messages. Participants join after the conversation was opened, so that its messages are not
// unread.

public import ParleyModel
import ParleySQLite

/// The conversation to import.
public struct ImportedConversation: Sendable {
  public let kind: Conversation.Kind
  /// Only for a room or a topic.
  public var forum: ID<Forum>?
  /// Only for a feed.
  public var owner: ID<User>?
  public var title: String?
  public let creator: ID<User>
  /// In milliseconds since 1970.
  public let createdAt: Int64

  public init(_ kind: Conversation.Kind, title: String? = nil, by creator: ID<User>, createdAt: Int64) {
    self.kind = kind
    self.title = title
    self.creator = creator
    self.createdAt = createdAt
  }
}

extension WriteTransaction {
  /// Creates an invisible conversation. Throws `conflict` if the room or feed exists already.
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
    if let entry = try titleEntry(of: id) { searchChanges.append(.add(entry)) }
    try log(
      .conversationCreated, in: .conversation(id), subject: id.number, revision: 1, actor: conversation.creator.number)
    return id
  }

  /// Adds the next message. It must not be older than the previous one.
  public func importMessage(_ message: NewMessage, createdAt: Int64) throws(Refusal) -> StoredMessage {
    if let earlier = try claimClientID(of: message) { return earlier }
    guard let earliest = try lastTime(in: message.conversation) else { throw .notFound }
    guard earliest <= createdAt, createdAt <= now else {
      throw .invalid("created_at", .outOfRange(Int(min(earliest, now))...Int(now)))
    }
    return try append(message, in: "importing", at: createdAt).stored
  }

  /// Opens the conversation for reading and writing.
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

  /// The time of the last message or, without one, of the conversation. Nil unless it is being imported.
  private func lastTime(in conversation: ID<Conversation>) throws(Refusal) -> Int64? {
    try run { connection in
      try connection.first(
        """
        select coalesce(m.created_at, c.created_at)
        from conversation c
        left join message m on m.id = c.last_message_id
        where c.id = $1 and c.state = 'importing'
        """, conversation.number
      ) { row in Int64(try row.int(0)) }
    }
  }
}
