import ParleyJSON
import ParleyKit
import ParleyModel

/// Coming and going.
extension TalkCommand {
  private static let fingerprint = Setting(
    name: "fingerprint", value: "SHA256", meaning: "the server's own certificate, where nobody has signed it",
    isFlagOnly: true)
  private static let force = Setting(
    name: "force", value: nil, meaning: "let go of what was not sent yet", isFlagOnly: true)

  static let login = TalkCommand(
    name: "login", usage: "SERVER NAME [--fingerprint SHA256] [--force]",
    meaning: "Signs in with a password, which is the first line of standard input, and keeps the session.",
    operands: ["SERVER", "NAME"], settings: [fingerprint, force]
  ) { settings in
    let (server, name) = (settings.operands[0], settings.operands[1])
    let client = try Desk.client(server, token: nil, fingerprint: settings.text(fingerprint))
    guard let password = Terminal.secret("Password: "), !password.isEmpty else {
      throw Settings.Mistake(sentence: "There is no password on standard input.")
    }
    let path = try Desk.path(settings)
    let answer: Resource<SignedIn>
    do throws(ClientFault) {
      answer = try await client.send(
        Request<Resource<SignedIn>>.signIn(name, password: password, device: "parley").unsigned())
    } catch {
      if error.isSignedOut { return Outcome(.wrong, "\(client.server) knows nobody named \(name) with this password.") }
      guard case .untrusted = error else { throw error }
      return Outcome(
        .impossible,
        "\(error.sentence) --fingerprint SHA256 names its certificate; without one, its address begins with http://.")
    }
    guard let token = answer.token else {
      throw ClientFault.notUnderstood("a session without a token")
    }
    client.token = token
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try Folder.make(String(path[..<slash])) }
    let profile = Desk.Profile(
      server: client.server.origin, token: token, fingerprint: settings.text(fingerprint),
      person: answer.person.account.id.description)
    if let unsent = try await Desk.makeRoom(for: profile, at: path, isForced: settings.isOn(force)) {
      try await client.send(.endSession("current"))
      return Outcome(.wrong, "\(unsent) Whoever was signed in before can do that; --force lets it go.")
    }
    try Folder.write(profile.bytes, to: path)
    return Outcome(.well, "Signed in at \(client.server) as \(name).")
  }

  static let logout = TalkCommand(
    name: "logout", usage: "[--force]",
    meaning: "Ends the session at the server, and forgets it here, with all that was kept of the place.",
    settings: [force]
  ) { settings in
    let desk = try Desk(settings)
    if !settings.isOn(force), let unsent = try await desk.unsent {
      return Outcome(.wrong, "\(unsent) parley sync sends what waits; --force lets it go.")
    }
    try Folder.remove(try Desk.path(settings))
    try desk.forgetCopy()
    do throws(ClientFault) {
      try await desk.client.send(.endSession("current"))
    } catch {
      guard error.isSignedOut else {
        return Outcome(.wrong, "It is forgotten here, but the server did not hear of it: \(error.sentence)")
      }
    }
    return Outcome(.well, "Signed out.")
  }

  static let whoami = TalkCommand(
    name: "whoami", usage: "[--json]", meaning: "Says who is signed in, and where.", settings: [.json]
  ) { settings in
    let desk = try Desk(settings)
    func tell(_ person: Person) -> Outcome {
      Outcome(.well, "\(person.account.name ?? "nobody") at \(desk.client.server) (\(person.account.role.rawValue))")
    }
    do {
      let person = try await desk.client.send(.person(.me))
      return settings.isOn(.json) ? lines([person.representation]) : tell(person.value)
    } catch let fault as ClientFault where fault.isTemporary {
      guard let me = await (try desk.parley)?.cache.replica.me else { throw fault }
      complainOfAge(fault)
      return settings.isOn(.json) ? lines([raw(me)]) : tell(me)
    }
  }
}
