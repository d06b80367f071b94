// `parley apps …`: other programs that users may let act for them.

import ParleyJSON

extension Command {
  static let apps = Command(
    "apps", summary: "list, create, change and delete apps that users connect (OAuth)",
    settings: [.json] + Setting.ofRemote, help: Help.apps + Help.remote
  ) {
    missingWord(after: "apps", $0).report()
  }
}

enum AppsCommand {
  static let subcommands = [
    Command.control(
      "apps list", summary: "list the apps", settings: [.json], operations: ["listApps"], isRemote: true,
      help: Help.apps, run: list),
    Command.control(
      "apps create", operands: ["NAME", "URI"], summary: "allow an app, and print its client id and secret",
      settings: [.website, .appScope, .confidential], operations: ["createApp"], isRemote: true, help: Help.newApp,
      run: create),
    Command.control(
      "apps enable", operands: ["APP"], summary: "let users connect an app", operations: ["updateApp"],
      isRemote: true, help: Help.appChanges, run: { try await enable(true, $0, $1) }),
    Command.control(
      "apps disable", operands: ["APP"], summary: "end all access of an app, and let no user connect it",
      operations: ["updateApp"], isRemote: true, help: Help.appChanges, run: { try await enable(false, $0, $1) }),
    Command.control(
      "apps rotate", operands: ["APP"], summary: "replace the secret of an app and print the new one",
      operations: ["rotateAppSecret"], isRemote: true, help: Help.appChanges, run: rotate),
    Command.control(
      "apps delete", operands: ["APP"], summary: "revoke all access of an app and delete it",
      operations: ["deleteApp"], isRemote: true, help: Help.appChanges, run: delete),
  ]

  private static func list(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    try await UserCommand.printList(settings, of: "/apps", from: client, query: "&include=users") { apps, users in
      var rows = [["ID", "NAME", "REDIRECT URIS", "SCOPE", "USERS", "CREATOR", "STATE"]]
      for app in apps {
        var app = try app.object()
        let (uris, creator): ([String], String?) = (try app.read("redirect_uris"), try app.optional("creator_id"))
        let states = [
          try app.bool("enabled") ? "enabled" : "disabled", try app.bool("verified") ? nil : "not verified",
        ]
        rows.append([
          try app.string("id"), try app.string("name"), uris.joined(separator: ","), try app.string("scope"),
          "\(try app.int("user_count"))", creator.map { users[$0] ?? $0 } ?? "itself",
          states.compactMap(\.self).joined(separator: ", "),
        ])
      }
      return UserCommand.aligned(rows)
    }
  }

  /// Prints the client id, and below it the secret of a confidential app.
  private static func create(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    var response = try await client.response(.post, "/apps") { json in
      json.field("name", settings.operands[0])
      json.field("redirect_uris", settings.operands[1].split(separator: ",").map(String.init))
      if let website = settings.text(.website) { json.field("website", website) }
      if let scope = settings.text(.appScope) { json.field("scope", scope) }
      json.field("confidential", settings.isOn(.confidential))
    }
    let secret: String? = try response.optional("secret")
    return Outcome(.success, [try response.string("id"), secret].compactMap(\.self).joined(separator: "\n"))
  }

  @Sendable private static func enable(
    _ isEnabled: Bool, _ settings: Settings, _ client: ControlClient
  ) async throws -> Outcome {
    _ = try await client.response(.patch, try path(settings)) { json in json.field("enabled", isEnabled) }
    return Outcome(.success, "")
  }

  private static func rotate(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    var response = try await client.response(.post, try path(settings) + "/secret")
    return Outcome(.success, try response.string("secret"))
  }

  private static func delete(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    _ = try await client.response(.delete, try path(settings))
    return Outcome(.success, "")
  }

  private static func path(_ settings: Settings) throws -> String {
    "/apps/\(try WebhookCommand.path(settings.operands[0]))"
  }
}
