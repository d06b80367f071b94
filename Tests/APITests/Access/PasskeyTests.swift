import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleyWire
import TestSupport
import Testing
import Web
import WebAuthn

@testable import API
@testable import Community
@testable import Storage

@Suite struct PasskeyTests {
  @Test(arguments: TestTransport.allCases)
  func `a passkey is added, signs in, is renamed and deleted`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      var device = try PasskeyDevice(village, for: "grace")
      device.authenticator.signCount = 3
      let options = try await village.request(
        .post, "/me/passkeys/options", as: "grace", fields: PasskeyDevice.host)
      #expect(options["rp.id"] == "localhost" && options["user.name"] == "grace")
      #expect(Base64.decode(options["user.id"] ?? "", .url) == Array(village.id("grace").utf8))
      #expect((0...2).map { options.int("pubKeyCredParams.\($0).alg") } == [-8, -7, -257])
      #expect(options["authenticatorSelection.residentKey"] == "required")
      #expect(options["authenticatorSelection.userVerification"] == "required" && options["attestation"] == "none")
      #expect(options.count("excludeCredentials") == 0 && options.int("timeout") == 300_000)
      let made = try await device.register(options["challenge"])
      #expect(made.status == 201 && made["name"] == "Phone" && made["host"] == "localhost", "\(made.text)")
      #expect(made.bool("backed_up") == true && made.isNull("last_used_at"))
      let id = try #require(made["id"])

      // Its authenticator makes no second one.
      let again = try await village.request(.post, "/me/passkeys/options", as: "grace", fields: PasskeyDevice.host)
      #expect(again["excludeCredentials.0.id"] == Base64.encode(device.authenticator.credentialID, .url))
      #expect(again.list("excludeCredentials.0.transports") == ["internal", "hybrid"])

      device.authenticator.signCount = 4
      let opened = try await device.signIn()
      #expect(opened.status == 201 && opened["user.name"] == "grace", "\(opened.text)")
      let token = try #require(opened["token"])
      let mine = try await village.request(.get, "/users/me", fields: ["Authorization": "Bearer \(token)"])
      #expect(mine["name"] == "grace")
      let entry = try await village.expect(200, .get, "/me/sign-ins", as: "grace")
      #expect(entry["data.0.method"] == "passkey" && entry["data.0.result"] == "signed_in")
      #expect(entry["data.0.device"] == "Laptop" && entry["data.0.session_id"] == opened["id"])

