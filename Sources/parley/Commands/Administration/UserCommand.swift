// `parley user …`: lists, creates and administers users.

import ParleyJSON
import ParleyWire

extension Command {
  static let user = Command(
    "user", summary: "create, list and disable users, set roles, reset passwords", help: Help.user
  ) {
    missingWord(after: "user", $0).report()
  }
}

enum UserCommand {
  static let subcommands = [
    subcommand("create", operands: ["NAME"], settings: [.role, .passwordStdin], "create a user", run: create),
    subcommand("list", settings: [.json], operations: ["listUsers"], "list the users", run: list),
    subcommand(
      "role", operands: ["NAME", "ROLE"], settings: [.keepUserSessions], operations: ["updateUser"],
      "set the role of a user", run: setRole),
    subcommand(
      "disable", operands: ["NAME"], operations: ["updateUser"], "disable a user and revoke the sessions", run: disable),
    subcommand("enable", operands: ["NAME"], operations: ["updateUser"], "enable a disabled user", run: enable),
    subcommand(
      "reset", operands: ["NAME"], settings: [.secondFactor], operations: ["createPasswordReset", "resetSecondFactor"],
      "print a password reset link", run: createPasswordReset),
    subcommand(
      "identities", operands: ["NAME"], settings: [.json], operations: ["listUserIdentities"],
      "list the linked accounts of a user", run: listIdentities),
    subcommand(
      "recover", operands: ["NAME"], settings: [.keepIdentity], operations: ["recoverUser"],
      "take a stolen account from the thief, and print a password reset link", run: recover),
  ]

  private static func subcommand(
    _ word: String, operands: [String] = [], settings: [Setting] = [], operations: [String] = [], _ summary: String,
    run body: @escaping @Sendable (Settings, ControlClient) async throws -> Outcome
  ) -> Command {
    .control(
      "user \(word)", operands: operands, summary: summary, settings: settings, operations: operations,
      help: Help.user, run: body)
  }

  @Sendable private static func create(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    guard settings.isOn(.passwordStdin) else {
      throw Settings.UsageError(message: "--password-stdin is required: the password is read from standard input.")
    }
    guard let password = readLine(), !password.isEmpty else {
      throw Settings.UsageError(message: "Standard input contains no password.")
    }
    let (name, role) = (settings.operands[0], settings.text(.role) ?? "member")
    _ = try await client.response(.post, "/users") { json in
      json.field("name", name)
      json.field("role", role)
      json.field("password", password)
    }
    return Outcome(.success, "Created user \(name) with role \(role).")
  }

  @Sendable private static func list(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    try await printList(settings, of: "/users", from: client) { users, _ in try table(users) }
  }

  private static func table(_ users: [JSONValue]) throws -> String {
    var rows = [["NAME", "ROLE", "STATE", "SINCE", "LAST SEEN"]]
    for user in users {
      var user = try user.object()
      let lastSeen: String? = try user.optional("last_seen_at")
      rows.append([
        try user.string("name"), try user.string("role"), try user.string("state"),
        String(try user.string("created_at").prefix(10)), lastSeen.map { String($0.prefix(10)) } ?? "never",
      ])
    }
    return aligned(rows)
  }

  /// All pages of a list: lines of JSON with `--json`, else a table, with the names of the included users by id.
  static func printList(
    _ settings: Settings, of path: String, from client: ControlClient, query: String = "",
    _ table: (_ items: [JSONValue], _ names: [String: String]) throws -> String
  ) async throws -> Outcome {
    var items: [JSONValue] = []
    var names: [String: String] = [:]
    var next: String?
    repeat {
      var page = try await client.response(.get, "\(path)?limit=100\(query)" + (next.map { "&next=\($0)" } ?? ""))
      items += try page.value("data").array()
      if var included: JSONObject = try page.optional("included", { value throws(JSONError) in try value.object() }) {
        for user in try included.value("users").array() {
          var user = try user.object()
          names[try user.string("id")] = try user.optional("name")
        }
      }
      next = try page.optional("next")
    } while next != nil
    if settings.isOn(.json) {
      return Outcome(.success, items.map { String(decoding: $0.raw.bytes, as: UTF8.self) }.joined(separator: "\n"))
    }
    return Outcome(.success, try table(items, names))
  }

  /// The rows with their columns below each other.
  static func aligned(_ rows: [[String]]) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row.dropLast(), widths).map { $0 + String(repeating: " ", count: $1 - $0.count + 2) }.joined()
        + (row.last ?? "")
    }.joined(separator: "\n")
  }

  @Sendable private static func setRole(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let (name, role) = (settings.operands[0], settings.operands[1])
    let keepsSessions = settings.isOn(.keepUserSessions)
    try await update(name, client) { json in
      json.field("role", role)
      json.field("end_sessions", !keepsSessions)
    }
    let ended = keepsSessions ? "" : " The sessions and tokens of before have ended."
    return Outcome(.success, "\(name) now has role \(role).\(ended)")
  }

  @Sendable private static func disable(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let name = settings.operands[0]
    try await update(name, client) { json in json.field("disabled", true) }
    return Outcome(.success, "Disabled \(name) and revoked all sessions.")
  }

  @Sendable private static func enable(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let name = settings.operands[0]
    try await update(name, client) { json in json.field("disabled", false) }
    return Outcome(.success, "Enabled \(name).")
  }

  private static func update(
    _ name: String, _ client: ControlClient, _ members: (inout JSONWriter) -> Void
  ) async throws {
    _ = try await client.response(.patch, try path(name)) { json in
      members(&json)
      json.field("reason", "Changed by the operator.")
    }
  }

  @Sendable private static func createPasswordReset(_ settings: Settings, _ client: ControlClient) async throws
    -> Outcome
  {
    let name = settings.operands[0]
    if settings.isOn(.secondFactor) {
      _ = try await client.response(.post, try path(name) + "/reset-second-factor")
      return Outcome(.success, "\(name) signs in with the password alone, until they set up two-step sign-in again.")
    }
    var response = try await client.response(.post, try path(name) + "/reset")
    return Outcome(.success, try response.string("url"))
  }

  @Sendable private static func listIdentities(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    try await printList(settings, of: try path(settings.operands[0]) + "/identities", from: client) { accounts, _ in
      var rows = [["ID", "SERVICE", "NAME", "SINCE", "LAST USED"]]
      for account in accounts {
        var account = try account.object()
        let lastUsed: String? = try account.optional("last_used_at")
        rows.append([
          try account.string("id"), Terminal.plain(try account.string("issuer_name")),
          Terminal.plain(try account.string("name")), String(try account.string("created_at").prefix(10)),
          lastUsed.map { String($0.prefix(10)) } ?? "never",
        ])
      }
      return aligned(rows)
    }
  }

  @Sendable private static func recover(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let name = settings.operands[0]
    var response = try await client.response(.post, try path(name) + "/recover") { json in
      if let kept = settings.text(.keepIdentity) { json.field("keep_identity", kept) }
    }
    guard var link: JSONObject = try response.optional("link", { value throws(JSONError) in try value.object() }) else {
      return Outcome(.success, "\(name) signs in with the linked account that stays.")
    }
    return Outcome(.success, try link.string("url"))
  }

  /// The path of a user in the operator's API.
  static func path(_ name: String, in folder: String = "/users") throws(Settings.UsageError) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard isPlain, !name.isEmpty else { throw Settings.UsageError(message: "\"\(name)\" is not a valid name.") }
    return "\(folder)/@\(name)"
  }
}
