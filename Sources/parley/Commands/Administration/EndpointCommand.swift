// `parley endpoints …`: outgoing webhooks, URLs of other programs that receive events.

import ParleyJSON

extension Command {
  static let endpoints = Command(
    "endpoints", summary: "list, create, change and delete outgoing webhooks", settings: [.json] + Setting.ofRemote,
    help: Help.endpoints + Help.remote
  ) {
    missingWord(after: "endpoints", $0).report()
  }
}

enum EndpointCommand {
  static let subcommands = [
    Command.control(
      "endpoints list", summary: "list the outgoing webhooks", settings: [.json], operations: ["listWebhookEndpoints"],
      isRemote: true, help: Help.endpoints,
      run: list),
    Command.control(
      "endpoints create", operands: ["NAME", "URL", "TOPICS"],
      summary: "send the events of topics to a URL, and print the secret", settings: [.events],
      operations: ["createWebhookEndpoint"], isRemote: true, help: Help.newEndpoint, run: create),
    Command.control(
      "endpoints enable", operands: ["ENDPOINT"], summary: "resume the deliveries to an endpoint",
      operations: ["updateWebhookEndpoint"], isRemote: true, help: Help.endpointChanges,
      run: { try await enable(true, $0, $1) }),
    Command.control(
      "endpoints disable", operands: ["ENDPOINT"], summary: "stop the deliveries to an endpoint",
      operations: ["updateWebhookEndpoint"], isRemote: true, help: Help.endpointChanges,
      run: { try await enable(false, $0, $1) }),
    Command.control(
      "endpoints rotate", operands: ["ENDPOINT"], summary: "replace the secret of an endpoint and print the new one",
      operations: ["rotateWebhookEndpointSecret"], isRemote: true, help: Help.endpointChanges, run: rotate),
    Command.control(
      "endpoints delete", operands: ["ENDPOINT"], summary: "delete an endpoint", operations: ["deleteWebhookEndpoint"],
      isRemote: true,
      help: Help.endpointChanges, run: delete
    ),
    Command.control(
      "endpoints deliveries", operands: ["ENDPOINT"], summary: "list the attempts of the last 30 days",
      settings: [.json], operations: ["listWebhookDeliveries"], isRemote: true, help: Help.endpoints, run: deliveries),
    Command.control(
      "endpoints redeliver", operands: ["ENDPOINT", "DELIVERY"], summary: "deliver an event again",
      operations: ["redeliverWebhook"], isRemote: true, help: Help.endpointChanges, run: redeliver),
  ]

  private static func list(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    try await UserCommand.printList(settings, of: "/webhook-endpoints", from: client, query: "&include=users") {
      endpoints, users in
      var rows = [["ID", "NAME", "URL", "OWNER", "STATE", "LAST DELIVERY"]]
      for endpoint in endpoints {
        var endpoint = try endpoint.object()
        let (reason, failing): (String?, String?) = (
          try endpoint.optional("disabled_reason"), try endpoint.optional("failing_since")
        )
        let (owner, last): (String, String?) = (
          try endpoint.string("owner_id"), try endpoint.optional("last_delivered_at")
        )
        let state = reason.map { "disabled: \($0)" } ?? failing.map { "failing since \($0.prefix(16))" } ?? "enabled"
        rows.append([
          try endpoint.string("id"), try endpoint.string("name"), try endpoint.string("url"), users[owner] ?? owner,
          state, last.map { String($0.prefix(16)) } ?? "never",
        ])
      }
      return UserCommand.aligned(rows)
    }
  }

  /// Prints only the secret, for scripts.
  private static func create(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let (topics, events) = (words(settings.operands[2]), words(settings.text(.events) ?? ""))
    var response = try await client.response(.post, "/webhook-endpoints") { json in
      json.field("name", settings.operands[0])
      json.field("url", settings.operands[1])
      json.field("topics", topics)
      json.field("events", events)
    }
    return Outcome(.success, try response.string("secret"))
  }

  private static func words(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

  @Sendable private static func enable(
    _ isEnabled: Bool, _ settings: Settings, _ client: ControlClient
  ) async throws -> Outcome {
    let path = "/webhook-endpoints/\(try WebhookCommand.path(settings.operands[0]))"
    _ = try await client.response(.patch, path) { json in json.field("enabled", isEnabled) }
    return Outcome(.success, "")
  }

  private static func rotate(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let path = "/webhook-endpoints/\(try WebhookCommand.path(settings.operands[0]))/secret"
    var response = try await client.response(.post, path)
    return Outcome(.success, try response.string("secret"))
  }

  private static func delete(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    _ = try await client.response(
      .delete, "/webhook-endpoints/\(try WebhookCommand.path(settings.operands[0]))")
    return Outcome(.success, "")
  }

  private static func deliveries(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let path = "/webhook-endpoints/\(try WebhookCommand.path(settings.operands[0]))/deliveries"
    return try await UserCommand.printList(settings, of: path, from: client) { deliveries, _ in
      var rows = [["ID", "TIME", "TYPE", "EVENT", "ATTEMPT", "STATE", "ANSWER"]]
      for delivery in deliveries {
        var delivery = try delivery.object()
        let (status, error): (Int?, String?) = (try delivery.optional("status"), try delivery.optional("error"))
        let event: String? = try delivery.optional("event_id")
        rows.append([
          try delivery.string("id"), String(try delivery.string("at").prefix(19)), try delivery.string("type"),
          event ?? "none", String(try delivery.int("attempt")), try delivery.string("state"),
          status.map { String($0) } ?? error ?? "none",
        ])
      }
      return UserCommand.aligned(rows)
    }
  }

  private static func redeliver(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let endpoint = try WebhookCommand.path(settings.operands[0])
    let delivery = try WebhookCommand.path(settings.operands[1])
    _ = try await client.response(.post, "/webhook-endpoints/\(endpoint)/deliveries/\(delivery)/redeliver")
    return Outcome(.success, "")
  }
}