      let renamed = try await village.expect(200, .patch, "/me/passkeys/\(id)", as: "grace", ["name": "  Blue key "])
      #expect(renamed["name"] == "Blue key" && !renamed.isNull("last_used_at"))
      let list = try await village.expect(200, .get, "/me/passkeys", as: "grace")
      #expect(list.texts("data", "id") == [id] && list["data.0.name"] == "Blue key")
      for _ in 1...2 { try await village.expect(204, .delete, "/me/passkeys/\(id)", as: "grace") }
      #expect(try await device.signIn().outcome == "passkey_unknown")
      let inbox = try await village.expect(200, .get, "/inbox", as: "grace")
      let kinds = inbox.texts("data", "kind").filter { $0 != "sign_in" }
      #expect(kinds == ["passkey_deleted", "passkey_created"])
    }
  }

  @Test func `a deleted passkey ends the other sessions that it has opened`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let opened = try #require(try await device.signIn()["token"])
      let password = try #require(try await village.signIn("grace", "grace’s password")["token"])
      let other = try await PasskeyDevice.registered(village, for: "linus")
      let foreign = try #require(try await other.signIn()["token"])
      let list = try await village.expect(200, .get, "/me/passkeys", as: "grace")
      let id = try #require(list["data.0.id"])
      // Another user deletes nothing with its id.
      try await village.expect(204, .delete, "/me/passkeys/\(id)", as: "linus")
      try await village.expect(204, .delete, "/me/passkeys/\(id)", as: "grace")
      func state(_ token: String) async throws -> String {
        let answer = try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"])
        return answer.code ?? "\(answer.status)"
      }
      #expect(try await state(opened) == "session_ended")
      #expect(try await state(password) == "200")
      #expect(try await state(foreign) == "200")
      #expect(try await village.rows("select cast(session_id as text) from passkey_session").count == 1)
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  @Test func `the session that deletes its own passkey goes on`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let opened = try #require(try await device.signIn()["token"])
      let fields: Fields = ["Authorization": "Bearer \(opened)"]
      let id = try #require(try await village.request(.get, "/me/passkeys", fields: fields)["data.0.id"])
      #expect(try await village.request(.delete, "/me/passkeys/\(id)", fields: fields).status == 204)
      #expect(try await village.request(.get, "/me", fields: fields).status == 200)
    }
  }

  @Test func `a new passkey needs a proof, and tells its user by inbox and mail`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.confirmEmail("grace@example.org", of: "grace")
      _ = await village.mail()
      _ = try await PasskeyDevice.registered(village, for: "grace")
      #expect(await village.mail().map(\.subject).contains { $0.lowercased().contains("passkey") })
      let inbox = try await village.expect(200, .get, "/inbox?kind=passkey_created", as: "grace")
      #expect(inbox.count("data") == 1)
      clock.add(600_000)
      let late = try await village.request(
        .post, "/me/passkeys/options", as: "grace", fields: PasskeyDevice.host)
      #expect(late.status == 403 && late.code == "step_up_required")
    }
  }

  @Test(arguments: COSEKey.algorithms)
  func `each algorithm signs in`(algorithm: Int) async throws {
    try await Village.open(.inMemory) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace", algorithm)
      for _ in 1...2 { #expect(try await device.signIn().outcome == "201") }
    }
  }

  @Test func `a browser gets the cookie, on a page of the site alone`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let opened = try await device.signIn(nil, ["cookie": true], from: PasskeyDevice.origin)
      #expect(opened.status == 201 && !opened.has("token"))
      #expect(opened.fields.all("set-cookie").contains { $0.hasPrefix("parley=") })
      #expect(opened.fields.all("set-cookie").contains { $0.hasPrefix("parley-device=") })
      for origin in ["https://evil.example", nil] {
        let refused = try await device.signIn(nil, ["cookie": true], from: origin)
        #expect(refused.status == 403 && refused.code == "forbidden")
      }
    }
  }

  @Test func `a challenge is used once, within five minutes, in its session and for its purpose`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let linus = try PasskeyDevice(village, for: "linus")
      // Each of the three ceremonies, with a challenge and a request for it.
      let signIn = try await device.signInChallenge()
      #expect(try await device.signIn(signIn).outcome == "201")
      #expect(try await device.signIn(signIn).outcome == "passkey_challenge_used")
      let proof = try await device.proofChallenge()
      #expect(try await device.prove(proof).outcome == "204")
      #expect(try await device.prove(proof).outcome == "passkey_challenge_used")
      let creation = try await linus.creationChallenge()
      #expect(try await linus.register(creation).outcome == "201")
      var second = linus
      second.authenticator.credentialID[0] ^= 1
      #expect(try await second.register(creation).outcome == "passkey_challenge_used")

      // A failed check does not use the challenge up.
      let kept = try await device.signInChallenge()
      var broken = device
      broken.authenticator.flags = 0b0001_1001
      #expect(try await broken.signIn(kept).outcome == "passkey_not_verified")
      #expect(try await device.signIn(kept).outcome == "201")

      // For another purpose, in another session, invented.
      let purposes = [
        try await device.signInChallenge(), try await device.proofChallenge(), try await device.creationChallenge(),
      ]
      #expect(try await device.signIn(purposes[1]).outcome == "passkey_challenge_unknown")
      #expect(try await device.signIn(purposes[2]).outcome == "passkey_challenge_unknown")
      #expect(try await device.prove(purposes[0]).outcome == "passkey_challenge_unknown")
      #expect(try await device.prove(purposes[2]).outcome == "passkey_challenge_unknown")
      second.authenticator.credentialID[0] ^= 3
      #expect(try await second.register(purposes[0]).outcome == "passkey_challenge_unknown")
      #expect(try await second.register(purposes[2]).outcome == "passkey_challenge_unknown")
      try await village.renewSession(of: "grace")
      #expect(try await device.prove(purposes[1]).outcome == "passkey_challenge_unknown")
      for text in ["", "AAAA", String(purposes[0].dropLast()) + (purposes[0].hasSuffix("A") ? "E" : "A")] {
        #expect(try await device.signIn(text).outcome.hasPrefix("passkey_"))
      }

      // In time, and late.
      let (early, late) = (try await device.signInChallenge(), try await device.signInChallenge())
      clock.add(299_999)
      #expect(try await device.signIn(early).outcome == "201")
      clock.add(1)
      #expect(try await device.signIn(late).outcome == "passkey_challenge_expired")
      // Expired ones are forgotten.
      #expect(try await village.rows("select cast(count(*) as text) from used_challenge") != ["0"])
      clock.add(300_000)
      #expect(try await device.signIn().outcome == "201")
      #expect(try await village.rows("select cast(count(*) as text) from used_challenge") == ["1"])
    }
  }

  @Test func `parallel answers to one challenge open one session`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let challenge = try await device.signInChallenge()
      let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 1...8 { group.addTask { try await device.signIn(challenge).outcome } }
        return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
      }
      #expect(outcomes == ["201": 1, "passkey_challenge_used": 7])
    }
  }

  @Test func `options to sign in are the same for all but the challenge`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      _ = try await PasskeyDevice.registered(village, for: "grace")
      var answers: Set<[String]> = []
      for name in [nil, "grace", "linus", "robo"] {
        let answer = try await village.request(
          .post, "/sessions/passkey/options", as: name, fields: PasskeyDevice.host)
        let challenge = try #require(answer["challenge"])
        #expect(Base64.decode(challenge, .url)?.count == 56)
        answers.insert(["\(answer.status)", answer.text.replacing(challenge, with: "")])
      }
      #expect(answers.count == 1, "\(answers)")
    }
  }

  @Test func `a passkey proves the session`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let device = try await PasskeyDevice.registered(village, for: "ada")
      clock.add(600_000)
      let refused = try await village.request(.post, "/me/second-factor", as: "ada")
      #expect(refused.code == "step_up_required" && refused.list("params.methods") == ["password", "passkey"])
      let options = try await village.request(
        .post, "/sessions/current/proof/options", as: "ada", fields: PasskeyDevice.host)
      #expect(options["allowCredentials.0.id"] == Base64.encode(device.authenticator.credentialID, .url))
      // Without a user handle: with a list of passkeys an authenticator may leave it out.
      var unnamed = device
      unnamed.authenticator.userHandle = []
      #expect(try await unnamed.prove().outcome == "204")
      #expect(try await unnamed.signIn().outcome == "passkey_other_user")
      try await village.expect(201, .post, "/me/second-factor", as: "ada")
      // Neither another user nor a token.
      #expect(try await device.prove(as: "grace").outcome == "passkey_unknown")
      let fields: Fields = ["Host": "localhost", "Authorization": "Bearer \(try await village.token("ada", .admin))"]
      for path in ["/sessions/current/proof/options", "/me/passkeys/options"] {
        let byToken = try await village.request(.post, path, fields: fields)
        #expect(byToken.status == 403 && byToken.code == "forbidden")
      }
      let both: [String: Any] = ["password": "ada’s password", "credential": ["id": "AA", "response": [:]]]
      #expect(try await village.request(.post, "/sessions/current/proof", as: "ada", both).status == 400)
    }
  }

  @Test func `changes need a proof, and tokens make none`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let challenge = try await device.creationChallenge()
      clock.add(600_000)
      var second = device
      second.authenticator.credentialID[0] ^= 1
      for answer in [
        try await village.request(.post, "/me/passkeys/options", as: "grace", fields: PasskeyDevice.host),
        try await village.request(.delete, "/me/passkeys/\(device.id)", as: "grace"),
        try await second.register(challenge),
      ] {
        #expect(answer.status == 403 && answer.code == "step_up_required", "\(answer.text)")
      }
      // The name is no secret.
      try await village.expect(200, .patch, "/me/passkeys/\(device.id)", as: "grace", ["name": "Key"])
      let fields: Fields = ["Authorization": "Bearer \(try await village.token("grace", .admin))"]
      for answer in [
        try await village.request(.delete, "/me/passkeys/\(device.id)", fields: fields),
        try await village.request(.patch, "/me/passkeys/\(device.id)", ["name": "x"], fields: fields),
      ] {
        #expect(answer.status == 403 && answer.code == "forbidden", "\(answer.text)")
      }
      let list = try await village.request(.get, "/me/passkeys", fields: fields)
      #expect(list.texts("data", "name") == ["Key"])
    }
  }

  @Test func `each failed check has its code, and the sign-ins list it`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let rows: [(String, @Sendable (inout SoftwareAuthenticator) -> Void)] = [
        ("passkey_wrong_type", { $0.type = "webauthn.create" }),
        ("passkey_wrong_origin", { $0.origin = "http://evil" }),
        ("passkey_cross_origin", { $0.clientData = #","crossOrigin":true"# }),
        ("passkey_wrong_site", { $0.host = "evil" }),
        ("passkey_user_absent", { $0.flags = 0b0001_1100 }), ("passkey_not_verified", { $0.flags = 0b0001_1001 }),
        ("passkey_backup_state", { $0.flags = 0b0000_0101 }), ("passkey_malformed", { $0.trailing = [0] }),
        ("passkey_other_user", { $0.userHandle = [0x31] }), ("passkey_unknown", { $0.credentialID[0] ^= 1 }),
        ("passkey_signature", { if let key = try? P256() { $0.key = .es256(key) } }),
      ]
      for (code, change) in rows {
        var changed = device
        change(&changed.authenticator)
        let answer = try await changed.signIn()
        #expect(answer.status == 400 && answer["errors.0.field"] == "credential", "\(answer.text)")
        #expect(answer.outcome == code)
      }
      // Attempts with a known passkey are failed attempts on its user, which are recorded in the background.
      func failures() async throws -> Int {
        let entries = try await village.expect(200, .get, "/me/sign-ins?limit=200", as: "grace")
        return entries.texts("data", "result").filter { $0 == "wrong_passkey" }.count
      }
      try await waitUntil { try await failures() == 6 }
    }
  }

  @Test func `a counter that does not rise is refused and warns the user`() async throws {
    try await Village.open(.inMemory) { village in
      var device = try await PasskeyDevice.registered(village, for: "grace")
      device.authenticator.signCount = 10
      #expect(try await device.signIn().outcome == "201")
      for count: UInt32 in [10, 9, 0] {
        device.authenticator.signCount = count
        #expect(try await device.signIn().outcome == "passkey_counter")
      }
      #expect(try await device.prove().outcome == "passkey_counter")
      let inbox = try await village.expect(200, .get, "/inbox", as: "grace")
      #expect(inbox.texts("data", "kind").filter { $0 == "passkey_copied" }.count == 4)
      // The password goes on, and so does the authenticator that is ahead.
      try await village.signIn("grace", "grace’s password")
      device.authenticator.signCount = 11
      #expect(try await device.signIn().outcome == "201")
    }
  }

  @Test func `a user has twenty passkeys, each once`() async throws {
    try await Village.open(.inMemory) { village in
      let first = try await PasskeyDevice.registered(village, for: "grace")
      var other = try PasskeyDevice(village, for: "linus")
      other.authenticator.credentialID = first.authenticator.credentialID
      #expect(try await other.register().outcome == "passkey_taken")
      for _ in 2...20 { _ = try await PasskeyDevice.registered(village, for: "grace") }
      let over = try await PasskeyDevice(village, for: "grace").register()
      #expect(over.status == 409 && over.code == "too_many" && over.int("params.limit") == 20)
      try await village.expect(204, .delete, "/me/passkeys/\(first.id)", as: "grace")
      #expect(try await PasskeyDevice(village, for: "grace").register().outcome == "201")
    }
  }

  @Test func `passkeys of others are not found`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      try await village.expect(404, .patch, "/me/passkeys/\(device.id)", as: "linus", ["name": "x"])
      try await village.expect(204, .delete, "/me/passkeys/\(device.id)", as: "linus")
      #expect(try await village.expect(200, .get, "/me/passkeys", as: "linus").count("data") == 0)
      #expect(try await device.signIn().outcome == "201")
      // An answer of another session of the same kind.
      let challenge = try await device.creationChallenge()
      #expect(try await device.register(challenge, as: "linus").outcome == "passkey_challenge_unknown")
    }
  }

  @Test func `names are checked, and an empty one is replaced`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      for name in ["", " ", "a\nb", String(repeating: "x", count: 101)] {
        try await village.expect(400, .patch, "/me/passkeys/\(device.id)", as: "grace", ["name": name])
      }
      let unnamed = try await PasskeyDevice(village, for: "grace").register(named: "")
      #expect(unnamed["name"] == "localhost")
      #expect(try await PasskeyDevice(village, for: "grace").register(named: "a\nb").status == 400)
    }
  }

  @Test func `a passkey stands for both factors`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let app = try await AuthenticatorApp(village, clock, for: "grace", ["keep_sessions": true])
      #expect(try await device.signIn().outcome == "201")
      clock.add(600_000)
      let refused = try await village.request(.delete, "/me/second-factor", as: "grace")
      #expect(refused.list("params.methods") == ["password_and_code", "passkey"])
      #expect(try await device.prove().outcome == "204")
      try await village.expect(204, .delete, "/me/second-factor", as: "grace", ["keep_sessions": true])
      _ = app
      // Staff helps a user who lost the phone that had both.
      try await village.expect(204, .post, "/sessions/current/proof", as: "ada", ["password": "ada’s password"])
      try await village.expect(204, .post, "/users/@grace/reset-second-factor", as: "ada")
      #expect(try await device.signIn().outcome == "passkey_unknown")
      try await village.renewSession(of: "grace")
      let inbox = try await village.expect(200, .get, "/inbox", as: "grace")
      let index = try #require(inbox.texts("data", "kind").firstIndex(of: "passkey_deleted"))
      #expect(inbox["data.\(index).actor_id"] == village.id("ada"))
    }
  }

  @Test func `a user who may not sign in gets no session, and one who returns does`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus) = (
        try await PasskeyDevice.registered(village, for: "grace"),
        try await PasskeyDevice.registered(village, for: "linus")
      )
      try await village.setState("linus", in: .deactivated)
      #expect(try await linus.signIn()["user.state"] == "active")
      try await village.expect(200, .put, "/users/@grace/ban", as: "ada", ["reason": "spam"])
      let refused = try await grace.signIn()
      #expect(refused.status == 403 && refused.code == "account_disabled" && refused["params.reason"] == "spam")
      try await village.expect(204, .delete, "/users/@grace/ban", as: "ada")
      #expect(try await grace.signIn().outcome == "201")
      let body = ["how": "erase", "password": "linus’s password"]
      try await village.expect(200, .delete, "/users/me", as: "linus", body)
      #expect(try await linus.signIn().outcome == "passkey_unknown")
      #expect(try await village.rows("select cast(count(*) as text) from passkey") == ["1"])
    }
  }

  @Test func `a passkey is for one host, and an address has none`() async throws {
    try await Village.open(.inMemory) { village in
      for host in ["127.0.0.1:8080", "[::1]:8080"] {
        let fields: Fields = ["Host": host]
        for (path, name) in [("/sessions/passkey/options", nil), ("/me/passkeys/options", "grace")] {
          let refused = try await village.request(.post, path, as: name, fields: fields)
          #expect(refused.status == 403 && refused.code == "passkeys_off", "\(host) \(path)")
        }
      }
      // A passkey of another host of the same server.
      let device = try await PasskeyDevice.registered(village, for: "grace")
      let options = try await village.request(.post, "/sessions/passkey/options", fields: ["Host": "other.example"])
      #expect(options["rpId"] == "other.example")
      var moved = device
      (moved.authenticator.origin, moved.authenticator.host) = ("http://other.example", "other.example")
      let answer = try moved.authenticator.get(try #require(options["challenge"]))
      let party = try #require(RelyingParty(host: "other.example", origins: ["http://other.example"]))
      await #expect(throws: Refusal.invalid("credential", .passkey(.wrongSite))) {
        try await village.community.signInWithPasskey(answer, at: party, on: "")
      }
    }
  }
}
