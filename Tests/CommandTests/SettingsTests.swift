import Testing

@testable import parley

@Suite struct SettingsTests {
  @Test func `a command parses its operands and settings`() throws {
    let settings = try Settings(
      arguments: ["--replace", "backup.tar", "--data=there"], environment: ["PARLEY_LOOPS": "none"], of: "restore",
      [.data, .replace], operands: ["FILE"])
    #expect(settings.operands == ["backup.tar"] && settings.text(.data) == "there" && settings.isOn(.replace))
  }

  @Test func `options of a single run have no environment variable`() throws {
    let environment = ["PARLEY_REPLACE": "yes", "PARLEY_DATA": "there"]
    let settings = try Settings(
      arguments: ["a"], environment: environment, of: "restore", [.data, .replace], operands: ["FILE"])
    #expect(!settings.isOn(.replace) && settings.text(.data) == "there")
  }

  @Test(arguments: [[], ["a", "b"], ["a", "--listen", "x"], ["a", "--data"], ["--data"]])
  func `an invalid command line is an error`(arguments: [String]) {
    #expect(throws: Settings.UsageError.self) {
      try Settings(arguments: arguments, environment: [:], of: "backup", [.data], operands: ["FILE"])
    }
  }
}
