// `parley webhooks list|create|rotate|delete`: URLs by which other programs post to a conversation.

import ParleyJSON

extension Command {
  static let webhooks = Command(
    "webhooks", alias: "hooks", summary: "list, create, rotate and delete incoming webhooks",
    settings: [.json] + Setting.ofRemote,
    help: Help.webhooks + Help.remote
  ) {
    missingWord(after: "webhooks", $0).report()
  }
}

enum WebhookCommand {
  static let subcommands = [
    Command.control(
      "webhooks list", summary: "list the incoming webhooks", settings: [.json], operations: ["listWebhooks"],
      isRemote: true, help: Help.webhooks,
      run: list),
    Command.control(
      "webhooks create", operands: ["CONVERSATION", "NAME"], summary: "create a webhook and print its URL",
      operations: ["createWebhook"], isRemote: true, help: Help.webhookChanges, run: create),
    Command.control(
      "webhooks rotate", operands: ["WEBHOOK"], summary: "replace the URL of a webhook and print the new one",
      operations: ["rotateWebhookSecret"], isRemote: true, help: Help.webhookChanges, run: rotate),
    Command.control(
      "webhooks delete", operands: ["WEBHOOK"], summary: "delete a webhook", operations: ["deleteWebhook"],
      isRemote: true, help: Help.webhookChanges,
      run: delete),
  ]

  private static func list(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    try await UserCommand.printList(settings, of: "/webhooks", from: client, query: "&include=users") {
      webhooks, users in
      var rows = [["ID", "NAME", "CONVERSATION", "OWNER", "STATE", "LAST USED"]]
      for webhook in webhooks {
        var webhook = try webhook.object()
        let (owner, lastUsed): (String?, String?) = (
          try webhook.optional("owner_id"), try webhook.optional("last_used_at")
        )
        let state = try webhook.bool("revoked") ? "revoked" : try webhook.bool("enabled") ? "enabled" : "disabled"
        rows.append([
          try webhook.string("id"), try webhook.string("name"), try webhook.string("conversation_id"),
          owner.map { users[$0] ?? $0 } ?? "none", state, lastUsed.map { String($0.prefix(10)) } ?? "never",
        ])
      }
      return UserCommand.aligned(rows)
    }
  }

  /// Prints only the URL, for scripts.
  private static func create(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    var response = try await client.response(.post, "/webhooks") { json in
      json.field("conversation_id", settings.operands[0])
      json.field("name", settings.operands[1])
    }
    return Outcome(.success, try response.string("url"))
  }

  private static func rotate(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    var response = try await client.response(.post, "/webhooks/\(try path(settings.operands[0]))/secret") { _ in }
    return Outcome(.success, try response.string("url"))
  }

  private static func delete(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    _ = try await client.response(.delete, "/webhooks/\(try path(settings.operands[0]))")
    return Outcome(.success, "")
  }

  /// An id as part of a path.
  static func path(_ id: String) throws -> String {
    guard !id.isEmpty, id.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      throw Settings.UsageError(message: "\(id) is not an id.")
    }
    return id
  }
}
