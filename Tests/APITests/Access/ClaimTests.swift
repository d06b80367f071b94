import OIDC
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Claims of imported users by accounts at providers, and by mail.
@Suite struct ClaimTests {
  @discardableResult
  private func addImported(
    _ name: String, _ key: String, from source: String = "discord", email: String? = nil, in village: Village
  ) async throws -> ID<User> {
    try await village.community.store.write { tx throws(Refusal) in
      var user = NewUser(name: name, role: .member)
      user.isImported = true
      let id = try tx.add(user)
      try tx.noteImported(.user, key, from: source, as: id.number, email: email)
      return id
    }
  }

  /// The form after a sign-in at an issuer, and its cookie.
  private func form(
    _ subject: String, at issuer: Issuer, in village: Village
  ) async throws -> (text: String, cookie: String) {
    let started = try await village.page("/oidc/\(issuer.id)")
    let answer = try await OpenIDProvider.finish(started, with: subject, at: issuer, as: nil, in: village)
    try #require(answer.fields["location"] == "/oidc/\(issuer.id)/sign-up", "\(answer.text)")
    let cookie = try #require(answer.fields["set-cookie"]?.split(separator: ";").first.map(String.init))
    return (try await village.page("/oidc/\(issuer.id)/sign-up", fields: ["Cookie": cookie]).text, cookie)
  }

  /// Signs up with a name. Returns the id of the user.
  private func signUp(
    _ subject: String, at issuer: Issuer, named name: String, in village: Village
  ) async throws -> String? {
    let cookie = try await form(subject, at: issuer, in: village).cookie
    let answer = try await village.submit(
      "/oidc/\(issuer.id)/sign-up", "name=\(name)", fields: ["Cookie": cookie, "Origin": village.origin])
    try #require(answer.status == 303, "\(answer.text)")
    return try await village.rows("select cast(id as text) from account where name = '\(name)'").first
  }

