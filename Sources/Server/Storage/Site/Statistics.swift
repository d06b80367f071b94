// Site statistics. They are counted, so they are read in the background.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Users without activity for longer are not active, in milliseconds.
  private static let week: Int64 = 7 * 86_400_000

  public func statistics(of folder: DataFolder) throws(Refusal) -> Statistics {
    var statistics = Statistics()
    func count(_ sql: SQL) throws -> Int { try connection.first(sql) { row in try row.int(0) } ?? 0 }
    try run { connection in
      statistics.openReports = try count("select count(*) from report where state = 'open'")
      statistics.users = try count("select count(*) from account where state in ('active', 'deactivated')")
      statistics.pendingUsers = try count("select count(*) from account where state = 'pending'")
      statistics.activeUsers =
        try connection.first(
          """
          select count(*)
          from account
          where state = 'active' and last_seen_at > $1
          """, Int(now - Self.week)
        ) { row in try row.int(0) } ?? 0
      statistics.messages = try count("select coalesce(sum(last_seq), 0) from conversation")
      // Equal content is stored once.
      statistics.fileSize = try count(
        "select coalesce(sum(size), 0) from (select max(size) as size from file group by digest)")
    }
    statistics.lastBackup = try lastBackup()
    statistics.lastRestoreTest = try lastRestoreTest()
    statistics.lastOffSite = try lastOffSite()
    statistics.databaseSize = Disk.size(folder.database) ?? 0
    (statistics.freeSpace, statistics.totalSpace) = Disk.space(folder.path).map { ($0.free, $0.total) } ?? (nil, nil)
    return statistics
  }

  /// The last successful backup.
  func lastBackup() throws(Refusal) -> Statistics.Backup? {
    try run { connection in try connection.setting("last_backup").flatMap { Statistics.Backup(stored: $0) } }
  }

  /// The last test of a scheduled backup.
  func lastRestoreTest() throws(Refusal) -> Statistics.RestoreTest? {
    try run { connection in try connection.setting("restore_test").flatMap { Statistics.RestoreTest(stored: $0) } }
  }

  /// The last success of the program that copies backups to another machine, in milliseconds since 1970.
  func lastOffSite() throws(Refusal) -> Int64? {
    try run { connection in try connection.setting("off_site").flatMap { Int64($0) } }
  }
}

extension Store {
  func lastRestoreTest() async throws(Refusal) -> Statistics.RestoreTest? {
    try await readInBackground { tx throws(Refusal) in try tx.lastRestoreTest() }
  }

  func noteRestoreTest(_ test: Statistics.RestoreTest) async throws(Refusal) {
    try await write { tx throws(Refusal) in
      try tx.run { connection in try connection.keepSetting("restore_test", test.stored) }
    }
  }

  /// Notes the last success of the program that copies backups to another machine; nil without a program.
  public func noteOffSite(_ time: Int64?) async throws(Refusal) {
    let noted = try await readInBackground { tx throws(Refusal) in try tx.lastOffSite() }
    guard noted != time else { return }
    try await write { tx throws(Refusal) in
      try tx.run { connection in try connection.keepSetting("off_site", time.map { "\($0)" } ?? "") }
    }
  }

  /// The name of the site and its statistics, without the sizes of folders.
  public func siteCounts() async throws(Refusal) -> (name: String, statistics: Statistics) {
    try await readInBackground { [folder] tx throws(Refusal) in
      (name: try tx.settings().name, statistics: try tx.statistics(of: folder))
    }
  }

  public func siteName() async throws(Refusal) -> String {
    try await readInBackground { tx throws(Refusal) in try tx.settings().name }
  }

  /// Adds the disk space of the data folder and of its backups. It visits every file, on a thread of its own.
  public func measureFolder(_ statistics: Statistics) async throws(Refusal) -> Statistics {
    try await folderQueue.run { [folder] () throws(Refusal) in try statistics.measuring(folder) }
  }
}

extension Statistics {
  fileprivate func measuring(_ folder: DataFolder) throws(Refusal) -> Statistics {
    var statistics = self
    do throws(DiskError) {
      statistics.folderSize = try Disk.usage(folder.path)
      statistics.backupSize = try Disk.usage(folder.backups)
      for name in try Disk.names(in: folder.path) where name.hasPrefix(PendingRestore.replacedPrefix) {
        statistics.replacedSize += try Disk.usage("\(folder.path)/\(name)")
      }
      return statistics
    } catch {
      throw .unavailable
    }
  }
}

extension WriteTransaction {
  /// Stores the time and the size of the last backup.
  func noteBackup(size: Int) throws(Refusal) {
    let backup = Statistics.Backup(at: now, size: size)
    try run { connection in try connection.keepSetting("last_backup", backup.stored) }
  }
}

extension Statistics.RestoreTest {
  fileprivate var stored: String { "\(at) \(backup) \(result.rawValue) \(reason)" }

  fileprivate init?(stored text: String) {
    let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let at = Int64(parts[0]), let backup = Int64(parts[1]),
      let result = Result(rawValue: String(parts[2]))
    else { return nil }
    self.init(at: at, backup: backup, result: result, reason: String(parts[3]))
  }
}

extension Statistics.Backup {
  fileprivate var stored: String { "\(at) \(size)" }

  fileprivate init?(stored text: String) {
    let numbers = text.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 2 else { return nil }
    self.init(at: Int64(numbers[0]), size: numbers[1])
  }
}
