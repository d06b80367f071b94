import Mail
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct EmailTests {
  @Test func `an address counts once its link was opened`() async throws {
    try await Village.open(.inMemory) { village in
      var email = try await village.expect(200, .get, "/me/email", as: "grace")
      #expect(email.isNull("address") && email.isNull("pending") && email.isNull("stopped_at"))
      email = try await village.expect(200, .put, "/me/email", as: "grace", ["address": "grace@Example.org"])
      #expect(email.isNull("address") && email["pending"] == "grace@example.org")
      let sent = await village.mail()
      try #require(sent.count == 1)
      #expect(sent[0].to.description == "grace@example.org" && sent[0].subject.contains("Confirm"))
      #expect(sent[0].unsubscribe == nil)
      let code = try #require(sent[0].code(of: "email"))
      // The code alone confirms nothing: a mistyped address belongs to a stranger.
      try await village.expect(401, .post, "/email-confirmations", ["code": code])
      try await village.expect(404, .post, "/email-confirmations", as: "linus", ["code": code])
      email = try await village.expect(200, .post, "/email-confirmations", as: "grace", ["code": code])
      #expect(email["address"] == "grace@example.org" && email.isNull("pending"))
      try await village.expect(404, .post, "/email-confirmations", as: "grace", ["code": code])
      #expect(try await village.expect(200, .get, "/me/email", as: "grace")["address"] == "grace@example.org")
      // Others do not see it, staff included.
      #expect(try await !village.expect(200, .get, "/users/@grace", as: "ada").text.contains("example.org"))
      #expect(await village.mail().isEmpty)
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  @Test(arguments: [
    "grace", "grace@", "@example.org", "a b@example.org", "grace@example.org\r\nBcc: eve@example.org",
    "gräce@example.org",
  ])
  func `what is no address is refused`(address: String) async throws {
    try await Village.open(.inMemory) { village in
      let answer = try await village.expect(400, .put, "/me/email", as: "grace", ["address": address])
      #expect(answer["errors.0.field"] == "address")
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `a link works for a day`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let code = try await village.emailCode("grace@example.org", of: "grace")
      clock.add(86_400_000)
      try await village.expect(410, .post, "/email-confirmations", as: "grace", ["code": code])
    }
  }

  @Test func `another address replaces the one that waits, and voids its link`() async throws {
    try await Village.open(.inMemory) { village in
      let first = try await village.emailCode("one@example.org", of: "grace")
      try await village.expect(200, .put, "/me/email", as: "grace", ["address": "two@example.org"])
      try await village.expect(200, .put, "/me/email", as: "grace", ["address": "three@example.org"])
      let sent = await village.mail()
      #expect(sent.map(\.to.description) == ["three@example.org"])
      try await village.expect(404, .post, "/email-confirmations", as: "grace", ["code": first])
    }
  }

  @Test func `a change is told to the earlier address`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("old@example.org", of: "grace")
      let code = try await village.emailCode("new@example.org", of: "grace")
      #expect(try await village.expect(200, .get, "/me/email", as: "grace")["address"] == "old@example.org")
      try await village.expect(200, .post, "/email-confirmations", as: "grace", ["code": code])
      let notices = await village.mail()
      #expect(notices.map(\.to.description) == ["old@example.org"] && notices[0].subject.contains("was changed"))
      try await village.expect(204, .delete, "/me/email", as: "grace")
      try await village.expect(204, .delete, "/me/email", as: "grace")
      #expect(await village.mail().map(\.to.description) == ["new@example.org"])
      #expect(try await village.expect(200, .get, "/me/email", as: "grace").isNull("address"))
    }
  }

  @Test(arguments: [nil, false, true]) func `a changed address ends other sessions, unless they are kept`(
    keeps: Bool?
  ) async throws {
    try await Village.open(.inMemory) { village in
      let first = try #require(try await village.signIn("grace", "grace’s password")["token"])
      let token = try await village.token("grace", .write)
      func isAlive(_ token: String) async throws -> Bool {
        try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"]).status == 200
      }
      // A first address is no change.
      try await village.confirmEmail("old@example.org", of: "grace")
      for credential in [first, token] { #expect(try await isAlive(credential)) }
      let code = try await village.emailCode("new@example.org", of: "grace")
      var body: [String: Any] = ["code": code]
      if let keeps { body["keep_sessions"] = keeps }
      try await village.expect(200, .post, "/email-confirmations", as: "grace", body)
      for credential in [first, token] { #expect(try await isAlive(credential) == (keeps == true)) }
      try await village.expect(200, .get, "/me", as: "grace")
    }
  }

  @Test func `a new role is told to its user by mail`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await village.confirmEmail("ada@example.org", of: "ada")
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["role": "moderator", "end_sessions": false])
      try await village.expect(200, .patch, "/users/@linus", as: "ada", ["role": "guest", "end_sessions": false])
      let sent = await village.mail()
      #expect(sent.map(\.to.description) == ["grace@example.org"])
      #expect(sent.first?.subject.contains("role") == true)
    }
  }

  @Test(arguments: [false, true]) func `a deleted address ends other sessions, as a changed one does`(
    isKept: Bool
  ) async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      let session = try #require(try await village.signIn("grace", "grace’s password")["token"])
      let token = try await village.token("grace", .read)
      let body: [String: Any]? = isKept ? ["keep_sessions": true] : nil
      try await village.expect(204, .delete, "/me/email", as: "grace", body)
      for credential in [session, token] {
        let answer = try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(credential)"])
        #expect(answer.status == (isKept ? 200 : 401), "\(answer.text)")
      }
      // The next address is a first one.
      try await village.confirmEmail("other@example.org", of: "grace")
      try await village.expect(200, .get, "/me", as: "grace")
    }
  }

  @Test func `a deleted address that was never confirmed ends no session`() async throws {
    try await Village.open(.inMemory) { village in
      let session = try #require(try await village.signIn("grace", "grace’s password")["token"])
      _ = try await village.emailCode("grace@example.org", of: "grace")
      try await village.expect(204, .delete, "/me/email", as: "grace")
      #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(session)"]).status == 200)
    }
  }

  @Test func `a deleted address still gets the notices of what happened before`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "app", "scope": "write"])
      let notice = try #require(try await village.expect(200, .get, "/inbox", as: "grace")["data.0.id"])
      // Reading the notice hides it from the inbox alone.
      try await village.expect(200, .put, "/inbox/read", as: "grace", ["up_to": notice])
      try await village.expect(204, .delete, "/me/email", as: "grace")
      let sent = await village.mail()
      #expect(sent.map(\.to.description) == ["grace@example.org", "grace@example.org"])
      #expect(
        sent.contains { $0.subject.contains("New access token") }
          && sent.contains { $0.subject.contains("was changed") })
    }
  }

  @Test func `a reset link ends with the address that it was sent to`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("old@example.org", of: "grace")
      try await village.expect(202, .post, "/password-resets", ["login": "grace"])
      let link = try #require(await village.mail().first?.code(of: "reset"))
      try await village.expect(200, .get, "/links/\(link)")
      try await village.confirmEmail("new@example.org", of: "grace")
      try await village.expect(404, .get, "/links/\(link)")
    }
  }

  @Test func `the confirmed address, set again, voids the one that waits`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      let wrong = try await village.emailCode("grcae@example.org", of: "grace")
      let email = try await village.expect(200, .put, "/me/email", as: "grace", ["address": "grace@example.org"])
      #expect(email.isNull("pending") && email["address"] == "grace@example.org")
      try await village.expect(404, .post, "/email-confirmations", as: "grace", ["code": wrong])
    }
  }

  @Test func `it needs a session and a new proof`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let token = try #require(
        try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "app", "scope": "admin"])["token"])
      let byToken = try await village.request(
        .put, "/me/email", ["address": "grace@example.org"], fields: ["Authorization": "Bearer \(token)"])
      #expect(byToken.status == 403)
      // A stranger who got the link of a mistyped address and has a stolen token, too.
      let code = String(repeating: "a", count: 64)
      let confirmed = try await village.request(
        .post, "/email-confirmations", ["code": code], fields: ["Authorization": "Bearer \(token)"])
      #expect(confirmed.status == 403 && confirmed.code == "forbidden")
      try await village.expect(404, .post, "/email-confirmations", as: "grace", ["code": code])
      clock.add(600_000)
      let late = try await village.expect(403, .put, "/me/email", as: "grace", ["address": "grace@example.org"])
      #expect(late["code"] == "step_up_required")
    }
  }

  @Test func `a user asks for few confirmations a day`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      for number in 1...10 {
        try await village.expect(200, .put, "/me/email", as: "grace", ["address": "a\(number)@example.org"])
        // Deleting the address does not begin anew.
        if number == 5 { try await village.expect(204, .delete, "/me/email", as: "grace") }
      }
      try await village.expect(429, .put, "/me/email", as: "grace", ["address": "a11@example.org"])
    }
  }

  @Test func `without a mail server it says so`() async throws {
    try await Village.open(.inMemory, pushes: false) { village in
      let server = try await village.expect(200, .get, "/server")
      #expect(server.text.contains("\"mail\":false"))
      #expect(
        try await village.expect(403, .put, "/me/email", as: "grace", ["address": "a@example.org"])["code"]
          == "mail_off")
      #expect(try await village.expect(403, .post, "/password-resets", ["login": "grace"])["code"] == "mail_off")
    }
  }

  @Test func `erasing a user erases the address`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await village.expect(200, .put, "/me/email", as: "grace", ["address": "other@example.org"])
      try await village.expect(
        200, .delete, "/users/me", as: "grace", ["password": "grace’s password", "how": "erase"])
      let left = try await village.community.store.readInBackground { tx throws(Refusal) in
        (try tx.users(withEmail: "grace@example.org", limit: 5), try tx.waitingMailCount())
      }
      #expect(left.0.isEmpty && left.1 == 0)
      #expect(await village.mail().isEmpty)
    }
  }
}

