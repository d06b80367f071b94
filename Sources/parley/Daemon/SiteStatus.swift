import ParleyJSON
import ParleyModel

/// The state of a running site, as `parley status` shows it.
struct SiteStatus: Equatable {
  var name = ""
  var origin = ""
  var version = ""
  /// Milliseconds since 1970, as all times here.
  var startedAt: Int64 = 0
  var users = 0
  var activeUsers = 0
  var pendingUsers = 0
  var messages = 0
  var openReports = 0
  var connections = 0
  var webSockets = 0
  /// In bytes.
  var databaseSize = 0
  var fileSize = 0
  var freeSpace: Int?
  var totalSpace: Int?
  var lastBackupAt: Int64?
  /// The last test of a scheduled backup.
  var lastRestoreTest: Statistics.RestoreTest?
  /// The last success of the backup hook; nil without a hook or a success.
  var lastOffSiteAt: Int64?
  var certificateEnd: Int64?
  /// Nil without a mail server.
  var waitingMails: Int?
  /// Nil if the server sends no push messages.
  var waitingPushes: Int?
  /// Paths of damaged uploaded files, for the problems alone.
  var damagedFiles: [String] = []
  var problems: [Finding] = []

  /// Use of the disk in percent; nil if the system does not report it.
  var usedPercent: Int? {
    guard let freeSpace, let totalSpace, totalSpace > 0 else { return nil }
    return (totalSpace - freeSpace) * 100 / totalSpace
  }
}

extension SiteStatus: JSONWritable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("name", name)
      json.field("origin", origin)
      json.field("version", version)
      json.field("started_at", Timestamp(startedAt))
      json.field("users", users)
      json.field("active_users", activeUsers)
      json.field("pending_users", pendingUsers)
      json.field("messages", messages)
      json.field("open_reports", openReports)
      json.field("connections", connections)
      json.field("websockets", webSockets)
      json.field("database_bytes", databaseSize)
      json.field("files_bytes", fileSize)
      json.field("free_bytes", freeSpace)
      json.field("disk_bytes", totalSpace)
      json.field("last_backup_at", lastBackupAt.map { Timestamp($0) })
      json.field("last_restore_test", lastRestoreTest)
      json.field("last_off_site_at", lastOffSiteAt.map { Timestamp($0) })
      json.field("certificate_ends_at", certificateEnd.map { Timestamp($0) })
      json.field("waiting_mails", waitingMails)
      json.field("waiting_pushes", waitingPushes)
      json.array("problems") { json in
        for problem in problems { json.value(problem) }
      }
    }
  }

  init(_ object: inout JSONObject) throws(JSONError) {
    let times: (Timestamp, Timestamp?, Timestamp?, Timestamp?) = (
      try object.read("started_at"), try object.optional("last_backup_at"), try object.optional("last_off_site_at"),
      try object.optional("certificate_ends_at")
    )
    name = try object.string("name")
    origin = try object.string("origin")
    version = try object.string("version")
    startedAt = Int64(times.0.milliseconds)
    users = try object.int("users")
    activeUsers = try object.int("active_users")
    pendingUsers = try object.int("pending_users")
    messages = try object.int("messages")
    openReports = try object.int("open_reports")
    connections = try object.int("connections")
    webSockets = try object.int("websockets")
    databaseSize = try object.int("database_bytes")
    fileSize = try object.int("files_bytes")
    freeSpace = try object.optional("free_bytes")
    totalSpace = try object.optional("disk_bytes")
    lastBackupAt = times.1.map { Int64($0.milliseconds) }
    lastRestoreTest = try object.optional("last_restore_test")
    lastOffSiteAt = times.2.map { Int64($0.milliseconds) }
    certificateEnd = times.3.map { Int64($0.milliseconds) }
    waitingMails = try object.optional("waiting_mails")
    waitingPushes = try object.optional("waiting_pushes")
    problems = try object.read("problems")
  }
}
