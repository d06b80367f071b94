import Testing

@testable import ParleyProgram

@Suite struct UpTests {
  @Test(arguments: [
    // An example line keeps its place.
    ("# head\n#acme = no\nlog = text\n", "acme", "yes", "# head\n#acme = no\nacme = yes\nlog = text\n"),
    ("acme = no\nlog = text\n", "acme", "yes", "acme = yes\nlog = text\n"),
    ("acme =   yes   \n", "acme", "yes", "acme =   yes   \n"),
    (
      "public-url = https://a.example\npublic-url = https://b.example\n", "public-url", "https://a.example",
      "public-url = https://a.example\n#public-url = https://b.example\n"
    ),
    ("", "acme", "yes", "acme = yes\n"),
    ("log = text", "acme", "yes", "log = text\nacme = yes\n"),
    // Windows ends lines with CR LF.
    ("\u{feff}log = text\r\ndata = /x\r\n", "acme", "yes", "\u{feff}log = text\r\ndata = /x\r\nacme = yes\n"),
    ("\u{feff}acme = yes\r\n", "acme", "yes", "\u{feff}acme = yes\r\n"),
    ("acme = no\r\nlog = text\r\n", "acme", "yes", "acme = yes\nlog = text\r\n"),
    ("#acme = yes\n", "acme", "yes", "acme = yes\n"),
    ("# acme = old\n", "acme", "yes", "# acme = old\nacme = yes\n"),
  ])
  func `a setting is changed in its line`(text: String, name: String, value: String, result: String) {
    let edit = SettingsEdit(changes: [(name, value)])
    #expect(edit.apply(to: text) == result)
    #expect(edit.apply(to: result) == result)
  }

  @Test func `a setting without a value becomes a comment`() {
    let edit = SettingsEdit(changes: [("acme", nil), ("log", nil)])
    #expect(edit.apply(to: "acme = yes\n  log = json\n#acme = no\n") == "#acme = yes\n#  log = json\n#acme = no\n")
  }

  @Test func `names of the DNS are accepted in lower case`() throws {
    #expect(try MachineChecks.siteName("Chat.Example.org") == "chat.example.org")
    #expect(try MachineChecks.siteName("xn--bcher-kva.example") == "xn--bcher-kva.example")
    for text in [
      "", "localhost", "192.0.2.7", "::1", "[::1]", "chat..org", ".org", "org.", "-a.example", "a-.example",
      "a_b.example",
      "https://chat.example.org", "chat.example.org/x", "bücher.example", "a.\(String(repeating: "b", count: 64))",
    ] {
      #expect(throws: Settings.UsageError.self, "\(text)") { try MachineChecks.siteName(text) }
    }
  }

  @Test func `codes have a version for their length, and 106 bytes at most`() throws {
    for (count, size) in [
      (1, 21), (17, 21), (18, 25), (32, 25), (33, 29), (53, 29), (54, 33), (78, 33), (79, 37), (106, 37),
    ] {
      #expect(QRCode(String(repeating: "a", count: count))?.modules.count == size, "\(count)")
    }
    #expect(QRCode(String(repeating: "a", count: 107)) == nil)
    let code = try #require(QRCode("https://chat.example.org/setup/abc"))
    // Two rows a line, with the quiet zone.
    #expect(code.lines.count == (code.modules.count + 8 + 1) / 2)
  }
}
