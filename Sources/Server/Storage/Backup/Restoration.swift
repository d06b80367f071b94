// Restores a backup into a data folder: verifies all of it, unpacks it beside the existing contents, checks the
// database, starts a new history and then switches (PendingRestore).

import ParleySQLite

struct Restoration {
  let path: String
  /// The locked data folder.
  let folder: DataFolder
  let isReplacing: Bool
  /// Suffix, after `replaced-`, of the folder for the existing contents.
  let aside: String
  let report: BackupProgress.Report

  /// Advance of the id counter: objects created after the backup had lower ids, and none of these is issued again.
  static let idGap = 1_000_000_000

  private var unpacked: String { "\(folder.path)/\(PendingRestore.unpacking)" }
  private var ready: String { "\(folder.path)/\(PendingRestore.ready)" }
  private var replaced: String { PendingRestore.replacedPrefix + aside }

  /// Returns the result and the name of the folder with the previous contents.
  func run() throws -> (BackupReport, replaced: String?) {
    let isEmpty = try checkEmpty()
    // The first pass writes nothing, so that a damaged file is rejected early.
    _ = try BackupReader.read(path, .verifying, report)
    do {
      try Disk.makeFolder(unpacked)
      try Disk.makeFolder("\(unpacked)/\(BackupName.files)")
      try Disk.makeFolder("\(unpacked)/\(replaced)")
      let contents = try BackupReader.read(path, unpackingTo: unpacked, .unpacking, report)
      let outcome = try prepare(contents)
      for made in [unpacked, folder.lockPath] { try Disk.give(made, toOwnerOf: folder.path) }
      try Disk.syncFileSystem(of: unpacked)
      try Disk.move(unpacked, to: ready)
      try Disk.sync(folder.path)
      try settle()
      return (outcome, isEmpty ? nil : replaced)
    } catch {
      // The next start removes any leftovers.
      try? Disk.removeTree(unpacked)
      throw error
    }
  }

  private func settle() throws {
    do throws(DiskError) {
      _ = try PendingRestore.settle(folder.path)
    } catch {
      throw BackupFault.impossible(
        "The backup is unpacked and verified, but the switch to it failed: \(error). The next start retries it.")
    }
  }

  private func checkEmpty() throws -> Bool {
    let isEmpty = !Disk.exists(folder.database) && !Disk.exists(folder.files)
    guard isEmpty || isReplacing else {
      throw BackupFault.impossible(
        "\(folder.path) already contains a site. --replace moves its contents aside and restores the backup.")
    }
    guard !Disk.exists("\(folder.path)/\(replaced)") else {
      throw BackupFault.impossible("\(folder.path)/\(replaced) already exists.")
    }
    return isEmpty
  }

  // MARK: The unpacked database

  private func prepare(_ contents: BackupReader.Contents) throws -> BackupReport {
    let database = "\(unpacked)/\(BackupName.database)"
    do {
      try check(database, contents)
      let missing = try missingFiles(database, contents)
      try startHistory(database)
      return BackupReport(
        size: contents.size, messages: contents.manifest.counts["message"] ?? 0, files: contents.files,
        missing: missing.count, firstMissing: Array(missing.prefix(BackupReport.maxListed)))
    } catch let error as SQLiteError where error.code != .io && error.code != .full {
      throw BackupDamage.badDatabase(error.message)
    }
  }

  private func check(_ path: String, _ contents: BackupReader.Contents) throws {
    let connection = try Connection.reader(path)
    defer { connection.close() }
    let applicationID = try connection.first("pragma application_id") { row in try row.int(0) }
    guard applicationID == Self.applicationID else { throw BackupDamage.badDatabase("it belongs to another program") }
    do throws(MigrationError) {
      let level = try Migrator.level(of: connection, known: MigrationHashes.all)
      guard level == contents.manifest.schema else { throw .foreignDatabase(path: BackupName.database) }
    } catch {
      throw BackupDamage.badDatabase(error.description)
    }
    // They would execute code.
    guard try !AuditTriggers.hasOthers(connection) else {
      throw BackupDamage.badDatabase("it has unknown triggers or views")
    }
    let faults = try Verification.faults(inCopy: connection) { check in try report(BackupProgress(checking: check)) }
    guard faults.isEmpty else { throw BackupDamage.badDatabase(faults.prefix(5).joined(separator: "; ")) }
    guard try connection.counts() == contents.manifest.counts else {
      throw BackupDamage.badDatabase("its row counts differ from \(BackupName.manifest)")
    }
    guard try Epoch.read(connection) == contents.manifest.epoch else {
      throw BackupDamage.badDatabase("its epoch differs from \(BackupName.manifest)")
    }
  }

  static let applicationID = 0x5061_726c

  /// Files that the database names but the backup lacks, because they were missing when it was made. A file that the
  /// database does not name is an error.
  private func missingFiles(_ path: String, _ contents: BackupReader.Contents) throws -> [String] {
    let connection = try Connection.reader(path)
    defer { connection.close() }
    let named = try StoredFile.all(in: connection)
    let missing = named.filter { Disk.size("\(unpacked)/\($0.path)") != $0.size }
    guard named.count - missing.count == contents.files else {
      throw BackupDamage.badDatabase("it does not name the files in the archive")
    }
    return missing.map(\.path)
  }

  /// Changes the epoch, so that clients resynchronize, and advances the id counter. The counter of events stays.
  private func startHistory(_ path: String) throws {
    let connection = try Connection.writer(path)
    defer { connection.close() }
    try connection.transaction {
      try Epoch.change(connection)
      try connection.execute("update counter set value = value + $1 where name = 'id'", Self.idGap)
    }
    try connection.checkpoint(.truncate)
  }
}
