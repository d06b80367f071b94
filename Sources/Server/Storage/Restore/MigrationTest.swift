// Migrates a copy of the database and verifies it, before a new version gets the original. A server may run meanwhile.

import Glibc
import ParleySQLite

public struct MigrationTest: Sendable {
  /// The result of a test.
  public struct Report: Sendable {
    /// Files of the applied migrations.
    public let applied: [String]
    public let messages: Int
  }

  /// The data folder.
  let data: String
  /// The folder of the migrations.
  let migrations: String
  /// In milliseconds since 1970.
  let now: Int64
  let report: BackupProgress.Report

  /// Copies of the database at a time: the migrated one, the one before its migration, and their write-ahead logs.
  private static let copies = 3
  /// Bytes beside the copies.
  private static let margin = 16 << 20

  public init(
    data: String, migrations: String, at now: Int64, report: @escaping BackupProgress.Report
  ) {
    (self.data, self.migrations, self.now, self.report) = (data, migrations, now, report)
  }

  private var folder: String { "\(data)/\(PendingRestore.migrating)" }
  /// A command that was killed may have left a test that still runs. The next start of the server removes leftovers.
  private var scratch: String { "\(folder)/\(getpid())" }

  public func run() throws(BackupFault) -> Report {
    let database = DataFolder.database(in: data)
    guard Disk.exists(database) else { throw .impossible("There is no database in \(data).") }
    if let size = Disk.size(database), let space = Disk.space(data) {
      let needed = Self.copies * (size + (Disk.size("\(database)-wal") ?? 0)) + Self.margin
      guard space.free >= needed else {
        throw .impossible(
          "The test of the migrations needs \(Self.megabytes(needed)) MB of \(data), and "
            + "\(Self.megabytes(space.free)) MB are free. Make room and repeat the command.")
      }
    }
    defer {
      try? Disk.removeTree(scratch)
      _ = Disk.removeEmpty(folder)
    }
    do {
      try Disk.makeFolder(folder)
      try Disk.removeTree(scratch)
      try Disk.makeFolder(scratch)
      let copy = DataFolder.database(in: scratch)
      let source = try Connection.reader(database)
      defer { source.close() }
      try source.backUp(to: copy) { copied in
        try report(BackupProgress(.copying, done: copied.copied, of: copied.pages))
      }
      let applied = try migrate(copy)
      return Report(applied: applied, messages: try verify())
    } catch let fault as BackupFault {
      throw fault
    } catch let error as MigrationError {
      throw .impossible(error.description)
    } catch {
      throw .impossible("The test of the migrations failed: \(error).")
    }
  }

  private static func megabytes(_ bytes: Int) -> Int { bytes / 1_000_000 + 1 }

  private func migrate(_ path: String) throws -> [String] {
    let connection = try Connection.writer(path)
    defer { connection.close() }
    let applied = try Migrator(folder: migrations, known: MigrationHashes.all).migrate(connection, at: Int(now))
    try SearchIndex.rebuildIfOutdated(connection) { _ in }
    return applied.map(\.file)
  }

  private func verify() throws -> Int {
    let findings = try Verification(scratch).run(Check.ofSnapshot, all: false, includesFiles: false) { step in
      try report(BackupProgress(checking: step))
    }
    if let faults = findings.map(\.faults).first(where: { !$0.isEmpty }) { throw BackupFault.damaged(faults) }
    let connection = try Connection.reader(DataFolder.database(in: scratch))
    defer { connection.close() }
    return try connection.first("select count(*) from message where kind = 'message'") { row in try row.int(0) } ?? 0
  }
}
