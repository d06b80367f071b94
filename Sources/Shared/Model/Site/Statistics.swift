public import ParleyJSON

/// What those want to know who look after the place: a handful of facts, each the beginning of a sentence.
public struct Statistics: Sendable, Hashable {
  /// Reports that wait.
  public var openReports = 0
  public var users = 0
  /// Who asks to come in.
  public var pendingUsers = 0
  /// Who was here in the last seven days.
  public var activeUsers = 0
  /// All that were ever said, tombstones among them.
  public var messages = 0
  // In bytes.
  public var databaseSize = 0
  public var fileSize = 0
  /// Of the disk that the data folder is on; nil where the system does not say.
  public var freeSpace: Int?
  public var totalSpace: Int?
  public var lastBackup: Backup?

  /// The last backup that was made while the server ran, and was read again.
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
