// The way back to the previous version after a migration: the copy of the database before it is put back, with the same rules as a
// restore. The messages since then stay readable beside the replaced database.

import ParleyJSON
import ParleySQLite

public struct WayBack: Sendable {
  /// The data folder.
  private let data: String
  /// The copy of the database.
  let path: String
  /// The time of the copy, in milliseconds since 1970.
  public let madeAt: Int64

  /// The file with the missing messages, one JSON object a line.
  public static let messages = "since.jsonl"

  /// Nil without a copy.
  public init?(data: String) {
    let database = DataFolder.database(in: data)
    // A migration that a power cut has ended has a copy with another name.
    let paths = [Migrator.unfinishedSnapshotPath(of: database), Migrator.snapshotPath(of: database)]
    guard let path = paths.first(where: { Disk.exists($0) }), let madeAt = Disk.changedAt(path) else { return nil }
    (self.data, self.path, self.madeAt) = (data, path, madeAt)
  }

  /// The changes since the copy.
  public struct Changes: Sendable {
    public let messages: Int
    /// All events, also those of changes without a message.
    public let events: Int
  }

  /// Compares the copy with the database, also while a server runs. Throws without room for the way back.
  public func changes(at now: Int64) throws(BackupFault) -> Changes {
    try requireRoom()
    do throws(Undone.Incomparable) {
      let undone = try Undone.compare(replaced: DataFolder.database(in: data), restored: path, at: now).0
      return Changes(messages: undone.messages, events: undone.events)
    } catch {
      throw .impossible("\(path) can't be compared with the database: \(error.reason).")
    }
  }

  /// Bytes beside the databases: logs and folders.
  private static let margin = 16 << 20

  /// The copy is copied once more, and the messages since then at most fill as much as the database.
  private func requireRoom() throws(BackupFault) {
    guard let space = Disk.space(data) else { return }
    let needed = (Disk.size(path) ?? 0) + (Disk.size(DataFolder.database(in: data)) ?? 0) + Self.margin
    guard space.free >= needed else {
      throw .impossible(
        "The way back needs \(needed / 1_000_000 + 1) MB of \(data), and \(space.free / 1_000_000) MB are free. Make "
          + "room and repeat the command.")
    }
  }

  /// Removes the copy of the database before its last migration.
  public static func remove(data: String) throws(BackupFault) {
    let database = DataFolder.database(in: data)
    do throws(DiskError) {
      try PreviousDatabase.remove(Migrator.snapshotPath(of: database))
      try Disk.sync(data)
    } catch {
      throw .impossible("\(error).")
    }
  }

  // MARK: The restore

  /// Copies the database into the folder of a restore. All uploaded files are in the data folder.
  static func unpack(
    _ path: String, to folder: String, _ report: @escaping (BackupProgress) throws -> Void
  ) throws -> BackupReader.Contents {
    let source = try Connection.reader(path)
    defer { source.close() }
    let schema = try Migrator.level(of: source, known: MigrationHashes.all)
    guard schema > 0 else { throw BackupDamage.badDatabase("it is empty") }
    try source.backUp(to: "\(folder)/\(BackupName.database)") { copied in
      try report(BackupProgress(.unpacking, done: copied.copied, of: copied.pages))
    }
    let manifest = BackupManifest(
      program: "", schema: schema, epoch: try Epoch.read(source), createdAt: Int(Disk.changedAt(path) ?? 0),
      counts: try source.counts())
    let digests = try StoredFile.all(in: source).filter { file in
      Disk.size("\(Disk.folder(of: path))/\(file.path)") == file.size
    }.map(\.digest)
    return BackupReader.Contents(
      manifest: manifest, database: [], erasures: [], files: digests.count, size: Disk.size(path) ?? 0,
      digests: Set(digests))
  }

  /// Keeps the messages and the uploaded files of the current database that the unpacked one does not have. Ids are strings, as in the
  /// API.
  static func keepMissing(of folder: DataFolder, from unpacked: String, in target: String) throws {
    let restored = "\(unpacked)/\(BackupName.database)"
    let connection = try Connection.reader(folder.database)
    defer { connection.close() }
    try connection.execute("attach database $1 as restored", restored.hasPrefix("/") ? restored : "./\(restored)")
    let file = try DiskFile.make("\(target)/\(messages)")
    try connection.each(
      """
      select m.id, m.conversation_id, f.title, c.title, m.author_id, a.name, m.created_at, m.reply_to, m.text, (
        select json_group_array(json_object('name', u.name, 'sha256', lower(hex(u.digest))))
        from main.attachment t
        join main.file u on u.id = t.file_id
        where t.message_id = m.id
      )
      from main.message m
      join main.conversation c on c.id = m.conversation_id
      join main.account a on a.id = m.author_id
      left join main.forum f on f.id = c.forum_id
      where m.kind = 'message' and m.deletion is null
        and not exists (select 1 from restored.message r where r.id = m.id)
      order by m.id
      """
    ) { row in
      var json = JSONWriter()
      try json.object { json in
        json.field("id", String(try row.int(0)))
        json.field("conversation_id", String(try row.int(1)))
        json.field("forum", try row.optionalText(2))
        json.field("conversation", try row.optionalText(3))
        json.field("author_id", String(try row.int(4)))
        json.field("author", try row.text(5))
        json.field("created_at", Timestamp(try row.int(6)))
        json.field("reply_to", try row.optionalInt(7).map { String($0) })
        json.field("text", try row.text(8))
        json.field("files", try JSONValue(parsing: Array(try row.text(9).utf8)))
      }
      try file.write(json.bytes + [UInt8(ascii: "\n")])
    }
    try file.sync()
    let restoredFiles = Set(try files(in: restored).map(\.digest))
    for stored in try StoredFile.all(in: connection) where !restoredFiles.contains(stored.digest) {
      let source = "\(folder.path)/\(stored.path)"
      guard Disk.exists(source) else { continue }
      try Disk.makeFolders(to: "\(target)/\(stored.path)", below: target)
      try Disk.name(source, also: "\(target)/\(stored.path)")
    }
  }

  private static func files(in database: String) throws -> [StoredFile] {
    let connection = try Connection.reader(database)
    defer { connection.close() }
    return try StoredFile.all(in: connection)
  }
}

extension DataFolder {
  /// Puts the database before the last migration back. The current one goes to the folder `replaced-<aside>`, with the messages since the
  /// copy. Sessions stay valid, except those that have ended since.
  public func putBack(
    _ wayBack: WayBack, aside: String, at now: Int64, report: @escaping BackupProgress.Report
  ) throws(BackupFault) -> Restored {
    do {
      let restored = try Restoration(
        source: .previousDatabase(wayBack.path), folder: self, isReplacing: true,
        aside: PendingRestore.freeSuffix(aside, in: path), keepsSessions: true,
        restoresFiles: false, keepsFiles: true, now: now, report: report
      ).run()
      // The copy is the database now, also after a later error.
      for folder in [restored.replaced, path].compactMap(\.self) {
        for copy in [Migrator.snapshotPath, Migrator.unfinishedSnapshotPath] {
          try? PreviousDatabase.remove(copy("\(folder)/\(BackupName.database)"))
        }
      }
      return restored
    } catch let fault as BackupFault {
      throw fault
    } catch let damage as BackupDamage {
      throw .refused(file: wayBack.path, damage)
    } catch {
      throw .impossible("The way back failed, and the database is unchanged: \(error).")
    }
  }
}
