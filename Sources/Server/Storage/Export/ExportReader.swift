import ParleyJSON
public import ParleyModel
import ParleySQLite

/// The scope of an export: the whole site, or the data of one user.
public enum ExportScope: Sendable, Equatable {
  case site
  /// Profile, settings, own messages and files, direct and group conversations.
  case user(ID<User>)

  var number: Int {
    switch self {
    case .site: 0
    case .user(let user): user.number
    }
  }
}

extension ExportScope {
  /// The data of the user with a name in a data folder.
  public init(user name: String, data: String) throws(BackupFault) {
    let id: Int?
    do {
      let connection = try Connection.reader(DataFolder.database(in: data))
      defer { connection.close() }
      id = try connection.first(
        "select id from account where name = $1 collate nocase and state <> 'erased'", name
      ) { row in try row.int(0) }
    } catch {
      throw .impossible("The database in \(data) can't be read: \(error)")
    }
    guard let id else { throw .impossible("There is no user \(name).") }
    self = .user(ID(id))
  }
}

/// A message as the pages of an export show it.
public struct ExportedMessage: Sendable {
  public let id: Int
  public let author: Int
  /// The time for a reader.
  public let time: String
  public let isEdited: Bool
  public let text: String
}

public struct ExportedConversation: Sendable {
  public let id: Int
  public let kind: String
  public let title: String?
  /// The forum of a room or a topic.
  public let forum: String?
  /// The names of the participants of a direct or group conversation.
  public let participants: [String]
  public let messages: Int
}

public struct ExportedFile: Sendable {
  /// In the archive.
  public let path: String
  /// On the disk.
  public let source: String
}

/// A file of a message.
public struct ExportedAttachment: Sendable {
  public let name: String
  public let mimeType: String
  /// In the archive; nil if the content is missing on the server.
  public let path: String?
  /// Empty if there is none.
  public let description: String
}

/// The database that an export reads.
enum ExportSource {
  /// A copy, which is read for as long as it takes.
  case copy
  /// The database itself, in one transaction. For an export of a small part of it, because the log of the writer grows meanwhile.
  case original
}

/// Reads a database for an export, with temporary tables of its own.
public final class ExportReader {
  public let scope: ExportScope
  private let connection: Connection
  private let folder: String
  private let check: () throws -> Void

  /// Prepares a new file and gives it its name at the end. A copy of the database is beside it meanwhile; a failure leaves neither.
  ///
  /// - Parameter watch: receives the connection that reads.
  static func write<Value>(
    data: String, to path: String, _ scope: ExportScope, from source: ExportSource, check: @escaping () throws -> Void,
    watch: (Connection) throws -> Void = { _ in }, _ body: (ExportReader, _ part: String) throws -> Value
  ) throws -> Value {
    guard !Disk.exists(path) else { throw BackupFault.impossible("\(path) already exists.") }
    let (part, copy) = (path + ".part", path + ".part.db")
    let leftovers = [part, copy] + ["-wal", "-shm", "-journal", ".part", ".part-journal"].map { copy + $0 }
    defer { for leftover in leftovers { try? Disk.remove(leftover) } }
    for leftover in leftovers { try Disk.remove(leftover) }
    // Fails early if the folder is not writable.
    _ = try DiskFile.make(part)
    try Disk.remove(part)
    let database = DataFolder.database(in: data)
    guard Disk.exists(database) else { throw BackupFault.impossible("There is no database in \(data).") }
    if source == .copy { try Self.copy(database, to: copy, check) }
    let reader = try ExportReader(data: data, source == .copy ? copy : database, scope, check: check)
    defer { reader.connection.close() }
    try watch(reader.connection)
    let value = try body(reader, part)
    try Disk.move(part, to: path)
    try Disk.sync(Disk.folder(of: path))
    return value
  }

  /// Copies a database, whether a server uses it or not.
  private static func copy(_ database: String, to path: String, _ check: () throws -> Void) throws {
    let source = try Connection.reader(database)
    defer { source.close() }
    try source.transaction(.deferred) {
      try requireSchema(of: source)
      try source.backUp(to: path) { _ in try check() }
    }
  }

