import Foundation
import Testing

@testable import ParleyProgram

/// The table of commands and the texts that derive from it.
@Suite struct CommandTableTests {
  /// Commands that are not named for their operation, and the first one they request.
  private static let namedOtherwise = [
    "read": "listMessages", "reply": "postMessage", "react": "setAction", "dm": "createConversation",
    "inbox": "listNotifications", "login": "signIn", "logout": "revokeSession", "whoami": "getUser",
    "send-file": "postMessage", "tail": "openRealtime",
    "invite": "createInvite", "token": "createToken", "user role": "updateUser", "user enable": "updateUser",
    "user disable": "updateUser",
    "user reset": "createPasswordReset", "endpoints enable": "updateWebhookEndpoint",
    "endpoints disable": "updateWebhookEndpoint", "apps enable": "updateApp",
    "apps disable": "updateApp", "commands enable": "updateCommand",
    "commands disable": "updateCommand", "destroy message": "destroyContent", "destroy file": "destroyContent",
    "destroy user": "destroyContent",
  ]

  /// Commands without an operation of the API.
  private static let withoutOperation: [String: Set<String>] = [
    "runs or describes the program": [
      "serve", "config", "status", "doctor", "health", "dialects", "up", "upgrade", "version", "help", "manual",
      "completions",
      "complete-titles",
    ],
    "reads or replaces the data folder, also without a daemon": [
      "backup", "restore", "export", "import", "verify", "purge", "migrate", "key export", "key import",
    ],
    "has an operation of the control socket alone": ["setup", "user create", "mail-in"],
    "sends any request": ["api"],
    "changes the outbox on this machine": ["outbox", "outbox retry", "outbox cancel"],
  ]

  @Test func `a command without an operation has a reason`() {
    // A group, such as `user`, has commands of two words.
    let groups = Set(Command.all.filter { $0.words.count > 1 }.map { $0.words[0] })
    let without = Command.all.filter { $0.operations.isEmpty }.map(\.name)
    #expect(Set(without).subtracting(groups) == Set(Self.withoutOperation.values.joined()).subtracting(groups))
  }

  private static func operations() throws -> Set<String> {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let data = try Data(contentsOf: root.appending(path: "Public/openapi.json"))
    let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let paths = try #require(document["paths"] as? [String: [String: Any]])
    return Set(paths.values.flatMap(\.values).compactMap { ($0 as? [String: Any])?["operationId"] as? String })
  }

  /// The words of `createTopic`: `create`, `topic`.
  private static func words(of operation: String) -> [String] {
    operation.reduce(into: [""]) { words, letter in
      if letter.isUppercase { words.append("") }
      words[words.count - 1] += letter.lowercased()
    }
  }

