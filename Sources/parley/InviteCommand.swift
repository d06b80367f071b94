// `parley invite`: prints the link alone, for scripts.

import ParleyJSON

enum InviteCommand {
  static let command = HostCommand(
    name: "invite", settings: [.role, .uses, .expires, .forum]
  ) { settings, client in
    let uses = try settings.number(.uses, in: 1...10_000)
    let expires = try settings.moment(.expires)
    var answer = try await client.answer(.post, "/invites") { json in
      if let role = settings.text(.role) { json.field("role", role) }
      if let uses { json.field("max_uses", uses) }
      if let expires { json.field("expires_at", expires) }
      if let forum = settings.text(.forum) { json.field("forum_id", forum) }
    }
    return Outcome(.well, try answer.string("url"))
  }
}