  private static func requireSchema(of connection: Connection) throws {
    guard try Migrator.level(of: connection, known: MigrationHashes.all) == MigrationHashes.all.count else {
      throw BackupFault.impossible("The database is that of another version. Run parley migrate first.")
    }
  }

  /// Endings of files that a browser opens as neither a page nor a script. Others become `.bin`.
  private static let extensions: Set<Substring> = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "heic", "tif", "tiff", "bmp", "mp4", "webm", "mov", "mkv", "mp3",
    "ogg", "oga",
    "opus", "m4a", "wav", "flac", "pdf", "txt", "md", "csv", "zip", "gz", "tar", "7z", "doc", "docx", "xls", "xlsx",
    "ppt",
    "pptx", "odt", "ods", "odp", "epub",
  ]

  private init(
    data: String, _ database: String, _ scope: ExportScope, check: @escaping () throws -> Void
  ) throws {
    self.scope = scope
    self.check = check
    folder = data
    var options = Connection.Options()
    options.sortsOnDisk = true
    options.writesTemporaryTables = true
    connection = try Connection.reader(database, options)
  }

  /// Chooses the rows of the export, and reads them in one transaction. `content` needs none.
  ///
  /// - Parameter now: the time of the checkpoints, in milliseconds since 1970.
  func reading<Value>(at now: Int64, _ body: () throws -> Value) throws -> Value {
    try connection.transaction(.deferred) {
      try Self.requireSchema(of: connection)
      if case .user(let user) = scope {
        let name = try connection.first("select name from account where id = $1", user.number) { try $0.text(0) }
        guard name != nil else { throw BackupFault.impossible("There is no such user.") }
      }
      try prepare()
      if let key = try SiteKey.read(folder) { try connection.signExportedChains(by: key, at: now) }
      return try body()
    }
  }

  private func prepare() throws {
    for table in ExportTable.tables { try connection.execute(table) }
    switch scope {
    case .site: try connection.execute(ExportTable.conversationsOfSite)
    case .user(let user):
      for query in ExportTable.conversationsOfUser { try connection.execute(query, user.number) }
    }
    try check()
    try connection.execute(ExportTable.messages)
    if case .user(let user) = scope { try connection.execute(ExportTable.messagesOfUser, user.number) }
    let icon = try connection.setting("icon_file").flatMap { Int($0) } ?? 0
    let files = try connection.all(ExportTable.exportedFiles, scope.number, icon) { row in
      (id: try row.int(0), digest: try row.bytes(1), size: try row.int(2), name: try row.text(3))
    }
    for file in files {
      try check()
      let source = "\(folder)/\(StoredFile(digest: file.digest, size: file.size).path)"
      let path = Disk.size(source) == file.size ? Self.path(file.id, file.name) : nil
      try connection.execute(
        "insert into export_file (id, digest, size, path) values ($1, $2, $3, $4)", file.id, file.digest, file.size,
        path)
    }
  }

  /// The name of a file in the archive.
  private static func path(_ id: Int, _ name: String) -> String {
    let ending = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
    return "files/\(id).\(extensions.contains(ending) ? ending : "bin")"
  }

  // MARK: Reading

  /// The JSON Lines of the export.
  public var tables: [ExportTable] { scope == .site ? ExportTable.ofSite : ExportTable.ofUser }

  /// Reads the lines of a table one by one. Returns their number.
  public func lines(of table: ExportTable, _ body: ([UInt8]) throws -> Void) throws -> Int {
    var count = 0
    func read(_ row: borrowing Row) throws {
      try check()
      try body(try table.line(row))
      count += 1
    }
    if table.isScoped {
      try connection.each(table.query, scope.number, read: read)
    } else {
      try connection.each(table.query, read: read)
    }
    return count
  }

  static func time(_ milliseconds: Int) -> String {
    Timestamp.format(milliseconds).prefix(16).replacing("T", with: " ") + " UTC"
  }

  public func siteName() throws -> String { try connection.setting("name") ?? "Parley" }

  /// The names of the authors by id.
  public func names() throws -> [Int: String] {
    var names: [Int: String] = [:]
    try connection.each(
      """
      select id, coalesce(display_name, name)
      from account
      where id in (select m.author_id from export_message e join message m on m.id = e.id)
      """
    ) { row in names[try row.int(0)] = try row.text(1) }
    return names
  }

  /// Uploaded files whose content is missing on the server.
  public func missingCount() throws -> Int {
    try connection.first("select count(*) from export_file where path is null") { row in try row.int(0) } ?? 0
  }

  /// The sizes of the uploaded files that are there.
  func fileBytes() throws -> Int {
    try connection.first("select coalesce(sum(size), 0) from export_file where path is not null") { row in
      try row.int(0)
    } ?? 0
  }

  /// Conversations with messages: those of forums by title, then the others.
  public func conversations() throws -> [ExportedConversation] {
    try connection.all(
      """
      select c.id, c.kind, iif(s.readable, c.title, null), f.title,
        (select count(*) from export_message where conversation_id = c.id), (
        select json_group_array(name)
        from (
          select coalesce(a.display_name, a.name) as name
          from participant p
          join account a on a.id = p.user_id
          where p.conversation_id = c.id and c.forum_id is null and s.whole = 1
          order by a.id
          limit 20
        )
      )
      from export_scope s
      join conversation c on c.id = s.id
      left join forum f on f.id = c.forum_id and s.readable = 1
      where c.id in (select conversation_id from export_message)
      order by f.title is null, f.title, f.id, c.kind = 'room' desc, c.id
      """
    ) { row in
      ExportedConversation(
        id: try row.int(0), kind: try row.text(1), title: try row.optionalText(2), forum: try row.optionalText(3),
        participants: try [String](json: JSONValue(parsing: Array(try row.text(5).utf8))), messages: try row.int(4))
    }
  }

  public func messages(of conversation: Int, _ body: (ExportedMessage) throws -> Void) throws {
    try connection.each(
      """
      select m.id, m.author_id, m.created_at, m.edited_at, m.text
      from export_message e
      join message m on m.id = e.id
      where e.conversation_id = $1
      order by m.seq
      """, conversation
    ) { row in
      try check()
      try body(
        ExportedMessage(
          id: try row.int(0), author: try row.int(1), time: Self.time(try row.int(2)), isEdited: !row.isNull(3),
          text: try row.text(4)))
    }
  }

  /// All attachments in their order, also those that are missing: the text of the message numbers them.
  public func attachments(of message: Int) throws -> [ExportedAttachment] {
    try connection.all(
      """
      select f.name, f.mime_type, x.path, ifnull(a.description, '')
      from attachment a
      join export_file x on x.id = a.file_id
      join file f on f.id = a.file_id
      where a.message_id = $1
      order by a.position
      """, message
    ) { row in
      ExportedAttachment(
        name: try row.text(0), mimeType: try row.text(1), path: try row.optionalText(2),
        description: try row.text(3))
    }
  }

  /// The files that are there, one by one. Returns their number.
  func files(_ body: (ExportedFile) throws -> Void) throws -> Int {
    var count = 0
    try connection.each("select path, digest, size from export_file where path is not null order by id") { row in
      count += 1
      let source = "\(folder)/\(StoredFile(digest: try row.bytes(1), size: try row.int(2)).path)"
      try body(ExportedFile(path: try row.text(0), source: source))
    }
    return count
  }

  /// The content of a file, in pieces.
  public func content(of file: ExportedFile, _ body: ([UInt8]) throws -> Void) throws {
    let source = try DiskFile.open(file.source)
    while true {
      let piece = try source.read(DiskFile.pieceSize)
      guard !piece.isEmpty else { return }
      try check()
      try body(piece)
    }
  }
}
