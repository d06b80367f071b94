// `parley token`: prints the token alone, for scripts.

import ParleyJSON

enum TokenCommand {
  static let command = HostCommand(
    name: "token", operands: ["NAME"], settings: [.scope, .name, .expires]
  ) { settings, client in
    let expires = try settings.moment(.expires)
    var answer = try await client.answer(.post, try UserCommand.path(settings.operands[0]) + "/tokens") { json in
      json.field("name", settings.text(.name) ?? "parley token")
      json.field("scope", settings.text(.scope) ?? "read")
      if let expires { json.field("expires_at", expires) }
    }
    return Outcome(.well, try answer.string("token"))
  }
}
