import ParleyModel
import ParleySQLite

@testable import Storage

extension Garden {
  /// A message with every possible attribute, each with the word where it fits.
  static func message(saying word: String, files: [ID<File>] = [], as clientID: String? = nil) -> NewMessage {
    var message = NewMessage(
      conversation: room, author: ada, clientID: clientID, text: text(saying: word))
    message.sentAt = 1_799_999_999_000
    message.annotations = MessageAnnotations(
      json: #"[{"type":"com.example.\#(word)","value":{"n": 1.0,"s":"\#(word) \" \u0000"}}]"#,
      types: ["com.example.\(word)", "com.example.place"],
      location: Location(name: "at the \(word)", latitude: 48.137_154, longitude: -0.1))
    message.attachments = files
    return message
  }

  static func text(saying word: String) -> MessageText {
    var text = MessageText("plant the \(word) #\(word) @grace https://example.org/\(word) \u{1}\"\\ 🌱")
    text.entities = #"{"hashtags":[{"name":"\#(word)"}]}"#
    text.hashtags = [word, word, "garden"]
    text.mentions = [grace, grace]
    text.links = ["https://example.org/\(word)", "https://example.org"]
    return text
  }

  @discardableResult
  func write<Value: Sendable>(
    _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    try await store.write(rule)
  }

  func post(_ message: NewMessage) async throws(Refusal) -> ID<Message> {
    try await write { tx throws(Refusal) in try tx.post(message).id }
  }

  /// A file uploaded by ada, without references.
  func upload() async throws(Refusal) -> ID<File> {
    try await write { tx throws(Refusal) in
      let id = tx.nextID()
      try tx.run { connection in
        try connection.execute(
          """
          insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at, unused_since)
          values ($1, 1, $2, 1, 'rose.png', 'image', 'image/png', 1, 1)
          """, id, [UInt8](repeating: 1, count: 32))
        try connection.countFileUse()
      }
      return ID(id)
    }
  }

  /// The traces of other users on a message: an action, a notification, a report with a copy.
  func react(
    to message: ID<Message>, saying word: String, copyKeptFor time: Int = 1_000
  ) async throws(Refusal) {
    try await write { tx throws(Refusal) in
      let notice = tx.nextID()
      let report = tx.nextID()
      try tx.run { connection in
        try connection.execute(
          """
          insert into action (message_id, type, user_id, created_at, message_at)
          select id, 'like', 2, 5, created_at from message where id = $1
          """, message.number)
        try connection.execute(
          """
          insert into notification (id, user_id, kind, conversation_id, message_id, actor_id, created_at, read_at)
          values ($1, 2, 'mention', 3, $2, 1, 5, 6)
          """, notice, message.number)
        try connection.execute(
          """
          insert into report (id, reporter_id, message_id, reason, copy, copy_until, created_at)
          values ($1, 2, $2, 'weeds', $3, $4, 5)
          """, report, message.number, "copy of \(word)", Int(tx.now) + time)
      }
    }
  }

  func isUnused(_ file: ID<File>) async throws(Refusal) -> Bool? {
    try await write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.first("select unused_since is not null from file where id = $1", file.number) { try $0.bool(0) }
      }
    }
  }

  /// Every row of every table as text, except those of SQLite and of the search index.
  func tables() throws -> [String: [String]] {
    let connection = try Connection.reader(folder + "/parley.db")
    defer { connection.close() }
    let names = try connection.all(
      """
      select name
      from sqlite_schema
      where type = 'table' and name not like 'sqlite_%' and name not like 'search%'
      """
    ) { try $0.text(0) }
    var tables: [String: [String]] = [:]
    for name in names {
      let columns = try connection.all(SQL("select name from pragma_table_info('\(name)')")) { try $0.text(0) }
      let row = columns.map {
        "'\($0)=' || iif(typeof(\"\($0)\") = 'blob', hex(\"\($0)\"), coalesce(\"\($0)\", 'null'))"
      }
      .joined(separator: " || ' ' || ")
      tables[name] = try connection.all(SQL("select \(row) from \"\(name)\" order by 1")) { try $0.text(0) }
    }
    return tables
  }

  /// The tables that contain a word.
  func tables(saying word: String) throws -> [String] {
    try tables().filter { $0.value.contains { $0.contains(word) } }.keys.sorted()
  }

  func found(by word: String) throws -> [Int] {
    let connection = try Connection.reader(folder + "/parley.db")
    defer { connection.close() }
    return try connection.all("select rowid from search where search match $1 order by rowid", word) { try $0.int(0) }
  }

  /// Kind, subject, revision and actor of the delivered events, without the first `count`.
  func events(after count: Int) -> [String] {
    delivered.all.dropFirst(count).map { "\($0.kind) \($0.subject) \($0.revision) by \($0.actor)" }
  }
}
