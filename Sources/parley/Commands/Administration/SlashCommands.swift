// `parley commands …`: slash commands, which other programs run as bots.

import ParleyJSON

extension Command {
  static let commands = Command(
    "commands", summary: "list, create, change and delete slash commands", settings: [.json] + Setting.ofRemote,
    help: Help.commands + Help.remote
  ) {
    missingWord(after: "commands", $0).report()
  }
}

enum SlashCommands {
  static let subcommands = [
    Command.control(
      "commands list", summary: "list the slash commands", settings: [.json], operations: ["listCommands"],
      isRemote: true, help: Help.commands, run: list),
    Command.control(
      "commands create", operands: ["NAME", "BOT", "URL"],
      summary: "create a command of a bot, and print its secret", settings: [.description, .usage, .commandForums],
      operations: ["createCommand"], isRemote: true, help: Help.newCommand, run: create),
    Command.control(
      "commands enable", operands: ["COMMAND"], summary: "let users use a command",
      operations: ["updateCommand"], isRemote: true, help: Help.commandChanges,
      run: { try await enable(true, $0, $1) }),
    Command.control(
      "commands disable", operands: ["COMMAND"], summary: "let no user use a command",
      operations: ["updateCommand"], isRemote: true, help: Help.commandChanges,
      run: { try await enable(false, $0, $1) }),
    Command.control(
      "commands rotate", operands: ["COMMAND"], summary: "replace the secret of a command and print the new one",
      operations: ["rotateCommandSecret"], isRemote: true, help: Help.commandChanges, run: rotate),
    Command.control(
      "commands delete", operands: ["COMMAND"], summary: "delete a command", operations: ["deleteCommand"],
      isRemote: true, help: Help.commandChanges, run: delete),
  ]

  private static func list(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    try await UserCommand.printList(settings, of: "/commands", from: client, query: "&include=users") {
      commands, users in
      var rows = [["ID", "NAME", "BOT", "URL", "FORUMS", "OWNER", "STATE"]]
      for command in commands {
        var command = try command.object()
        let (forums, reason): ([String]?, String?) = (
          try command.optional("forums"), try command.optional("disabled_reason")
        )
        let (bot, owner) = (try command.string("bot_id"), try command.string("owner_id"))
        rows.append([
          try command.string("id"), "/\(try command.string("name"))", users[bot] ?? bot, try command.string("url"),
          forums?.joined(separator: ",") ?? "all", users[owner] ?? owner,
          reason.map { "disabled: \($0)" } ?? "enabled",
        ])
      }
      return UserCommand.aligned(rows)
    }
  }

  /// Prints only the secret, for scripts.
  private static func create(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let name = settings.operands[0]
    let bot = try await id(ofBot: settings.operands[1], client)
    let forums = settings.all(.commandForums)
    var response = try await client.response(.post, "/commands") { json in
      json.field("name", name.hasPrefix("/") ? String(name.dropFirst()) : name)
      json.field("bot_id", bot)
      json.field("url", settings.operands[2])
      if let description = settings.text(.description) { json.field("description", description) }
      if let usage = settings.text(.usage) { json.field("usage", usage) }
      if !forums.isEmpty { json.field("forums", forums) }
    }
    return Outcome(.success, try response.string("secret"))
  }

  private static func id(ofBot name: String, _ client: ControlClient) async throws -> String {
    let name = (name.hasPrefix("@") ? String(name.dropFirst()) : name).lowercased()
    var next: String?
    repeat {
      var page = try await client.response(.get, "/bots?limit=100" + (next.map { "&next=\($0)" } ?? ""))
      for bot in try page.value("data").array() {
        var bot = try bot.object()
        let known: String? = try bot.optional("name")
        if known?.lowercased() == name { return try bot.string("id") }
      }
      next = try page.optional("next")
    } while next != nil
    throw Settings.UsageError(message: "There is no bot \(Terminal.plain(name)). parley bots lists them.")
  }

  @Sendable private static func enable(
    _ isEnabled: Bool, _ settings: Settings, _ client: ControlClient
  ) async throws -> Outcome {
    let path = "/commands/\(try WebhookCommand.path(settings.operands[0]))"
    _ = try await client.response(.patch, path) { json in json.field("enabled", isEnabled) }
    return Outcome(.success, "")
  }

  private static func rotate(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let path = "/commands/\(try WebhookCommand.path(settings.operands[0]))/secret"
    var response = try await client.response(.post, path)
    return Outcome(.success, try response.string("secret"))
  }

  private static func delete(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    _ = try await client.response(.delete, "/commands/\(try WebhookCommand.path(settings.operands[0]))")
    return Outcome(.success, "")
  }
}
