import Testing

@testable import ParleyProgram

@Suite struct OperatorSettingsTests {
  @Test(arguments: [
    ([], "http://127.0.0.1:8080"),
    (["--listen", "0.0.0.0:80"], "http://localhost:80"),
    (["--listen", "[::1]:9000"], "http://[::1]:9000"),
    (["--listen", "unix:/run/parley.sock", "--listen", "10.0.0.1:81"], "http://10.0.0.1:81"),
    (["--self-signed", "--listen", "[::]:443"], "https://localhost:443"),
    (["--listen", "0.0.0.0:80", "--public-url", "https://Chat.example.org"], "https://chat.example.org"),
  ])
  func `links begin with the public origin`(arguments: [String], origin: String) throws {
    #expect(try PublicOrigin.text(Settings(arguments: arguments, environment: [:])) == origin)
  }

  @Test(arguments: [
    ("1h", "1970-01-01T01:00:00.000Z"), ("12h", "1970-01-01T12:00:00.000Z"), ("7d", "1970-01-08T00:00:00.000Z"),
    ("2w", "1970-01-15T00:00:00.000Z"),
  ])
  func `a relative time is parsed`(text: String, moment: String) throws {
    let settings = try Settings(arguments: ["--expires", text], environment: [:], of: "invite", [.expires])
    #expect(try settings.timestamp(.expires, now: 0) == moment)
  }

  @Test func `an absolute time is used unchanged`() throws {
    let settings = try Settings(
      arguments: ["--expires", "2027-01-01T00:00:00.000Z"], environment: [:], of: "invite", [.expires])
    #expect(try settings.timestamp(.expires) == "2027-01-01T00:00:00.000Z")
  }

  @Test(arguments: ["", "h", "0d", "-1d", "1.5h", "10000d", "7", "7y", "tomorrow", "99999999999999999999h"])
  func `an invalid time is an error`(text: String) throws {
    let settings = try Settings(arguments: ["--expires=\(text)"], environment: [:], of: "invite", [.expires])
    #expect(throws: Settings.UsageError.self) { try settings.timestamp(.expires) }
  }
}
