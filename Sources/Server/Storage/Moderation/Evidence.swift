// The evidence of content, written before its destruction: a tar archive with its rows as JSON Lines, its uploaded files and
// SHA256SUMS. `tar xf FILE && sha256sum --check SHA256SUMS` checks it.
//
//     evidence.json              the destroyed content and the time
//     messages-1.jsonl           messages with earlier texts, sealed texts and copies in reports, 10,000 in a file
//     files.jsonl, users.jsonl   rows of the files, their owners and the authors
//     files/ab/cd/…              the content of the files and their previews, named by its SHA-256

import ParleyJSON
import ParleySQLite

public struct Evidence: Sendable {
  public enum Subject: Hashable, Sendable {
    case message(Int)
    /// All files with the content of this one.
    case file(Int)
    /// A user with all messages and files, by name or id.
    case user(String)

    fileprivate var words: (kind: String, id: String) {
      switch self {
      case .message(let id): ("message", "\(id)")
      case .file(let id): ("file", "\(id)")
      case .user(let name): ("user", name)
      }
    }
  }

  public fileprivate(set) var messages = 0
  public fileprivate(set) var files = 0
  /// Files whose content the data folder lacks.
  public fileprivate(set) var missing = 0

  private static let messagesPerEntry = 10_000

  /// Writes the evidence of a data folder, which a server may be using, to a new file. `now` is in milliseconds since 1970.
  public static func write(
    _ subject: Subject, of data: String, to path: String, at now: Int64
  ) throws(BackupFault) -> Evidence {
    do {
      let connection = try Connection.reader(DataFolder.database(in: data))
      defer { connection.close() }
      // One state of all tables.
      try connection.execute("begin")
      guard let content = try connection.content(of: subject) else {
        let (kind, id) = subject.words
        throw BackupFault.impossible("There is no \(kind) \(id), so nothing was destroyed.")
      }
      var writer = try BackupWriter(path, createdAt: Int(now))
      do {
        return try write(subject, content, connection, data, now, &writer)
      } catch {
        try? Disk.remove(path)
        throw error
      }
    } catch let fault as BackupFault {
      throw fault
    } catch {
      throw BackupFault(error, writing: path)
    }
  }

  private static func write(
    _ subject: Subject, _ content: EvidenceContent, _ connection: Connection, _ data: String, _ now: Int64,
    _ writer: inout BackupWriter
  ) throws -> Evidence {
    var evidence = Evidence()
    var json = JSONWriter()
    json.object { json in
      json.field(subject.words.kind, subject.words.id)
      json.field("made_at", Timestamp.format(Int(now)))
    }
    try writer.add("evidence.json", json.bytes)
    evidence.messages = content.messages.count
    for first in stride(from: 0, to: content.messages.count, by: messagesPerEntry) {
      let part = Array(content.messages[first...].prefix(messagesPerEntry))
      try writer.add("messages-\(first / messagesPerEntry + 1).jsonl", lines(try connection.evidenceOfMessages(part)))
    }
    try writer.add("files.jsonl", lines(try connection.evidenceOfFiles(content.files)))
    try writer.add("users.jsonl", lines(try connection.evidenceOfUsers(content)))
    for file in try connection.storedFiles(content.files) {
      guard let source = try? DiskFile.open("\(data)/\(file.path)"),
        try writer.add(file.path, from: source, size: file.size, digest: file.digest, wrote: { _ in }) != nil
      else {
        evidence.missing += 1
        continue
      }
      evidence.files += 1
    }
    try writer.finish()
    return evidence
  }

  private static func lines(_ rows: [String]) -> [UInt8] { Array(rows.map { $0 + "\n" }.joined().utf8) }
}

/// The ids of what is destroyed.
private struct EvidenceContent {
  var messages: [Int] = []
  var files: [Int] = []
  var user: Int?
}

extension Connection {
  /// Nil for an unknown id or name.
  fileprivate func content(of subject: Evidence.Subject) throws(SQLiteError) -> EvidenceContent? {
    switch subject {
    case .message(let id):
      let positions = try ids(
        """
        with recursive position (id) as (
          select id
          from message
          where id = $1
          union
          select moved.value
          from position p
          join message m on m.id = p.id
          join json_each(json_array(m.moved_from, m.moved_to)) moved
          where moved.value is not null
        )
        select id
        from position
        order by id
        """, id)
      guard !positions.isEmpty else { return nil }
      return EvidenceContent(messages: positions, files: try files(of: positions))
    case .file(let id):
      let files = try ids(
        "select id from file where digest = (select digest from file where id = $1) order by id", id)
      guard !files.isEmpty else { return nil }
      return EvidenceContent(messages: try messages(with: files), files: files)
    case .user(let name):
      let found = try ids(
        "select id from account where name = $1 collate nocase or cast(id as text) = $1 order by name = $1 desc limit 1",
        name)
      guard let user = found.first else { return nil }
      let messages = try ids(
        """
        select m.id
        from message m
        where m.author_id = $1 and (m.text is not null or exists (select 1 from sealed s where s.message_id = m.id))
        order by m.id
        """, user)
      return EvidenceContent(
        messages: messages, files: try ids("select id from file where owner_id = $1 order by id", user), user: user)
    }
  }

