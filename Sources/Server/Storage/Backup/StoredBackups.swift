// Backups created through the API: written to the data folder's `backups`, with one row each for the result. Scheduled ones have rows,
// too (ScheduledBackupRows.swift).

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension DataFolder {
  var backups: String { path + "/backups" }

  /// The names of all copies of the site in the folder.
  var copies: [String] { Self.copies(in: path).map { String($0.dropFirst(path.utf8.count + 1)) } }

  /// The paths of all copies of the site in a data folder: backups, the uploaded files of scheduled backups, and the contents that a
  /// restore replaced.
  public static func copies(in path: String) -> [String] {
    let folder = path + "/backups"
    let backups = ((try? Disk.names(in: folder)) ?? []).map { "\(folder)/\($0)" }
    let replaced = ((try? Disk.names(in: path)) ?? []).filter { $0.hasPrefix(PendingRestore.replacedPrefix) }
    return (backups + replaced.map { "\(path)/\($0)" }).sorted()
  }
}

extension WriteTransaction {
  public func addBackup(by actor: ID<User>) throws(Refusal) -> StoredBackup {
    let id = nextID()
    let time = Timestamp.format(Int(now)).prefix(19).replacing(":", with: "-")
    let name = "parley-\(time)-\(id).tar"
    try run { connection in
      try connection.execute(
        """
        insert into backup (id, name, created_by, created_at)
        values ($1, $2, $3, $4)
        """, id, name, actor.number, Int(now))
    }
    return StoredBackup(
      id: ID(id), name: name, createdBy: actor, createdAt: now, finishedAt: nil, state: .running, size: nil,
      missingCount: 0)
  }

  public func removeBackup(_ id: ID<StoredBackup>) throws(Refusal) {
    try run { connection in try connection.execute("delete from backup where id = $1", id.number) }
  }

  fileprivate func finish(_ backup: ID<StoredBackup>, _ report: BackupReport?) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update backup
        set finished_at = $1, size = $2, missing = $3
        where id = $4
        """, Int(now), report?.size, report?.missing ?? 0, backup.number)
    }
  }
}

extension ReadTransaction {
  /// Backups, newest first.
  public func backups(
    _ slice: ListSlice, in folder: DataFolder
  ) throws(Refusal) -> [StoredBackup] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      let scheduled = try connection.backupFolders().first
      return try connection.all(
        SQL(
          """
          select id, name, created_by, created_at, finished_at, size, missing
          from backup
          where id \(page.comparison) $1
          order by id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try StoredBackup(row, in: folder, scheduled: scheduled) }
    }
  }

  public func backup(_ id: ID<StoredBackup>, in folder: DataFolder) throws(Refusal) -> StoredBackup? {
    try run { connection in
      let scheduled = try connection.backupFolders().first
      return try connection.first(
        """
        select id, name, created_by, created_at, finished_at, size, missing
        from backup
        where id = $1
        """, id.number
      ) { row in try StoredBackup(row, in: folder, scheduled: scheduled) }
    }
  }

  /// The number of backups created through the API that have a file or will have one.
  public func backupFileCount(in folder: DataFolder) throws(Refusal) -> Int {
    try backups(ListSlice(limit: Int.max), in: folder).count {
      !$0.isScheduled && ($0.state == .done || $0.state == .running)
    }
  }

  /// The path of the file of a backup, or of the folder of a scheduled one, existing or not.
  public func path(of backup: StoredBackup, in folder: DataFolder) throws(Refusal) -> String {
    let parent = try run { connection in backup.isScheduled ? try connection.backupFolders().first : nil }
    return "\(parent ?? folder.backups)/\(backup.name)"
  }
}

extension StoredBackup {
  /// - Parameter scheduled: the folder of scheduled backups.
  fileprivate init(_ row: borrowing Row, in folder: DataFolder, scheduled: String?) throws {
    let (name, size) = (try row.text(1), try row.optionalInt(5))
    let user = try row.int(2)
    let finishedAt = try row.optionalInt(4).map { Int64($0) }
    let state: State =
      if finishedAt == nil {
        .running
      } else if size == nil {
        .failed
      } else {
        Disk.size(user == 0 ? "\(scheduled ?? folder.backups)/\(name)/\(BackupName.sums)" : "\(folder.backups)/\(name)")
          == nil
          ? .gone : .done
      }
    self.init(
      id: ID(try row.int(0)), name: name, createdBy: user == 0 ? nil : ID(user), createdAt: Int64(try row.int(3)),
      finishedAt: finishedAt, state: state, size: size, missingCount: try row.int(6))
  }
}

extension Store {
  /// Deletes the file of a backup, or a scheduled backup with the files that no other one has, on a thread of its own. A missing one is
  /// no error.
  public func deleteFile(of backup: StoredBackup) async throws(Refusal) {
    let data = folder
    let path = try await readInBackground { tx throws(Refusal) in try tx.path(of: backup, in: data) }
    do {
      try await folderQueue.run { () throws -> Void in
        guard backup.isScheduled else { return try Disk.remove(path) }
        let folder = BackupFolder(Disk.folder(of: path))
        guard let found = FolderBackup(backup.name, in: folder), Disk.exists(path),
          folder.foreignOwner(data: data.path) == nil
        else { return }
        try folder.remove(found)
        _ = try folder.removeUnnamedFiles()
      }
    } catch {
      log("The backup \(backup.name) can't be deleted: \(error)")
      throw .unavailable
    }
  }

  /// A scheduled backup as an archive, read from its folder at `path`; nil if it is gone.
  public func archive(of backup: StoredBackup, at path: String) async -> ScheduledBackupArchive? {
    try? await folderQueue.run { () throws -> ScheduledBackupArchive? in
      guard let found = FolderBackup(backup.name, in: BackupFolder(Disk.folder(of: path))) else { return nil }
      return try ScheduledBackupArchive(found)
    }
  }

  /// Creates the file of a backup and stores the result in its row. The task ends after that.
  public func make(_ backup: StoredBackup, program: String) -> Task<Void, Never> {
    Task {
      var report: BackupReport?
      do {
        try Disk.makeFolder(folder.backups)
        report = try await backUp(to: "\(folder.backups)/\(backup.name)", program: program) { _ in }
      } catch {
        log(LogEvent.backup.line(["result": "failed"], "The backup \(backup.name) failed: \(error)"))
      }
      if let report {
        log(
          LogEvent.backup.line(
            ["result": report.missing > 0 ? "incomplete" : "ok"],
            "Backup \(backup.name): \(report.messages) messages, \(report.files) files, verified."))
      }
      let outcome = report
      // If the store is closed meanwhile, the next start flags the backup as failed.
      try? await write { tx throws(Refusal) in try tx.finish(backup.id, outcome) }
    }
  }
}

extension Connection {
  /// Flags backups that were running when the server stopped as failed.
  func failUnfinishedBackups(at now: Int64) throws(SQLiteError) {
    try execute(
      """
      update backup
      set finished_at = $1
      where finished_at is null
      """, Int(now))
  }
}
