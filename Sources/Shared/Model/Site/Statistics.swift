public import ParleyJSON

/// Statistics of the site for staff.
public struct Statistics: Sendable, Hashable {
  /// Open reports.
  public var openReports = 0
  /// Active users, and those that deactivated themselves.
  public var users = 0
  /// Registrations that await approval.
  public var pendingUsers = 0
  /// Users active in the last seven days.
  public var activeUsers = 0
  /// All messages, including tombstones.
  public var messages = 0
  // In bytes.
  /// Bytes of the database file.
  public var databaseSize = 0
  /// Bytes of uploaded files; equal content counts once.
  public var fileSize = 0
  /// The folder with the backups that the API created.
  public var backupSize = 0
  /// Folders with the data that a restore replaced.
  public var replacedSize = 0
  /// The whole data folder, as du counts it.
  public var folderSize = 0
  /// Free bytes on the data folder's disk; nil if the system does not report it.
  public var freeSpace: Int?
  /// Bytes of the data folder's disk; nil if the system does not report them.
  public var totalSpace: Int?
  /// The last successful backup while the server ran; nil without one.
  public var lastBackup: Backup?
  /// The last test of a scheduled backup; nil without one.
  public var lastRestoreTest: RestoreTest?
  /// The last success of the program that copies backups to another machine; nil without one.
  public var lastOffSite: Int64?

  /// Last successful backup of the running server, verified by reading it again.
  public struct Backup: Sendable, Hashable {
    /// The end of the backup in milliseconds since 1970.
    public var at: Int64
    /// The size in bytes.
    public var size: Int

    /// A backup that was verified.
    public init(at: Int64, size: Int) {
      self.at = at
      self.size = size
    }
  }

  /// The last test of a scheduled backup.
  public struct RestoreTest: Sendable, Hashable {
    /// Results of a test.
    public enum Result: String, Sendable, Hashable, CaseIterable {
      /// The backup was restored to a scratch folder, verified and deleted.
      case passed
      /// All entries were compared with their digests, but the disk had no room to restore them.
      case compared
      /// The last attempt has failed.
      case failed
    }

    /// The time of the test in milliseconds since 1970.
    public var at: Int64
    /// The time of the backup.
    public var backup: Int64
    /// The result of the test.
    public var result: Result
    /// The fault of a failed test, or that the backup lacks files that the data folder lacks; otherwise empty.
    public var reason: String

    /// A test with its result, as the server stores it.
    public init(at: Int64, backup: Int64, result: Result, reason: String) {
      (self.at, self.backup, self.result, self.reason) = (at, backup, result, reason)
    }
  }

  /// Numbers of zero, without a backup and a test.
  public init() {}
}

extension Statistics.RestoreTest: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let (time, backupTime): (Timestamp, Timestamp) = (try object.read("at"), try object.read("backup_at"))
    (at, backup) = (Int64(time.milliseconds), Int64(backupTime.milliseconds))
    result = try object.word("result")
    reason = try object.string("reason")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("at", Timestamp(at))
      json.field("backup_at", Timestamp(backup))
      json.field("result", result.rawValue)
      json.field("reason", reason)
    }
  }
}

extension Statistics {
  /// Encodes the members of the statistics.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("open_reports", openReports)
    json.object("users") { json in
      json.field("all", users)
      json.field("pending", pendingUsers)
      json.field("active_this_week", activeUsers)
    }
    json.field("messages", messages)
    json.object("storage") { json in
      json.field("database_bytes", databaseSize)
      json.field("files_bytes", fileSize)
      json.field("backups_bytes", backupSize)
      json.field("replaced_bytes", replacedSize)
      json.field("folder_bytes", folderSize)
      json.field("free_bytes", freeSpace)
      json.field("total_bytes", totalSpace)
    }
    json.field("last_restore_test", lastRestoreTest)
    json.field("last_off_site_at", lastOffSite.map { Timestamp($0) })
    guard let lastBackup else { return json.null("last_backup") }
    json.object("last_backup") { json in
      json.field("at", Timestamp(lastBackup.at))
      json.field("size", lastBackup.size)
      json.field("verified", true)
    }
  }
}
