import Testing

@testable import ParleyProgram

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

  @Test func `arguments after two hyphens are operands`() throws {
    let settings = try Settings(
      arguments: ["--data=there", "--", "--help"], environment: [:], of: "restore", [.data], operands: ["FILE"])
    #expect(settings.operands == ["--help"] && settings.text(.data) == "there")
  }

  @Test(arguments: [["-f", "a", "-fb"], ["--raw-field", "a", "--raw-field=b"]])
  func `a setting may have a letter`(arguments: [String]) throws {
    let setting = Setting(name: "raw-field", value: "TEXT", summary: "", isRepeatable: true, letter: "f")
    let settings = try Settings(arguments: arguments, environment: [:], of: "api", [setting])
    #expect(settings.all(setting) == ["a", "b"])
  }

  @Test(arguments: [
    (["a", "--dtaa"], "Did you mean --data?"), (["a", "b"], "Quote a text of several words."),
    (["-5 degrees"], "An argument after -- may begin with a hyphen."), (["a", "--data"], "--data FOLDER"),
    ([], "needs a FILE"),
  ])
  func `an error says what to do next, on one line`(arguments: [String], words: String) {
    do throws(Settings.UsageError) {
      _ = try Settings(arguments: arguments, environment: [:], of: "restore", [.data], operands: ["FILE"])
      Issue.record("no error")
    } catch {
      #expect(error.message.contains(words) && !error.message.contains("\n"))
    }
  }

  @Test func `a mistyped word of a command is suggested`() {
    do throws(Settings.UsageError) {
      _ = try Settings(arguments: ["retri"], environment: [:], of: "outbox", [.json])
      Issue.record("no error")
    } catch {
      #expect(error.message.contains("Did you mean parley outbox retry?"))
    }
  }
}