  @Test func `a command has the verb of its operation, or its noun if it lists`() throws {
    let operations = try Self.operations()
    #expect(operations.count > 100)
    for command in Command.all {
      #expect(operations.isSuperset(of: command.operations), "\(command.name)")
      guard let first = command.operations.first else { continue }
      if let operation = Self.namedOtherwise[command.name] {
        #expect(first == operation)
        continue
      }
      let words = Self.words(of: first)
      let name = (command.words.last ?? "").split(separator: "-").map(String.init)
      // `endpoints create` is `createWebhookEndpoint`: the noun is in the words before.
      let verb = command.words.count == 1 ? name : [name[0]]
      let isList = name == Array(words.dropFirst()) || command.words.count > 1 && words.last == name[0]
      #expect(
        words[0] == "list" && name != ["list"] ? isList : verb == Array(words.prefix(verb.count)), "\(command.name)")
    }
  }

  @Test func `names and aliases are unique`() {
    let names = Command.all.map(\.name) + Command.all.compactMap(\.alias)
    #expect(Set(names).count == names.count)
    #expect(Command.find(["new-topic", "a"])?.command.name == "create-topic")
    #expect(Command.find(["outbox", "retry", "a"])?.rest == ["a"])
    #expect(Command.find(["user", "create", "ada"])?.command.name == "user create")
    #expect(Command.find(["bot", "create", "dice"])?.rest == ["dice"])
    #expect(Command.find(["hooks", "rotate", "3"])?.command.name == "webhooks rotate")
    #expect(Command.find(["hooks"])?.command.name == "webhooks")
  }

  /// The options in a text, such as `--limit`.
  private static func flags(in text: String) -> Set<String> {
    Set(text.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
  }

  /// Help texts name options of other programs and commands.
  private static let foreignFlags: Set<String> = [
    "--help", "--listen", "--public-url", "--data", "--config", "--share",
  ]

  @Test(arguments: Command.all.map(\.name))
  func `the help of a command names each of its options and no other`(name: String) throws {
    let command = try #require(Command.all.first { $0.name == name })
    #expect(command.help.hasPrefix("parley "))
    #expect(command.help.hasSuffix("\n"))
    let known = Set(command.settings.map(\.flag))
    if !name.hasPrefix("user") {
      #expect(Self.flags(in: command.help).subtracting(known).subtracting(Self.foreignFlags) == [])
    }
    // `health` has the settings of `serve`.
    if name != "health" {
      #expect(known.subtracting(Self.flags(in: command.help)).subtracting(Self.foreignFlags) == [])
    }
    for line in command.help.split(separator: "\n") where !line.hasPrefix("  -") {
      #expect(line.count <= 130, "\(line)")
    }
  }

  @Test func `a group of commands has --remote if its commands have it`() throws {
    let remote = Command.all.filter { command in command.settings.contains { $0.name == Setting.remote.name } }
    #expect(remote.count > 10)
    for name in Set(remote.compactMap(\.words.first)) {
      let group = try #require(Command.all.first { $0.name == name })
      #expect(group.help.contains(Setting.remote.flag), "\(name)")
    }
  }

  @Test func `the overview lists each command with its summary`() {
    for command in Command.listed {
      #expect(Help.overview.contains("  parley \(command.name)"))
      #expect(Help.overview.contains(command.summary))
    }
    #expect(!Help.overview.contains("complete-titles"))
  }

  @Test func `the manual page has each command, each option and the exit statuses`() {
    let page = ManualPage.text.replacing("\\-", with: "-")
    for command in Command.listed {
      #expect(page.contains(".SS \"parley \(command.name)\"\n"))
      for setting in command.settings where command.name != "health" {
        #expect(page.contains(setting.flag), "\(command.name) \(setting.flag)")
      }
    }
    #expect(page.contains(".SH EXIT STATUS"))
    #expect(ManualPage.text.split(separator: "\n").allSatisfy { $0.first != "'" })
    #expect(page.components(separatedBy: ".EX\n").count == page.components(separatedBy: ".EE\n").count)
  }

  @Test func `a help text becomes paragraphs, options and examples`() {
    let help =
      "parley x [-y]\n\nText - of\n.two lines.\n\n    parley x 'a\\b'\n\nSettings\n\n  -y, --yes N  a \"yes\"\n"
    #expect(
      ManualPage.body(help) == """
        .EX
        parley x [\\-y]
        .EE
        .PP
        Text \\- of
        \\&.two lines.
        .PP
        .EX
            parley x 'a\\eb'
        .EE
        .PP
        Settings
        .PP
        .TP
        .B "\\-y, \\-\\-yes N"
        a \\(dqyes\\(dq

        """)
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `completions have each command and option`(shell: String) throws {
    let script = try #require(CompletionScript.script(for: shell))
    for command in Command.listed {
      for word in command.words { #expect(script.contains(word), "\(command.name)") }
      for setting in command.settings {
        #expect(
          script.contains(shell == "fish" ? "-l \(setting.name)" : setting.flag), "\(command.name) \(setting.flag)")
      }
    }
    #expect(script.contains("complete-titles"))
  }

  @Test(arguments: [
    ("raed", "read"), ("forum", "forums"), ("Backup", "backup"), ("conv", "conversations"), ("new-topc", "new-topic"),
    ("banana", nil), ("", nil), ("x", nil),
  ])
  func `a mistyped name has a suggestion`(typed: String, meant: String?) {
    let names = Command.listed.map(\.words[0]) + Command.listed.compactMap(\.alias)
    #expect(Spelling.nearest(to: typed, in: Set(names).sorted()) == meant)
  }

  @Test func `an option that is nothing like another one has no suggestion`() {
    #expect(Spelling.nearest(to: "--foo", in: ["--json", "--limit"]) == nil)
    #expect(Spelling.nearest(to: "--jsno", in: ["--json", "--limit"]) == "--json")
    #expect(Spelling.nearest(to: "--js", in: ["--json", "--limit"]) == nil)
    #expect(Spelling.nearest(to: "--lim", in: ["--json", "--limit"]) == "--limit")
  }
}
