import ParleyJSON

extension Command {
  /// Prints only the token, for scripts.
  static let token = Command.control(
    "token", operands: ["NAME"], summary: "print an API token for a program that acts as NAME",
    settings: [.scope, .name, .expires], help: Help.token
  ) { settings, client in
    let expires = try settings.timestamp(.expires)
    var response = try await client.response(.post, try UserCommand.path(settings.operands[0]) + "/tokens") { json in
      json.field("name", settings.text(.name) ?? "parley token")
      json.field("scope", settings.text(.scope) ?? "read")
      if let expires { json.field("expires_at", expires) }
    }
    return Outcome(.success, try response.string("token"))
  }
}