  @Test(arguments: ["open", "invite", "approval"])
  func `the account at Discord claims the user of an import`(registration: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": registration])
      let emil = try await addImported("emil", "80351110224678912", in: village)
      let page = try await form("80351110224678912", at: OpenIDProvider.discord, in: village).text
      #expect(page.contains("data-claim") && page.contains(#"value="emil""#))
      let id = try await signUp("80351110224678912", at: OpenIDProvider.discord, named: "emil", in: village)
      #expect(id == "\(emil)")
      let user = try await village.expect(200, .get, "/users/@emil", as: "ada")
      #expect(user["state"] == "active" && user.bool("imported") == false)
      // Once: the next sign-in is that of the account.
      let started = try await village.page("/oidc/discord")
      let again = try await OpenIDProvider.finish(
        started, with: "80351110224678912", at: OpenIDProvider.discord, as: nil, in: village)
      #expect(again.status == 303 && again.fields["location"] == "/")
    }
  }

  @Test func `a verified address claims the user of an import, under a new name, too`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "open"])
      let emil = try await addImported("emil", "7", from: "discourse", email: "Emil@Example.org", in: village)
      let id = try await signUp("w-1 emil@example.org", at: OpenIDProvider.issuer, named: "emil.k", in: village)
      #expect(id == "\(emil)")
    }
  }

  enum Stranger: CaseIterable, Sendable {
    case unverified, otherAddress, otherIssuer, notNamed, banned, ambiguous, claimed, promoted
  }

  @Test(arguments: Stranger.allCases) func `a stranger claims no user of an import`(stranger: Stranger) async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "open"])
      let emil = try await addImported("emil", "80351110224678912", email: "emil@example.org", in: village)
      var (subject, issuer) = ("w-1 emil@example.org", OpenIDProvider.issuer)
      switch stranger {
      case .unverified: (subject, issuer) = ("d-1 ?emil@example.org", OpenIDProvider.discord)
      case .otherAddress: subject = "w-1 emil@example.com"
      // The same subject elsewhere is another person.
      case .otherIssuer: subject = "80351110224678912"
      // The settings name the other provider alone.
      case .notNamed: (subject, issuer) = ("d-1 emil@example.org", OpenIDProvider.discord)
      case .banned: try await village.expect(200, .put, "/users/@emil/ban", as: "ada", ["reason": "spam"])
      case .ambiguous: try await addImported("emil_2", "8", from: "slack", email: "emil@example.org", in: village)
      case .promoted:
        try await village.expect(200, .patch, "/users/@emil", as: "ada", ["role": "moderator", "end_sessions": false])
      case .claimed:
        #expect(try await signUp(subject, at: issuer, named: "emil", in: village) == "\(emil)")
        subject = "w-2 emil@example.org"
      }
      if stranger == .unverified {
        let started = try await village.page("/oidc/discord")
        let answer = try await OpenIDProvider.finish(started, with: subject, at: issuer, as: nil, in: village)
        #expect(answer.status == 400)
        return
      }
      #expect(try await !form(subject, at: issuer, in: village).text.contains("data-claim"))
      let taken = try await form(subject, at: issuer, in: village).cookie
      let refused = try await village.submit(
        "/oidc/\(issuer.id)/sign-up", "name=emil", fields: ["Cookie": taken, "Origin": village.origin])
      #expect(refused.status == 400)
      let made = try await signUp(subject, at: issuer, named: "stranger", in: village)
      #expect(made != nil && made != "\(emil)")
    }
  }

  @Test func `a mail to the address of the source has a link that claims the user`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "invite"])
      let emil = try await addImported("emil", "7", from: "discourse", email: "emil@example.org", in: village)
      // The answers are those for an unknown address, and the name alone sends nothing.
      let known = try await village.expect(202, .post, "/password-resets", ["login": "EMIL@example.org"])
      let unknown = try await village.expect(202, .post, "/password-resets", ["login": "nobody@example.org"])
      #expect(known.text == unknown.text)
      try await village.expect(202, .post, "/password-resets", ["login": "emil"])
      let sent = await village.mail()
      try #require(sent.map(\.to.description) == ["emil@example.org"])
      let code = try #require(sent[0].code(of: "i"))
      let link = try await village.expect(200, .get, "/links/\(code)")
      #expect(link["kind"] == "invite" && link["user.name"] == "emil")
      let password = "wool and needles"
      let made = try await village.expect(201, .post, "/users", ["name": "emil", "password": password, "invite": code])
      #expect(made["user.id"] == "\(emil)")
      // The link and the address are of no more use.
      #expect(try await village.request(.get, "/links/\(code)").status == 410)
      try await village.expect(202, .post, "/password-resets", ["login": "emil@example.org"])
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `an address gets three mails a day, and they are no invites of the owner`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.changeSettings(["registration": "invite"])
      let emil = try await addImported("emil", "7", from: "discourse", email: "emil@example.org", in: village)
      try await addImported("zoe", "8", from: "discourse", email: "zoe@example.org", in: village)
      let login = ["login": "emil@example.org"]
      var times: [Int] = []
      var codes: [String] = []
      for minute in stride(from: 0, to: 1_455, by: 5) {
        try await village.expect(202, .post, "/password-resets", login)
        for mail in await village.mail() {
          times.append(minute)
          codes += [mail.code(of: "i")].compactMap(\.self)
        }
        clock.add(300_000)
      }
      #expect(times == [0, 5, 10, 1_450], "\(times)")
      #expect(times.count == MailDeliverer.maxClaims + 1)
      // Another user is not concerned.
      try await village.expect(202, .post, "/password-resets", ["login": "zoe@example.org"])
      #expect(await village.mail().count == 1)
      #expect(try await village.expect(200, .get, "/invites", as: "ada").count("data") == 0)
      let owner = village.user("ada")
      let count = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.openInviteCount(of: owner)
      }
      #expect(count == 0)
      #expect(try await village.request(.get, "/links/\(codes.last ?? "")").status == 200)
      // The last link of a day works as long as no other is sent.
      clock.add(82_800_000)
      #expect(try await village.request(.get, "/links/\(codes.last ?? "")").status == 200)
      // The pause of claims ends with the claim: the new password can be reset at once.
      try await village.expect(
        201, .post, "/users", ["name": "emil", "password": "wool and needles", "invite": codes.last ?? ""])
      let waiting = "select topic from mail_delivery where topic = 'reset' and user_id = \(emil)"
      #expect(try await village.rows(waiting).isEmpty)
    }
  }

  @Test func `no mail offers a claim while registration is closed`() async throws {
    try await Village.open(.inMemory) { village in
      try await addImported("emil", "7", from: "discourse", email: "emil@example.org", in: village)
      try await village.changeSettings(["registration": "closed"])
      try await village.expect(202, .post, "/password-resets", ["login": "emil@example.org"])
      #expect(await village.mail().isEmpty)
    }
  }
}
