public import ParleyJSON

/// Statistics of the site for staff.
public struct Statistics: Sendable, Hashable {
  /// Open reports.
  public var openReports = 0
  public var users = 0
  /// Registrations that await approval.
  public var pendingUsers = 0
  /// Users active in the last seven days.
  public var activeUsers = 0
  /// All messages, including tombstones.
  public var messages = 0
  // In bytes.
  public var databaseSize = 0
  public var fileSize = 0
  /// The folder with the backups that the API created.
  public var backupSize = 0
  /// Folders with the data that a restore replaced.
  public var replacedSize = 0
  /// The whole data folder, as du counts it.
  public var folderSize = 0
  /// Free bytes on the data folder's disk; nil if the system does not report it.
  public var freeSpace: Int?
  public var totalSpace: Int?
  public var lastBackup: Backup?

  /// Last successful backup of the running server, verified by reading it again.
  public struct Backup: Sendable, Hashable {
    public var at: Int64
    public var size: Int

    public init(at: Int64, size: Int) {
      self.at = at
      self.size = size
    }
  }

  public init() {}
}

extension Statistics {
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
    guard let lastBackup else { return json.null("last_backup") }
    json.object("last_backup") { json in
      json.field("at", Timestamp(lastBackup.at))
      json.field("size", lastBackup.size)
      json.field("verified", true)
    }
  }
}
