import ParleyJSON

extension Command {
  /// Prints only the link, for scripts.
  static let invite = Command.control(
    "invite", summary: "print an invite link", settings: [.role, .uses, .expires, .forum, .claims],
    operations: ["createInvite"], help: Help.invite
  ) { settings, client in
    let uses = try settings.number(.uses, in: 1...10_000)
    let expires = try settings.timestamp(.expires)
    var response = try await client.response(.post, "/invites") { json in
      if let role = settings.text(.role) { json.field("role", role) }
      if let uses { json.field("max_uses", uses) }
      if let expires { json.field("expires_at", expires) }
      if let forum = settings.text(.forum) { json.field("forum_id", forum) }
      if let name = settings.text(.claims) { json.field("user_id", name.hasPrefix("@") ? name : "@\(name)") }
    }
    return Outcome(.success, try response.string("url"))
  }
}