  private func ids<Value: Bindable>(_ sql: SQL, _ value: Value) throws(SQLiteError) -> [Int] {
    try all(sql, value) { row in try row.int(0) }
  }

  private func files(of messages: [Int]) throws(SQLiteError) -> [Int] {
    try ids(
      """
      select file_id
      from attachment
      where message_id in (select value from json_each($1))
      union
      select file_id
      from sealed_attachment
      where message_id in (select value from json_each($1))
      order by file_id
      """, messages.jsonText)
  }

  private func messages(with files: [Int]) throws(SQLiteError) -> [Int] {
    try ids(
      """
      select message_id
      from attachment
      where file_id in (select value from json_each($1))
      union
      select message_id
      from sealed_attachment
      where file_id in (select value from json_each($1))
      order by message_id
      """, files.jsonText)
  }

  // MARK: Rows as JSON

  fileprivate func evidenceOfMessages(_ ids: [Int]) throws(SQLiteError) -> [String] {
    try all(
      """
      select json_object(
        'id', cast(m.id as text), 'conversation_id', cast(m.conversation_id as text),
        'author_id', cast(m.author_id as text), 'text', m.text,
        'created_at', strftime('%Y-%m-%dT%H:%M:%fZ', m.created_at / 1000.0, 'unixepoch'),
        'edited_at', strftime('%Y-%m-%dT%H:%M:%fZ', m.edited_at / 1000.0, 'unixepoch'),
        'reply_to', cast(m.reply_to as text), 'deletion', m.deletion,
        'deleted_at', strftime('%Y-%m-%dT%H:%M:%fZ', m.deleted_at / 1000.0, 'unixepoch'),
        'sealed', (select json(s.content) from sealed s where s.message_id = m.id),
        'revisions', (
          select json_group_array(json_object(
            'revision', r.revision, 'text', r.text,
            'edited_at', strftime('%Y-%m-%dT%H:%M:%fZ', r.edited_at / 1000.0, 'unixepoch')))
          from revision r
          where r.message_id = m.id
        ),
        'files', (
          select json_group_array(cast(a.file_id as text))
          from (
            select file_id from attachment where message_id = m.id
            union
            select file_id from sealed_attachment where message_id = m.id
          ) a
        ),
        'reports', (
          select json_group_array(json_object('reason', p.reason, 'copy', json(p.copy)))
          from report p
          where p.message_id = m.id
        ))
      from message m
      where m.id in (select value from json_each($1))
      order by m.id
      """, ids.jsonText
    ) { row in try row.text(0) }
  }

  fileprivate func evidenceOfFiles(_ ids: [Int]) throws(SQLiteError) -> [String] {
    try all(
      """
      select json_object(
        'id', cast(id as text), 'owner_id', cast(owner_id as text), 'name', name, 'mime_type', mime_type, 'size', size,
        'sha256', lower(hex(digest)), 'preview_sha256', lower(hex(preview_digest)),
        'created_at', strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch'))
      from file
      where id in (select value from json_each($1))
      order by id
      """, ids.jsonText
    ) { row in try row.text(0) }
  }

  fileprivate func evidenceOfUsers(_ content: EvidenceContent) throws(SQLiteError) -> [String] {
    try all(
      """
      select json_object(
        'id', cast(id as text), 'name', name, 'role', role, 'state', state,
        'created_at', strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch'))
      from account
      where id = $1
        or id in (select author_id from message where id in (select value from json_each($2)))
        or id in (select owner_id from file where id in (select value from json_each($3)))
      order by id
      """, content.user ?? 0, content.messages.jsonText, content.files.jsonText
    ) { row in try row.text(0) }
  }

  fileprivate func storedFiles(_ ids: [Int]) throws(SQLiteError) -> [StoredFile] {
    try all(
      """
      select digest, size
      from file
      where id in (select value from json_each($1))
      union
      select preview_digest, preview_size
      from file
      where id in (select value from json_each($1)) and preview_digest is not null
      order by 1
      """, ids.jsonText
    ) { row in StoredFile(digest: try row.bytes(0), size: try row.int(1)) }
  }
}
