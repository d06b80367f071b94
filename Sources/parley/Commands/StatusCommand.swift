// `parley status`: the state of the running site on one screen.

import ParleyJSON
import ParleyModel
import ParleyNetworking
import Storage

extension Command {
  static let status = Command(
    "status", summary: "show the state of the running site", settings: [.json, .data, .config], help: Help.status,
    run: StatusCommand.run)
}

enum StatusCommand {
  static let path = "/status"

  static func run(_ arguments: [String]) async -> Int32 {
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "status", [.json, .data, .config])
      let data = settings.dataFolder
      guard FileSystem.exists(data) else {
        throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
      }
      guard try isRunning(data) else {
        return Outcome(.error, "No server runs in \(data). Start it with parley serve, or see the log of its service.")
          .report()
      }
      var object = try await ControlClient(data: data).response(.get, path)
      let status = try SiteStatus(&object)
      if settings.isOn(.json) {
        var json = JSONWriter()
        json.value(status)
        Terminal.print(String(decoding: json.bytes, as: UTF8.self) + "\n")
      } else {
        Terminal.print(screen(status, now: Clock.wall() / 1_000_000, Terminal.style))
      }
      return status.problems.exitStatus.rawValue
    } catch {
      return Outcome(error).report()
    }
  }

  /// Whether another process has locked the folder.
  static func isRunning(_ data: String) throws(Settings.UsageError) -> Bool {
    do throws(DataFolder.Fault) {
      _ = try DataFolder(data)
      return false
    } catch {
      guard case .inUse = error else { throw Settings.UsageError(message: error.description) }
      return true
    }
  }

  static func screen(_ status: SiteStatus, now: Int64, _ style: TextStyle) -> String {
    let age = { (time: Int64) in "\(Amount.duration(now - time)) ago" }
    var rows: [(String, String)] = [
      ("Server", "Parley \(status.version), started \(age(status.startedAt))"),
      (
        "Users",
        "\(Amount.grouped(status.users)), \(Amount.grouped(status.activeUsers)) active this week"
          + (status.pendingUsers > 0 ? ", \(Amount.grouped(status.pendingUsers)) wait for approval" : "")
      ),
      ("Messages", Amount.grouped(status.messages)),
      ("Reports", status.openReports == 0 ? "none open" : "\(Amount.grouped(status.openReports)) open"),
      (
        "Connections", "\(Amount.grouped(status.connections)), \(Amount.grouped(status.webSockets)) of them WebSockets"
      ),
      ("Data", "database \(Amount.bytes(status.databaseSize)), files \(Amount.bytes(status.fileSize))"),
    ]
    if let free = status.freeSpace, let used = status.usedPercent {
      rows.append(("Disk", "\(used) % full, \(Amount.bytes(free)) free"))
    }
    let offSite = status.lastOffSiteAt.map { ", off-site \(age($0))" } ?? ""
    let test = status.lastRestoreTest.map { ", \($0.label) \(age($0.at))" } ?? ""
    rows.append(("Backup", (status.lastBackupAt.map(age) ?? "none") + test + offSite))
    if let end = status.certificateEnd { rows.append(("Certificate", "until \(Terminal.localTime(end).prefix(10))")) }
    if let mails = status.waitingMails { rows.append(("Mail", waiting(mails))) }
    if let pushes = status.waitingPushes { rows.append(("Push", waiting(pushes))) }
    let width = rows.map(\.0.count).max() ?? 0
    var text = "\(style.bold(Terminal.plain(status.name)))  \(Terminal.plain(status.origin))\n\n"
    for (name, value) in rows {
      text += "  \(name)\(String(repeating: " ", count: width - name.count + 2))\(Terminal.plain(value))\n"
    }
    text += "\n"
    if status.problems.isEmpty { return text + "No problems.\n" }
    for problem in status.problems {
      text += "\(style.bold(problem.level == .error ? "Error" : "Warning")): \(Terminal.plain(problem.sentence))\n"
    }
    return text
  }

  private static func waiting(_ count: Int) -> String {
    count == 0 ? "nothing waits" : "\(Amount.grouped(count)) waiting"
  }
}

extension Statistics.RestoreTest {
  fileprivate var label: String {
    switch result {
    case .passed: "tested"
    case .compared: "compared"
    case .failed: "failed its restore test"
    }
  }
}
