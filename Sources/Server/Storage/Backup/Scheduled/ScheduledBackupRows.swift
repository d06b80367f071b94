// Rows of scheduled backups in the table of backups, for the lists of owners: named by their time, and of no user. The folder of backups
// is the truth; the rows follow it after each backup and each rotation.

import ParleyModel
import ParleySQLite

/// A scheduled backup without a row.
private struct ScheduledBackupRow: Sendable {
  let backup: FolderBackup
  let size: Int
  let missing: Int
}

extension ReadTransaction {
  fileprivate func scheduledBackupNames() throws(Refusal) -> Set<String> {
    try run { connection in
      Set(try connection.all("select name from backup where created_by = 0") { row in try row.text(0) })
    }
  }
}

extension WriteTransaction {
  fileprivate func keepScheduledBackups(_ names: [String], adding rows: [ScheduledBackupRow]) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "delete from backup where created_by = 0 and name not in (select value from json_each($1))", names.jsonText)
    }
    for row in rows {
      let id = nextID()
      try run { connection in
        try connection.execute(
          """
          insert into backup (id, name, created_by, created_at, finished_at, size, missing)
          values ($1, $2, 0, $3, $4, $5, $6)
          on conflict (name) do nothing
          """, id, row.backup.name, Int(row.backup.time), Int(row.backup.time), row.size, row.missing)
      }
    }
  }
}

extension Store {
  /// Makes the rows those of the backups in a folder. `missing` is the number of files that the newest one lacks.
  func listScheduledBackups(in folder: BackupFolder, missing: Int = 0) async {
    do {
      let backups = try await folderQueue.run { () throws(DiskError) in try folder.backups() }
      let known = try await readInBackground { tx throws(Refusal) in try tx.scheduledBackupNames() }
      let names = backups.map(\.name)
      guard known != Set(names) else { return }
      let newest = names.last
      let rows = try await folderQueue.run { () throws in
        try backups.filter { !known.contains($0.name) }.map { backup in
          ScheduledBackupRow(
            backup: backup, size: try ScheduledBackupArchive(backup).size, missing: backup.name == newest ? missing : 0)
        }
      }
      try await write { tx throws(Refusal) in try tx.keepScheduledBackups(names, adding: rows) }
    } catch {
      log("The list of scheduled backups can't be updated and is tried again after the next one: \(error)")
    }
  }
}
