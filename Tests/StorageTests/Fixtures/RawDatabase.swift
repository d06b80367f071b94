import Foundation
import ParleyModel
import ParleySQLite
import TestSupport

@testable import Storage

/// A database without a store, so that a test can choose the time of writes and read any row.
final class RawDatabase {
  let folder: String
  let connection: Connection
  private var counters = LastNumbers(id: 100, event: 0)

  static let ada = ID<User>(1)
  static let grace = ID<User>(2)
  static let alan = ID<User>(3)
  static let room = ID<Conversation>(4)
  static let lawn = ID<Conversation>(5)

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "parley-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try MigratedDatabase.copy(to: folder)
    connection = try Connection.writer(folder + "/parley.db")
    // No power is cut here.
    _ = try connection.first("pragma synchronous = off") { _ in }
    for (id, name) in [(1, "ada"), (2, "grace"), (3, "alan")] {
      try connection.execute(
        """
        insert into account (id, name, name_key, role, state, created_at)
        values ($1, $2, $3, 'member', 'active', 0)
        """, id, name, name)
    }
    for id in [4, 5] {
      try connection.execute(
        "insert into conversation (id, kind, created_by, created_at) values ($1, 'group', 1, 0)", id)
    }
  }

  deinit {
    connection.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  var reading: ReadTransaction { ReadTransaction(connection, now: 1_800_000_000_000) }

  /// Runs a closure in its own write transaction.
  @discardableResult func write<Value>(
    at now: Int64 = 1_800_000_000_000, _ body: (WriteTransaction) throws -> Value
  ) throws -> Value {
    let transaction = try connection.begin(.immediate)
    let tx = WriteTransaction(connection, counters: counters, now: now)
    let value = try body(tx)
    counters = tx.counters
    try connection.execute("update counter set value = $1 where name = 'event'", counters.event)
    try transaction.commit()
    return value
  }

  @discardableResult func post(
    _ text: String, by author: ID<User> = RawDatabase.ada, in conversation: ID<Conversation> = RawDatabase.room,
    at now: Int64 = 1_800_000_000_000, isMachineOnly: Bool = false, replyTo: ID<Message>? = nil
  ) throws -> ID<Message> {
    var message = NewMessage(conversation: conversation, author: author, text: text)
    message.isMachineOnly = isMachineOnly
    message.replyTo = replyTo
    return try write(at: now) { tx in try tx.post(message).id }
  }

  func delete(_ message: ID<Message>) throws {
    try connection.execute(
      """
      update message
      set text = null, entities = null, annotations = null, deletion = 'author', deleted_at = 1, deleted_by = author_id,
        revision = revision + 1
      where id = $1
      """, message.number)
  }

  func mute(_ other: ID<User>, by user: ID<User>) throws {
    try connection.execute(
      "insert into relation (user_id, kind, other_id, created_at) values ($1, 'mute', $2, 0)", user.number,
      other.number)
  }

  func join(_ user: ID<User>, _ conversation: ID<Conversation>, joinedSeq: Int = 0, fromSeq: Int = 1) throws {
    try connection.execute(
      """
      insert into participant (conversation_id, user_id, joined_at, from_seq, joined_seq)
      values ($1, $2, 0, $3, $4)
      """, conversation.number, user.number, fromSeq, joinedSeq)
  }

  func mark(_ user: ID<User>, _ conversation: ID<Conversation>, read seq: Int) throws {
    try connection.execute(
      """
      insert into read_position (user_id, conversation_id, read_seq, delivered_seq)
      values ($1, $2, $3, $3)
      on conflict (user_id, conversation_id) do update
      set read_seq = excluded.read_seq, delivered_seq = excluded.delivered_seq
      """, user.number, conversation.number, seq)
  }

  func act(_ user: ID<User>, _ type: String, on message: ID<Message>) throws {
    try connection.execute(
      """
      insert into action (message_id, type, user_id, created_at, message_at)
      select id, $1, $2, 0, created_at from message where id = $3
      """, type, user.number, message.number)
  }

  func attach(_ files: [Int], to message: ID<Message>) throws {
    for (position, file) in files.enumerated() {
      try connection.execute(
        "insert into attachment (message_id, position, file_id) values ($1, $2, $3)", message.number, position, file)
    }
  }
}
