// `parley bot create` and `parley bots`: creates bots and lists them.

import ParleyJSON

extension Command {
  private static let botSettings: [Setting] = [.displayName, .botScope, .botForums, .onlyForum, .tokenRate]

  static let bot = Command(
    "bot", summary: "create a bot and print its API token", settings: botSettings + [.json] + Setting.ofRemote,
    help: Help.bot + Help.remote
  ) {
    missingWord(after: "bot", $0).report()
  }

  /// Prints only the token, for scripts.
  static let addBot = Command.control(
    "bot create", operands: ["NAME"], summary: "create a bot and print its API token", settings: botSettings,
    operations: ["createBot"], isRemote: true, help: Help.bot
  ) { settings, client in
    let forums = settings.all(.botForums)
    let limits = try TokenFlags(settings)
    var response = try await client.response(.post, "/bots") { json in
      json.field("name", settings.operands[0])
      if let displayName = settings.text(.displayName) { json.field("display_name", displayName) }
      json.field("scope", settings.text(.botScope) ?? "write")
      if !forums.isEmpty { json.field("forums", forums) }
      if !limits.areNone { json.object("limits") { json in limits.write(to: &json) } }
    }
    return Outcome(.success, try response.string("token"))
  }

  static let bots = Command.control(
    "bots", summary: "list the bots", settings: [.json], operations: ["listBots"], isRemote: true, help: Help.bots
  ) { settings, client in
    try await UserCommand.printList(settings, of: "/bots", from: client, query: "&include=users") { bots, users in
      var rows = [["NAME", "OWNER", "STATE", "TOKENS", "LAST USED"]]
      for bot in bots {
        var bot = try bot.object()
        let (owner, lastUsed): (String?, String?) = (try bot.optional("owner_id"), try bot.optional("last_used_at"))
        rows.append([
          try bot.string("name"), owner.map { users[$0] ?? $0 } ?? "none", try bot.string("state"),
          "\(try bot.int("token_count"))",
          lastUsed.map { String($0.prefix(10)) } ?? "never",
        ])
      }
      return UserCommand.aligned(rows)
    }
  }
}

enum BotCommand {
  static let subcommands = [
    Command.control(
      "bot tokens", operands: ["NAME"], summary: "list the tokens of a bot", settings: [.json],
      operations: ["listBotTokens"], isRemote: true, help: Help.botTokens, run: tokens),
    Command.control(
      "bot create-token", operands: ["NAME"], summary: "create another token of a bot and print it",
      settings: [.botScope, .onlyForum, .tokenRate], operations: ["createBotToken"], isRemote: true,
      help: Help.botRenewal, run: renew),
    Command.control(
      "bot revoke-token", operands: ["NAME", "TOKEN"], summary: "revoke a token of a bot",
      operations: ["revokeBotToken"], isRemote: true, help: Help.botRevocation, run: revoke),
  ]

  private static func path(_ name: String) throws -> String { try UserCommand.path(name, in: "/bots") + "/tokens" }

  @Sendable private static func tokens(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    try await UserCommand.printList(settings, of: path(settings.operands[0]), from: client) { tokens, _ in
      var rows = [["ID", "NAME", "SCOPE", "FORUMS", "RATE", "CREATED", "LAST USED", "EXPIRES"]]
      for token in tokens {
        var token = try token.object()
        let (lastUsed, expires): (String?, String?) = (
          try token.optional("last_used_at"), try token.optional("expires_at")
        )
        let (forums, rate): ([String]?, Int?) = (try token.optional("forums"), try token.optional("rate_limit"))
        let created = String(try token.string("created_at").prefix(10))
        let ends = [lastUsed, expires].map { $0.map { String($0.prefix(10)) } ?? "never" }
        let limits = [forums?.joined(separator: ",") ?? "all", rate.map { "\($0)" } ?? "default"]
        rows.append(
          [try token.string("id"), try token.string("name"), try token.string("scope")] + limits + [created] + ends)
      }
      return UserCommand.aligned(rows)
    }
  }

  /// Prints only the token, for scripts.
  @Sendable private static func renew(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let name = settings.operands[0]
    let limits = try TokenFlags(settings)
    var response = try await client.response(.post, try path(name)) { json in
      json.field("name", name)
      json.field("scope", settings.text(.botScope) ?? "write")
      limits.write(to: &json)
    }
    return Outcome(.success, try response.string("token"))
  }

  @Sendable private static func revoke(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let token = try WebhookCommand.path(settings.operands[1])
    _ = try await client.response(.delete, try path(settings.operands[0]) + "/\(token)")
    return Outcome(.success, "")
  }
}
