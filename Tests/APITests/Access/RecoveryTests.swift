import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// The recovery of a stolen account by the staff.
@Suite struct RecoveryTests {
  /// A thief has set up all ways to sign in as grace.
  private func steal(_ village: Village, _ clock: StoppedClock) async throws -> (session: String, identity: String) {
    let session = try #require(try await village.signIn("grace", "grace’s password")["token"])
    let identity = try await OpenIDProvider.link("thief", to: "grace", in: village)
    _ = try await PasskeyDevice.registered(village, for: "grace")
    try await village.confirmEmail("thief@example.org", of: "grace")
    _ = try await AuthenticatorApp(village, clock, for: "grace", ["keep_sessions": true])
    return (session, identity)
  }

  @Test func `nothing of the thief signs in any more`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (session, identity) = try await steal(village, clock)
      let accounts = try await village.expect(200, .get, "/users/@grace/identities", as: "ada")
      #expect(accounts.texts("data", "id") == [identity] && accounts.texts("data", "issuer") == ["work"])
      _ = await village.mail()
      let made = try await village.expect(201, .post, "/users/@grace/recover", as: "ada")
      let code = try #require(made["link.code"])
      #expect(made["link.url"]?.hasSuffix("/reset/\(code)") == true)
      let fields: Fields = ["Authorization": "Bearer \(session)"]
      #expect(try await village.request(.get, "/me", fields: fields).code == "session_ended")
      let password = ["name": "grace", "password": "grace’s password"]
      #expect(try await village.request(.post, "/sessions", password).status == 401)
      for table in ["identity", "passkey", "totp", "recovery_code", "session", "app_grant"] {
        let left = try await village.rows(
          "select 'one' from \(table) where user_id = \(village.user("grace"))")
        #expect(left.isEmpty, "\(table)")
      }
      #expect(try await village.rows("select address from email where address is not null").isEmpty)
      let started = try await village.page("/oidc/work")
      #expect(try await OpenIDProvider.finish(started, with: "thief", as: nil, in: village).status != 303)
      let audit = try await village.request(.get, "/audit?kind=user.recovered", as: "ada")
      #expect(audit.count("data") == 1 && audit.texts("data", "subject_id") == [village.id("grace")])
      // The user signs in with the link, without a second step.
      let opened = try await village.expect(201, .post, "/links/\(code)", ["password": "a new password of grace"])
      #expect(opened["token"] != nil)
      #expect(await village.mail().isEmpty, "the thief gets no mail")
      try await village.expect(201, .post, "/sessions", ["name": "grace", "password": "a new password of grace"])
    }
  }

  @Test func `what the thief has made gives no access any more`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("ben", .admin)
      let (_, room) = try await village.garden(members: ["ben"])
      func made(_ path: String, _ body: [String: Any], _ field: String, as name: String = "ben") async throws -> String
      {
        try #require(try await village.expect(201, .post, path, as: name, body)[field])
      }
      let invite = try await made("/invites", ["role": "member"], "code")
      let bot = try await made("/bots", ["name": "dice", "scope": "write"], "token")
      let child = try #require(
        try await village.request(
          .post, "/me/tokens", ["name": "child", "scope": "read"], fields: ["Authorization": "Bearer \(bot)"])["token"])
      let hook = try #require(
        try await made("/webhooks", ["conversation_id": room, "name": "CI"], "url").split(separator: "/").last)
      let draft: [String: Any] = ["name": "x", "url": "https://example.org/", "topics": ["me"]]
      let endpoint = try await made("/webhook-endpoints", draft, "id")
      let command = try await SlashCommandTests.create(as: "ben", in: village).id
      let reset = try await made("/users/@grace/reset", [:], "code")
      // Invites and bots of others stay.
      let others = (
        invite: try await made("/invites", ["role": "member"], "code", as: "ada"),
        bot: try await made("/bots", ["name": "coin", "scope": "write"], "token", as: "ada")
      )
      func state(_ token: String) async throws -> Int {
        try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"]).status
      }
      #expect(try await state(bot) == 200)
      #expect(try await state(child) == 200)
      #expect(try await village.request(.post, "/hooks/\(hook)", ["text": "built"]).status < 300)
      try await village.expect(200, .get, "/links/\(invite)")

      try await village.expect(201, .post, "/users/@ben/recover", as: "ada")
      #expect(try await state(bot) == 401)
      #expect(try await state(child) == 401)
      #expect(try await village.request(.post, "/hooks/\(hook)", ["text": "built"]).status == 404)
      try await village.expect(410, .get, "/links/\(invite)")
      #expect(try await village.request(.get, "/links/\(reset)").status == 404)
      for path in ["/webhook-endpoints/\(endpoint)", "/commands/\(command)"] {
        let disabled = try await village.expect(200, .get, path, as: "ada")
        #expect(disabled.bool("enabled") == false && disabled["disabled_reason"] == "owner_inactive")
      }
      #expect(try await state(others.bot) == 200)
      try await village.expect(200, .get, "/links/\(others.invite)")
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  @Test func `the device of the thief is a new one`() async throws {
    try await Village.open(.inMemory) { village in
      let cookie = try await SignInTests.deviceCookie(of: "grace", "grace’s password", in: village)
      let made = try await village.expect(201, .post, "/users/@grace/recover", as: "ada")
      try await village.expect(201, .post, "/links/\(made["link.code"] ?? "")", ["password": "a new password of grace"])
      let notices = try await village.rows("select 'one' from notification where kind = 'sign_in'").count
      _ = try await SignInTests.deviceCookie(of: "grace", "a new password of grace", "phone", cookie, in: village)
      #expect(try await village.rows("select 'one' from notification where kind = 'sign_in'").count == notices + 1)
    }
  }

  @Test func `a linked account may stay`() async throws {
    try await Village.open(.inMemory) { village in
      let mine = try await OpenIDProvider.link("g-1", to: "grace", in: village)
      try await OpenIDProvider.link("thief", to: "grace", in: village)
      let unknown = try await village.request(.post, "/users/@grace/recover", as: "ada", ["keep_identity": "1"])
      #expect(unknown.status == 400 && unknown.code == "invalid")
      try await OpenIDProvider.link("l-1", to: "linus", in: village)
      let other = try await village.rows("select cast(id as text) from identity where subject = 'l-1'")[0]
      let foreign = try await village.request(.post, "/users/@grace/recover", as: "ada", ["keep_identity": other])
      #expect(foreign.status == 400)
      try await village.expect(201, .post, "/users/@grace/recover", as: "ada", ["keep_identity": mine])
      let left = try await village.expect(200, .get, "/users/@grace/identities", as: "ada")
      #expect(left.texts("data", "id") == [mine])
      let started = try await village.page("/oidc/work?back=/forums")
      let answer = try await OpenIDProvider.finish(started, with: "g-1", as: nil, in: village)
      #expect(answer.status == 303 && answer.fields["location"] == "/forums")
    }
  }

  @Test func `the staff recovers users below their rank alone`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("ben", .admin)
      for (caller, user) in [("mira", "grace"), ("grace", "linus"), ("ben", "ada"), ("ada", "ada")] {
        for (method, path) in [(Method.post, "recover"), (.get, "identities")] where caller != user || method == .post {
          let refused = try await village.request(method, "/users/@\(user)/\(path)", as: caller)
          #expect(refused.status == 403, "\(caller) \(user) \(path)")
        }
      }
      #expect(try await village.request(.post, "/users/@robo/recover", as: "ada").status == 409)
      try await village.setState("grace", in: .disabled)
      #expect(try await village.request(.post, "/users/@grace/recover", as: "ada").status == 409)
    }
  }
}
