import Testing

@testable import ParleyProgram

@Suite struct SettingsFileTests {
  private static func file(_ text: String) -> SettingsFile { SettingsFile(parsing: Array(text.utf8), "parley.conf") }

  @Test func `lines have names and values, and comments are ignored`() {
    let file = Self.file(
      "\u{feff}# The site\r\n\n  public-url=https://chat.example.org \r\nlisten =\t[::1]:80, 127.0.0.1:80\nlisten = [::1]:81\n"
        + "self-signed = yes\n # no\ndata = /srv/a = b # c\n")
    #expect(file.faults == [])
    let entry = { (name, value, line) in SettingsFile.Entry(name: name, value: value, line: line) }
    #expect(
      file.entries == [
        entry("public-url", "https://chat.example.org", 3), entry("listen", "[::1]:80", 4),
        entry("listen", "127.0.0.1:80", 4), entry("listen", "[::1]:81", 5), entry("self-signed", "yes", 6),
        entry("data", "/srv/a = b # c", 8),
      ])
  }

  @Test(arguments: [
    ("limit-fil = 1", "\"limit-fil\" is not a setting. Did you mean limit-file?"),
    ("PARLEY_LIMIT_FILE = 1", "Did you mean limit-file?"), ("--limit-file = 1", "Did you mean limit-file?"),
    ("config = /etc/other", "is not a setting."), ("json = yes", "is not a setting."),
    ("bananas = 7", "\"bananas\" is not a setting. parley serve --help lists all settings."),
    ("data", "\"data\" has no =. A line is: name = value."), ("= 7", "\"\" is not a setting."),
    ("data =", "data has no value. Remove the line for the default."),
    ("data = \"/srv\"", "data: a value stands without quotation marks."),
    ("dev = perhaps", "dev takes yes or no, not \"perhaps\"."),
    ("loops = 1\nloops = 1", "loops is already set in line 7."),
  ])
  func `a mistake names the line and the next step`(text: String, sentence: String) {
    let faults = Self.file(String(repeating: "\n", count: 6) + text).faults
    let line = text.contains("\n") ? 8 : 7
    #expect(faults.count == 1)
    #expect(
      faults.first?.hasPrefix("parley.conf:\(line): ") == true && faults.first?.contains(sentence) == true, "\(faults)")
  }

  @Test(arguments: [[0xff], [0], Array("data = \0".utf8)] as [[UInt8]])
  func `a file that is no text is one mistake`(bytes: [UInt8]) {
    #expect(SettingsFile(parsing: bytes, "parley.conf").faults == ["parley.conf is not a text in UTF-8."])
  }

  @Test func `all mistakes of a file are found`() {
    #expect(Self.file("a = 1\nb = 2\nloops = 3\nloops\n").faults.count == 3)
  }

  @Test func `the default settings as a file are accepted again`() {
    // A line of each setting is a setting, whether in the file, as a flag or as a variable.
    for setting in SettingsFile.settings {
      let value = setting.value == nil ? "yes" : "1"
      #expect(Self.file("\(setting.name) = \(value)").faults == [])
    }
    #expect(!SettingsFile.settings.contains { $0.isFlagOnly })
  }

  @Test func `an error about a value of the file names its line`() throws {
    let settings = Settings(Self.file("\nloops = 0\nbackup-every = 24\n"))
    #expect(settings.source(.loops) == .file("parley.conf:2") && settings.source(.polling) == nil)
    do throws(Settings.UsageError) {
      _ = try DaemonSettings(settings)
      Issue.record("no error")
    } catch {
      #expect(error.message == "parley.conf:2: loops takes a number from 1 to 256, not \"0\".")
    }
  }

  @Test func `a password is not printed`() {
    #expect(Setting.smtpURL.isSecret("smtps://ada:wool@mail.example.org"))
    #expect(!Setting.smtpURL.isSecret("smtps://ada@mail.example.org:465") && !Setting.data.isSecret("/srv/a:b@c"))
    let table = ConfigCommand.table(Settings(Self.file("smtp-url = smtps://ada:wool@mail.example.org\n")))
    #expect(table.contains("(secret)") && !table.contains("wool"))
  }

  @Test func `the manual page of the file has each setting`() {
    let page = ManualPage.settingsFile.replacing("\\-", with: "-")
    for setting in SettingsFile.settings { #expect(page.contains(".B \"\(setting.name) = "), "\(setting.name)") }
    #expect(!page.contains(".B \"config ="))
  }
}