@Suite struct PasswordResetTests {
  @Test(arguments: ["grace", "GRACE", "grace@example.org", "Grace@EXAMPLE.org"])
  func `a link by mail sets the password`(login: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await village.expect(202, .post, "/password-resets", ["login": login])
      let sent = await village.mail()
      try #require(sent.count == 1)
      let code = try #require(sent[0].code(of: "reset"))
      try await village.expect(201, .post, "/links/\(code)", ["password": "a new password 7"])
      try await village.expect(410, .post, "/links/\(code)", ["password": "a new password 8"])
      try await village.expect(201, .post, "/sessions", ["name": "grace", "password": "a new password 7"])
      let notices = await village.mail()
      #expect(notices.contains { $0.subject.contains("password") && $0.subject.contains("was changed") })
    }
  }

  @Test(arguments: ["nobody-here", "linus", "none@example.org", "robo", "system"])
  func `the answer does not tell whether there is a user`(login: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      let known = try await village.expect(202, .post, "/password-resets", ["login": "grace"])
      let other = try await village.expect(202, .post, "/password-resets", ["login": login])
      #expect(known.text == other.text)
      let sent = await village.mail()
      #expect(sent.map(\.to.description) == ["grace@example.org"])
    }
  }

  @Test func `a mailbox gets one link in five minutes`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      for _ in 0..<3 {
        try await village.expect(202, .post, "/password-resets", ["login": "grace"])
        try await village.expect(202, .post, "/password-resets", ["login": "grace@example.org"])
      }
      #expect(await village.mail().count == 1)
      try await village.expect(202, .post, "/password-resets", ["login": "grace"])
      #expect(await village.mail().isEmpty)
      clock.add(300_000)
      try await village.expect(202, .post, "/password-resets", ["login": "grace"])
      #expect(await village.mail().count == 1)
    }
  }

  @Test func `requests of strangers void no link and do not fill a mailbox`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      var codes: [String] = []
      // For two hours, a request every five minutes.
      for _ in 0..<24 {
        try await village.expect(202, .post, "/password-resets", ["login": "grace"])
        codes += await village.mail().compactMap { $0.code(of: "reset") }
        clock.add(300_000)
      }
      #expect(codes.count == 5)
      clock.add(1_500_000)
      try await village.expect(202, .post, "/password-resets", ["login": "grace"])
      codes += await village.mail().compactMap { $0.code(of: "reset") }
      #expect(codes.count == 6)
      clock.add(86_400_000)
      codes = []
      for _ in 0..<2 {
        try await village.expect(202, .post, "/password-resets", ["login": "grace"])
        codes += await village.mail().compactMap { $0.code(of: "reset") }
        clock.add(300_000)
      }
      try #require(codes.count == 2)
      try await village.expect(201, .post, "/links/\(codes[0])", ["password": "a new password 7"])
      try await village.expect(404, .get, "/links/\(codes[1])")
    }
  }

  @Test func `all requests are looked at in one round, and a flood displaces none`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await village.community.requestPasswordReset(of: "grace")
      for number in 0..<(Community.maxPasswordResets + 50) {
        try await village.community.requestPasswordReset(of: "user\(number)")
      }
      #expect(await village.mail().map(\.to.description) == ["grace@example.org"])
      let left = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.passwordResets(limit: 5)
      }
      #expect(left.isEmpty)
    }
  }

  @Test func `a mailed link voids none of staff, but a used one voids it`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      let staff = try #require(try await village.expect(201, .post, "/users/@grace/reset", as: "ada")["code"])
      try await village.expect(202, .post, "/password-resets", ["login": "grace"])
      let mailed = try #require(await village.mail().first?.code(of: "reset"))
      try await village.expect(200, .get, "/links/\(staff)")
      try await village.expect(201, .post, "/links/\(staff)", ["password": "a new password 7"])
      try await village.expect(404, .get, "/links/\(mailed)")
    }
  }

  @Test func `every user of an address gets a link`() async throws {
    try await Village.open(.inMemory) { village in
      for name in ["grace", "linus"] { try await village.confirmEmail("family@example.org", of: name) }
      try await village.expect(202, .post, "/password-resets", ["login": "family@example.org"])
      let sent = await village.mail()
      #expect(sent.count == 2 && Set(sent.compactMap { $0.code(of: "reset") }).count == 2)
    }
  }
}
