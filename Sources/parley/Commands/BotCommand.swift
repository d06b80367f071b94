// `parley bot add` and `parley bots`: creates bots and lists them.

import ParleyJSON

extension Command {
  private static let botSettings: [Setting] = [.displayName, .botScope, .botForums]

  static let bot = Command(
    "bot", summary: "create a bot and print its API token", settings: botSettings, help: Help.bot
  ) {
    missingWord(after: "bot", $0).report()
  }

  /// Prints only the token, for scripts.
  static let addBot = Command.control(
    "bot add", operands: ["NAME"], summary: "create a bot and print its API token", settings: botSettings,
    isRemote: true, help: Help.bot
  ) { settings, client in
    let forums = settings.all(.botForums)
    var response = try await client.response(.post, "/bots") { json in
      json.field("name", settings.operands[0])
      if let displayName = settings.text(.displayName) { json.field("display_name", displayName) }
      json.field("scope", settings.text(.botScope) ?? "write")
      if !forums.isEmpty { json.field("forums", forums) }
    }
    return Outcome(.success, try response.string("token"))
  }

  static let bots = Command.control("bots", summary: "list the bots", settings: [.json], isRemote: true, help: Help.bots) {
    settings, client in
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
