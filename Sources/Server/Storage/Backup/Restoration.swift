// Restores a backup into a data folder: read it all and believe nothing, unpack it beside what is there, look at the
// database, make it a history of its own, and only then put it in its place (PendingRestore).

import ParleySQLite

struct Restoration {
  let path: String
  /// The data folder, taken.
  let folder: DataFolder
  let isReplacing: Bool
  /// What the folder is called, behind `replaced-`, that what is there now goes to.
  let aside: String
  let report: BackupProgress.Report

  /// So far the counter of ids moves: what was made after the backup and is gone had smaller numbers, and none of them is
  /// given again.
  static let idsLeftOut = 1_000_000_000

  private var unpacked: String { "\(folder.path)/\(PendingRestore.unpacking)" }
  private var ready: String { "\(folder.path)/\(PendingRestore.ready)" }
  private var replaced: String { PendingRestore.replacedPrefix + aside }

  /// What was restored, and the name of the folder that holds what was there before.
  func run() throws -> (BackupReport, replaced: String?) {
    let isEmpty = try checkEmpty()
    // The first time nothing is written, so that a bad file costs nothing.
    _ = try BackupReader.read(path, .verifying, report)
    do {
      try Disk.makeFolder(unpacked)
      try Disk.makeFolder("\(unpacked)/\(BackupName.files)")
      try Disk.makeFolder("\(unpacked)/\(replaced)")
      let contents = try BackupReader.read(path, unpackingTo: unpacked, .unpacking, report)
      let outcome = try prepare(contents)
      for made in [unpacked, folder.lockPath] { try Disk.give(made, toOwnerOf: folder.path) }
      try Disk.syncFolders(unpacked)
      try Disk.move(unpacked, to: ready)
      try Disk.sync(folder.path)
      try settle()
      return (outcome, isEmpty ? nil : replaced)
    } catch {
      // What can't be removed now goes with the next start.
      try? Disk.removeTree(unpacked)
      throw error
    }
  }

  private func settle() throws {
    do throws(DiskError) {
      _ = try PendingRestore.settle(folder.path)
    } catch {
      throw BackupFault.impossible(
        "The backup is unpacked and checked, but can't be put in its place: \(error). The next start tries again.")
    }
  }

  private func checkEmpty() throws -> Bool {
    let isEmpty = !Disk.exists(folder.database) && !Disk.exists(folder.files)
    guard isEmpty || isReplacing else {
      throw BackupFault.impossible(
        "\(folder.path) holds a place already. --replace puts the backup there, and moves what it holds aside.")
    }
    guard !Disk.exists("\(folder.path)/\(replaced)") else {
      throw BackupFault.impossible("\(folder.path)/\(replaced) is there already.")
    }
    return isEmpty
  }

  // MARK: The unpacked database

  private func prepare(_ contents: BackupReader.Contents) throws -> BackupReport {
    let database = "\(unpacked)/\(BackupName.database)"
    do {
      try check(database, contents)
      let missing = try missingFiles(database, contents)
      try beginHistory(database)
      return BackupReport(
        size: contents.size, messages: contents.manifest.counts["message"] ?? 0, files: contents.files,
        missing: missing.count, firstMissing: Array(missing.prefix(BackupReport.mostNamed)))
    } catch let error as SQLiteError where error.code != .io && error.code != .full {
      throw BackupDamage.badDatabase(error.message)
    }
  }

  private func check(_ path: String, _ contents: BackupReader.Contents) throws {
    let connection = try Connection.reader(path)
    defer { connection.close() }
    let application = try connection.first("pragma application_id") { row in try row.int(0) }
    guard application == Self.application else { throw BackupDamage.badDatabase("it is of another program") }
    do throws(MigrationError) {
      let level = try Migrator.level(of: connection, known: MigrationHashes.all)
      guard level == contents.manifest.schema else { throw .foreignDatabase(path: BackupName.database) }
    } catch {
      throw BackupDamage.badDatabase(error.description)
    }
    // They would act in our name.
    guard try !AuditGuards.hasOthers(connection) else {
      throw BackupDamage.badDatabase("it has triggers or views that are not ours")
    }
    let faults = try Verification.faults(inCopy: connection) { check in try report(BackupProgress(checking: check)) }
    guard faults.isEmpty else { throw BackupDamage.badDatabase(faults.prefix(5).joined(separator: "; ")) }
    guard try connection.counts() == contents.manifest.counts else {
      throw BackupDamage.badDatabase("it has not the rows that \(BackupName.manifest) tells of")
    }
    guard try Epoch.read(connection) == contents.manifest.epoch else {
      throw BackupDamage.badDatabase("it has not the epoch that \(BackupName.manifest) tells of")
    }
  }

  static let application = 0x5061_726c

  /// Files that the database names and the backup has not, as they were missing when it was made; none may be there that
  /// it does not name.
  private func missingFiles(_ path: String, _ contents: BackupReader.Contents) throws -> [String] {
    let connection = try Connection.reader(path)
    defer { connection.close() }
    let named = try StoredFile.all(in: connection)
    let missing = named.filter { Disk.size("\(unpacked)/\($0.path)") != $0.size }
    guard named.count - missing.count == contents.files else {
      throw BackupDamage.badDatabase("it does not name the files that came with it")
    }
    return missing.map(\.path)
  }

  /// Clients that know the history before begin anew, and no id is given a second time. The events' own counter stays.
  private func beginHistory(_ path: String) throws {
    let connection = try Connection.writer(path)
    defer { connection.close() }
    try connection.transaction {
      try Epoch.change(connection)
      try connection.execute("update counter set value = value + $1 where name = 'id'", Self.idsLeftOut)
    }
    try connection.checkpoint(.truncate)
  }
}
