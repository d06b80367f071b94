import ParleyJSON

extension Command {
  /// Prints only the token, for scripts.
  static let token = Command.control(
    "token", operands: ["NAME"], summary: "print an API token for a program that acts as NAME",
    settings: [.scope, .name, .onlyForum, .tokenRate, .expires], operations: ["createToken"], help: Help.token
  ) { settings, client in
    let expires = try settings.timestamp(.expires)
    let limits = try TokenFlags(settings)
    var response = try await client.response(.post, try UserCommand.path(settings.operands[0]) + "/tokens") { json in
      json.field("name", settings.text(.name) ?? "parley token")
      json.field("scope", settings.text(.scope) ?? "read")
      limits.write(to: &json)
      if let expires { json.field("expires_at", expires) }
    }
    return Outcome(.success, try response.string("token"))
  }
}

/// The limits that flags give a token.
struct TokenFlags {
  private let forums: [String]
  private let rate: Int?

  init(_ settings: Settings) throws {
    forums = settings.all(.onlyForum)
    rate = try settings.number(.tokenRate, in: 1...100_000)
  }

  var areNone: Bool { forums.isEmpty && rate == nil }

  func write(to json: inout JSONWriter) {
    if !forums.isEmpty { json.field("forums", forums) }
    if let rate { json.field("rate_limit", rate) }
  }
}
