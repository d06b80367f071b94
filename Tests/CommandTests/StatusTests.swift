import ParleyJSON
import Testing

@testable import ParleyProgram

@Suite struct StatusTests {
  private static let status: SiteStatus = {
    var status = SiteStatus()
    (status.name, status.origin, status.version) = ("Knitting\u{1b}[2J club", "https://wool.example", "0.1.0")
    status.startedAt = 1_800_000_000_000 - 3 * 86_400_000
    (status.users, status.activeUsers, status.pendingUsers) = (1_042, 40, 2)
    (status.messages, status.openReports) = (98_204, 0)
    (status.connections, status.webSockets) = (12, 9)
    (status.databaseSize, status.fileSize) = (512_000_000, 3_100_000_000)
    (status.freeSpace, status.totalSpace) = (17_000_000_000, 100_000_000_000)
    status.lastBackupAt = 1_800_000_000_000 - 3_600_000
    status.waitingMails = 0
    status.problems = [.warning(.disk, "The disk is 83 % full.")]
    return status
  }()

  @Test func `the screen has a line for each fact, and the problems last`() {
    let screen = StatusCommand.screen(Self.status, now: 1_800_000_000_000, TextStyle(isColored: false))
    for line in [
      "  Server       Parley 0.1.0, started 3 days ago",
      "  Users        1,042, 40 active this week, 2 wait for approval",
      "  Messages     98,204", "  Reports      none open", "  Connections  12, 9 of them WebSockets",
      "  Data         database 512.0 MB, files 3.1 GB", "  Disk         83 % full, 17.0 GB free",
      "  Backup       1 hour ago", "  Mail         nothing waits", "Warning: The disk is 83 % full.",
    ] {
      #expect(screen.split(separator: "\n").contains { $0 == line }, "\(line) in \(screen)")
    }
    #expect(!screen.contains("Certificate") && !screen.contains("Push") && !screen.contains("\u{1b}"))
    #expect(screen.hasSuffix("Warning: The disk is 83 % full.\n"))
  }

  @Test(arguments: [
    ([], Outcome.Status.success), ([Finding.Level.warning], .failure), ([.warning, .error], .error),
  ]) func `the exit status tells warnings from errors`(levels: [Finding.Level], status: Outcome.Status) {
    var site = Self.status
    site.problems = levels.map { Finding(level: $0, code: .disk, sentence: "It is wrong.") }
    #expect(site.problems.exitStatus == status)
    #expect(
      StatusCommand.screen(site, now: 1_800_000_000_000, TextStyle(isColored: false)).contains("No problems.")
        == levels.isEmpty)
  }

  @Test func `JSON keeps all of it`() throws {
    var json = JSONWriter()
    json.value(Self.status)
    var object = try JSONValue(parsing: json.bytes).object()
    #expect(try SiteStatus(&object) == Self.status)
    try object.finish()
  }

  @Test(arguments: [
    (0, "0 seconds"), (59_999, "59 seconds"), (60_000, "1 minute"), (7_200_000, "2 hours"), (172_800_000, "2 days"),
    (-5, "0 seconds"),
  ]) func `a duration has one unit`(milliseconds: Int64, text: String) {
    #expect(Amount.duration(milliseconds) == text)
  }
}
