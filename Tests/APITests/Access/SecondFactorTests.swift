import Foundation
import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct SecondFactorTests {
  @Test(arguments: TestTransport.allCases)
  func `sign-in has two steps once an app is confirmed`(transport: TestTransport) async throws {
    let clock = StoppedClock()
    try await Village.open(transport, clock: clock.read) { village in
      let setup = try await village.request(.post, "/me/second-factor", as: "grace")
      let secret = try #require(setup["secret"])
      #expect(setup["url"] == "otpauth://totp/Parley:grace?secret=\(secret)&issuer=Parley")
      // Without the confirmation nothing has changed.
      try await village.signIn("grace", "grace’s password")
      let before = try await village.request(.get, "/me/second-factor", as: "grace")
      #expect(before.bool("enabled") == false && before.bool("required") == false)
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      #expect(app.recoveryCodes.count == 10 && Set(app.recoveryCodes).count == 10)
      for code in app.recoveryCodes {
        #expect(code.wholeMatch(of: /[A-Z2-7]{4}(-[A-Z2-7]{4}){3}/) != nil)
      }
      let after = try await village.request(.get, "/me/second-factor", as: "grace")
      #expect(after.bool("enabled") == true && after.int("recovery_codes_left") == 10)
      #expect(!after.text.contains(secret))
      app.nextStep()
      let opened = try await app.confirm(try app.code())
      #expect(opened.status == 201 && opened["user.name"] == "grace")
      let fields: Fields = ["Authorization": "Bearer \(opened["token"] ?? "")"]
      #expect(try await village.request(.get, "/me", fields: fields).status == 200)
      let sessions = try await village.request(.get, "/sessions", as: "grace")
      #expect(sessions.texts("data", "name").contains("Laptop"))
      // A second one, while there is one.
      #expect(try await village.request(.post, "/me/second-factor", as: "grace").code == "conflict")
    }
  }

  @Test func `a wrong password gets no challenge`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      _ = try await AuthenticatorApp(village, clock, for: "grace")
      let answer = try await village.request(.post, "/sessions", ["name": "grace", "password": "guess"])
      #expect(answer.status == 401 && answer.code == "wrong_credentials")
    }
  }

  @Test func `a page of another origin gets no cookie for a code`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      app.nextStep()
      let body: [String: Any] = ["challenge": try await app.challenge(), "code": try app.code(), "cookie": true]
      let foreign = try await village.request(
        .post, "/sessions/second-factor", body, fields: ["Origin": "https://evil.example"])
      #expect(foreign.status == 403 && !foreign.fields.has("set-cookie"))
      let opened = try await village.request(
        .post, "/sessions/second-factor", body, fields: ["Origin": village.origin])
      #expect(opened.fields["set-cookie"]?.hasPrefix("parley=") == true && !opened.has("token"))
    }
  }

  /// RFC 6238 §5.2: a step before and after, each code once.
  @Test func `a code is valid around its step and once`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      // The code of the confirmation is used up.
      #expect(try await app.result(try app.code()) == "used")
      clock.add(300_000)
      #expect(try await app.result(try app.code(2)) == "invalid")
      #expect(try await app.result(try app.code(-2)) == "clock_off")
      #expect(try await app.result(try app.code(-121)) == "invalid")
      #expect(try await app.result(try app.code(-1)) == "201")
      #expect(try await app.result(try app.code(-1)) == "used")
      #expect(try await app.result(try app.code(1)) == "201")
      // An earlier step than the last one in use.
      #expect(try await app.result(try app.code()) == "used")
      app.nextStep()
      app.nextStep()
      let typed = try app.code()
      #expect(try await app.result(" \(typed.prefix(3)) \(typed.suffix(3))") == "201")
      for wrong in ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦", String(repeating: "1", count: 65)] {
        #expect(try await app.result(wrong) == "invalid")
      }
    }
  }

  @Test func `the set-up tells that the clock of the phone is wrong`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let setup = try await village.request(.post, "/me/second-factor", as: "grace")
      let secret = try #require(Base32.bytes(setup["secret"] ?? ""))
      let step = OneTimePassword.step(at: clock.read())
      for (offset, expected) in [(-20, "clock_off"), (20, "clock_off"), (500, "invalid")] {
        let code = try OneTimePassword.code(secret, step: step + offset)
        let answer = try await village.request(.put, "/me/second-factor", as: "grace", ["code": code])
        #expect(answer.status == 400 && answer["errors.0.field"] == "code" && answer["errors.0.code"] == expected)
      }
      try await village.signIn("grace", "grace’s password")
    }
  }

  @Test func `a recovery code is valid once and until they are replaced`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      let code = app.recoveryCodes[3]
      #expect(try await app.result(code.lowercased().replacing("-", with: " ")) == "201")
      #expect(try await app.result(code) == "used")
      let state = try await village.request(.get, "/me/second-factor", as: "grace")
      #expect(state.int("recovery_codes_left") == 9)
      #expect(try await app.result("AAAA-AAAA-AAAA-AAAA") == "invalid")
      let renewed = try await village.request(.post, "/me/second-factor/recovery-codes", as: "grace")
      #expect(renewed.status == 201 && Set(renewed.list("recovery_codes")).isDisjoint(with: app.recoveryCodes))
      #expect(try await app.result(app.recoveryCodes[4]) == "invalid")
      #expect(try await app.result(renewed.list("recovery_codes")[0]) == "201")
    }
  }

  @Test func `the last recovery code names no other one`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      for code in app.recoveryCodes.dropLast() { #expect(try await app.result(code) == "201") }
      #expect(try await app.result(app.recoveryCodes[0]) == "used")
      #expect(try await app.result(app.recoveryCodes[9]) == "201")
      #expect(try await app.result(app.recoveryCodes[0]) == "none_left")
      let entries = try await village.expect(200, .get, "/me/sign-ins", as: "grace")
      #expect(entries["data.0.result"] == "used_code")
      // Codes of the app are not affected.
      app.nextStep()
      let typed = try app.code()
      #expect(try await app.result(typed) == "201")
      #expect(try await app.result(typed) == "used")
    }
  }

  @Test func `a code of another user is of no use`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let grace = try await AuthenticatorApp(village, clock, for: "grace")
      let linus = try await AuthenticatorApp(village, clock, for: "linus")
      grace.nextStep()
      #expect(try await grace.result(try linus.code()) == "invalid")
      #expect(try await grace.result(linus.recoveryCodes[0]) == "invalid")
      #expect(try await linus.result(linus.recoveryCodes[0]) == "201")
    }
  }

  @Test func `a challenge ends after five minutes and with a new password`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      func isKnown(_ challenge: String) async throws -> Bool {
        let answer = try await app.confirm("000000", challenge)
        #expect(answer.status == 400)
        return answer["errors.0.field"] == "code"
      }
      let challenge = try await app.challenge()
      clock.add(299_999)
      #expect(try await isKnown(challenge))
      clock.add(1)
      #expect(try await !isKnown(challenge))
      let fresh = try await app.challenge()
      let parts = fresh.split(separator: ".").map(String.init)
      for forged in [
        "", "x", "\(village.id("linus")).\(parts[1]).\(parts[2])",
        "\(parts[0]).\((Int(parts[1]) ?? 0) + 1).\(parts[2])",
        "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])", String(repeating: "1.", count: 200),
      ] {
        let answer = try await app.confirm(try app.code(), forged)
        #expect(answer.status == 400 && answer["errors.0.field"] == "challenge")
      }
      let change = ["old_password": "grace’s password", "password": "another one"]
      #expect(try await village.request(.put, "/me/password", as: "grace", change).status == 204)
      #expect(try await !isKnown(fresh))
    }
  }

  @Test func `a sign-out voids a sign-in that waits for its code`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace", ["keep_sessions": true])
      let waiting = try await app.challenge()
      try await village.expect(204, .delete, "/sessions/current", as: "grace")
      clock.add(30_000)
      let refused = try await app.confirm(try app.code(), waiting)
      #expect(refused.status == 400 && refused["errors.0.field"] == "challenge")
      // The next one is valid.
      #expect(try await app.confirm(try app.code()).status == 201)
    }
  }

  /// By a thief of the password, who has many challenges, with the limits of a site.
  @Test func `of ten thousand parallel guesses few are looked at, and others sign in meanwhile`() async throws {
    let clock = StoppedClock()
    var rates = Village.unlimited
    rates.guessing = RateLimits().guessing
    let (count, lanes, bystanders) = (10_000, 20, 5)
    try await Village.open(.inMemory, rates: rates, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      let other = try await AuthenticatorApp(village, clock, for: "linus")
      let known = try await app.deviceCookie(with: app.recoveryCodes[0])
      app.nextStep()
      var challenges: [String] = []
      for _ in 0..<lanes { challenges.append(try await app.challenge()) }
      let codes = Set(try (-130...130).map { try app.code($0) })
      let wrong = (0..<1_000_000).lazy.map { String(format: "%06d", $0) }.filter { !codes.contains($0) }
      let guesses = Array(wrong.prefix(count))
      let statuses = try await withThrowingTaskGroup(of: [Int].self) { [challenges] group in
        for lane in 0..<lanes {
          group.addTask {
            var statuses: [Int] = []
            for index in stride(from: lane, to: count, by: lanes) {
              let body = ["challenge": challenges[lane], "code": guesses[index]]
              statuses.append(try await village.request(.post, "/sessions/second-factor", body).status)
            }
            return statuses
          }
        }
        // Another user, from the same network.
        for code in other.recoveryCodes.prefix(bystanders) {
          #expect(try await other.confirm(code).status == 201)
        }
        return try await group.reduce(into: [Int: Int]()) { counts, statuses in
          for status in statuses { counts[status, default: 0] += 1 }
        }
      }
      let refused = statuses[429, default: 0]
      #expect(statuses.keys.sorted() == [400, 429], "none signs in")
      #expect(statuses.values.reduce(0, +) == count && count - refused <= rates.guessing.burst, "\(statuses)")
      // The right code does not pass either, until the bucket has a token, except on a device that has passed the step before.
      let code = try app.code()
      #expect(try await app.confirm(code).status == 429)
      #expect(try await app.confirm(code, cookie: known).status == 201)
      #expect(try await village.request(.get, "/me", as: "grace").status == 200)
    }
  }

  /// One of the parallel sign-ins with one code succeeds.
  @Test(arguments: [true, false])
  func `parallel requests use a code once`(isRecovery: Bool) async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      app.nextStep()
      let (challenge, code) = (try await app.challenge(), isRecovery ? app.recoveryCodes[0] : try app.code())
      let opened = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<40 { group.addTask { try await app.confirm(code, challenge).status } }
        return try await group.reduce(into: 0) { $0 += $1 == 201 ? 1 : 0 }
      }
      #expect(opened == 1)
    }
  }

  @Test func `turning it on ends other sessions and tokens unless they are kept`() async throws {
    for (more, status) in [([:], 401), (["keep_sessions": true], 200)] as [([String: Any], Int)] {
      let clock = StoppedClock()
      try await Village.open(.inMemory, clock: clock.read) { village in
        let other = try #require(try await village.signIn("grace", "grace’s password")["token"])
        let token = try await village.token("grace", .write)
        let app = try await AuthenticatorApp(village, clock, for: "grace", more)
        for credential in [other, token] {
          let answer = try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(credential)"])
          #expect(answer.status == status)
        }
        #expect(try await village.request(.get, "/me", as: "grace").status == 200)
        app.nextStep()
        let second = try #require(try await app.confirm(try app.code())["token"])
        #expect(try await village.request(.delete, "/me/second-factor", as: "grace", more).status == 204)
        let answer = try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(second)"])
        #expect(answer.status == status)
        try await village.signIn("grace", "grace’s password")
        #expect(try await village.request(.delete, "/me/second-factor", as: "grace").status == 204)
      }
    }
  }

  @Test func `a reset link sets the password and does not skip the second step`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      let link = try #require(try await village.request(.post, "/users/@grace/reset", as: "ada")["code"])
      let used = try await village.request(.post, "/links/\(link)", ["password": "another one"])
      #expect(used.status == 403 && used.code == "second_factor_required" && !used.has("token"))
      #expect(try await village.request(.get, "/me", as: "grace").status == 401)
      app.nextStep()
      let challenge = try #require(used["params.challenge"])
      #expect(try await app.confirm(try app.code(), challenge).status == 201)
      #expect(try await village.request(.post, "/links/\(link)", ["password": "a third one"]).status == 410)
      let old = try await village.request(.post, "/sessions", ["name": "grace", "password": "grace’s password"])
      #expect(old.status == 401)
    }
  }

  @Test func `a repeated sign-up does not skip the second step`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      #expect(try await village.request(.patch, "/settings", as: "ada", ["registration": "open"]).status == 200)
      let body = ["name": "lena", "password": "lena’s password", "client_id": "c1"]
      let token = try #require(try await village.request(.post, "/users", body)["token"])
      let fields: Fields = ["Authorization": "Bearer \(token)"]
      let setup = try await village.request(.post, "/me/second-factor", fields: fields)
      let secret = try #require(Base32.bytes(setup["secret"] ?? ""))
      let code = try OneTimePassword.code(secret, step: OneTimePassword.step(at: clock.read()))
      #expect(try await village.request(.put, "/me/second-factor", ["code": code], fields: fields).status == 200)
      let again = try await village.request(.post, "/users", body)
      #expect(again.status == 403 && again.code == "second_factor_required")
    }
  }

  @Test func `staff resets the second factor of lower roles, audited`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      app.nextStep()
      let token = try #require(try await app.confirm(try app.code())["token"])
      let path = "/users/@grace/reset-second-factor"
      #expect(try await village.request(.post, path, as: "mira").status == 403)
      #expect(try await village.request(.post, path).status == 401)
      clock.add(600_000)
      #expect(try await village.request(.post, path, as: "ada").code == "step_up_required")
      try await village.renewSession(of: "ada")
      for _ in 1...2 { #expect(try await village.request(.post, path, as: "ada").status == 204) }
      #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"]).status == 401)
      try await village.signIn("grace", "grace’s password")
      let audit = try await village.request(.get, "/audit?kind=user.second_factor_reset", as: "ada")
      #expect(audit.texts("data", "subject_id") == [village.id("grace")])
    }
  }

  @Test func `bots and visitors have no second factor`() async throws {
    try await Village.open(.inMemory) { village in
      for method in [Method.get, .post, .put, .delete] {
        let body: [String: Any]? = method == .put ? ["code": "000000"] : nil
        #expect(try await village.request(method, "/me/second-factor", body).status == 401)
      }
      let made = try await village.request(
        .post, "/bots", as: "ada", ["name": "dice", "scope": "write", "client_id": "b"])
      let fields: Fields = ["Authorization": "Bearer \(made["token"] ?? "")"]
      #expect(try await village.request(.post, "/me/second-factor", fields: fields).status == 403)
    }
  }

  @Test func `a lost key leaves recovery codes and the reset`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      app.nextStep()
      let user = village.userID("grace")
      let foreign = try #require(SealedBox(key: [UInt8](repeating: 1, count: 32)))
      let sealed = try foreign.seal(app.secret, for: "totp \(user)")
      try await village.community.store.write { tx throws(Refusal) in try tx.setTOTP(sealed, of: user) }
      #expect(try await app.result(try app.code()) == "key_lost")
      let opened = try await app.confirm(app.recoveryCodes[0])
      #expect(opened.status == 201)
      let fields: Fields = ["Authorization": "Bearer \(opened["token"] ?? "")"]
      #expect(try await village.request(.delete, "/me/second-factor", fields: fields).status == 204)
      try await village.signIn("grace", "grace’s password")
    }
  }

  @Test func `neither the secret nor a recovery code is in the database`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      let key = try Data(contentsOf: URL(filePath: "\(village.folder)/secrets.key"))
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(village.folder)/secrets.key")
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600 && key.count == 65)
      let planted =
        [Data(app.secret), Data(Base32.text(app.secret).utf8), key.dropLast()]
        + app.recoveryCodes.flatMap { [Data($0.utf8), Data($0.replacing("-", with: "").utf8)] }
      for name in ["parley.db", "parley.db-wal"] {
        let bytes = try Data(contentsOf: URL(filePath: "\(village.folder)/\(name)"))
        for secret in planted { #expect(bytes.range(of: secret) == nil) }
      }
    }
  }

  @Test func `erasing a user erases the second factor`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      _ = try await AuthenticatorApp(village, clock, for: "grace")
      let body = ["how": "erase", "password": "grace’s password"]
      #expect(try await village.request(.delete, "/users/me", as: "grace", body).status == 200)
      let user = village.userID("grace")
      let left = try await village.community.store.readInBackground { tx throws(Refusal) in
        (try tx.totp(of: user), try tx.recoveryCodeCount(of: user))
      }
      #expect(left.0 == nil && left.1 == 0)
    }
  }

  @Test func `changes of the second factor notify its user`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      func notices() async throws -> [String?] {
        let inbox = try await village.expect(200, .get, "/inbox", as: "grace")
        return inbox.texts("data", "kind").filter { $0 != "sign_in" }
      }
      /// The number of notices, and the last one.
      func newest() async throws -> String {
        let kinds = try await notices()
        return "\(kinds.count) \((kinds.first ?? nil) ?? "")"
      }
      let events = try await village.events {
        let app = try await AuthenticatorApp(village, clock, for: "grace")
        #expect(try await notices() == ["second_factor_enabled"])
        try await village.expect(201, .post, "/me/second-factor/recovery-codes", as: "grace")
        #expect(try await app.result(app.recoveryCodes[0]) == "invalid")
      }
      #expect(events.filter { $0.hasPrefix("notification.created user:\(village.id("grace"))") }.count == 2)
      #expect(try await notices() == ["recovery_codes_created", "second_factor_enabled"])
      // Without a second factor there is nothing to tell.
      for _ in 1...2 { try await village.expect(204, .delete, "/me/second-factor", as: "grace") }
      #expect(try await newest() == "3 second_factor_disabled")
      clock.add(30_000)
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      app.nextStep()
      #expect(try await app.result(try app.code()) == "201")
      #expect(try await newest() == "4 second_factor_enabled")
      #expect(try await app.result(app.recoveryCodes[0]) == "201")
      #expect(try await newest() == "5 recovery_code_used")
      let proof = ["password": "grace’s password", "code": app.recoveryCodes[1]]
      try await village.expect(204, .post, "/sessions/current/proof", as: "grace", proof)
      #expect(try await newest() == "6 recovery_code_used")
      for _ in 1...2 { try await village.expect(204, .post, "/users/@grace/reset-second-factor", as: "ada") }
      try await village.renewSession(of: "grace")
      let inbox = try await village.expect(200, .get, "/inbox", as: "grace")
      let index = try #require(inbox.texts("data", "kind").firstIndex(of: "second_factor_disabled"))
      #expect(inbox["data.\(index).actor_id"] == village.id("ada"))
      #expect(inbox.isNull("data.\(index).message") && inbox.isNull("data.\(index).conversation_id"))
      #expect(inbox.texts("data", "kind").filter { $0 == "second_factor_disabled" }.count == 2)
    }
  }

  @Test func `a challenge answered after the app was turned off is a conflict`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      let challenge = try await app.challenge()
      try await village.expect(204, .delete, "/me/second-factor", as: "grace", ["keep_sessions": true])
      app.nextStep()
      let answer = try await app.confirm(try app.code(), challenge)
      #expect(answer.status == 409 && answer.code == "conflict")
    }
  }

  @Test func `a banned user gets no challenge`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      let challenge = try await app.challenge()
      let link = try #require(try await village.expect(201, .post, "/users/@grace/reset", as: "ada")["code"])
      try await village.expect(200, .put, "/users/@grace/ban", as: "ada", ["reason": "spam"])
      app.nextStep()
      let refused = [
        try await village.request(.post, "/sessions", ["name": "grace", "password": "grace’s password"]),
        try await village.request(.post, "/links/\(link)", ["password": "another one"]),
        try await app.confirm(try app.code(), challenge),
      ]
      for answer in refused {
        #expect(answer.status == 403 && answer.code == "account_disabled" && answer["params.reason"] == "spam")
      }
      // The link was not consumed.
      try await village.expect(204, .delete, "/users/@grace/ban", as: "ada")
      let used = try await village.request(.post, "/links/\(link)", ["password": "another one"])
      #expect(used.code == "second_factor_required")
    }
  }

  @Test func `a cheap password hash is replaced at the first step`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      let grace = village.userID("grace")
      let cheap = Passwords(cost: Scrypt(cost: 2, blockSize: 1, parallelism: 1))
      let hash = try await cheap.hash("grace’s password")
      try await village.community.store.write { tx throws(Refusal) in try tx.setPassword(hash, of: grace) }
      let challenge = try await app.challenge()
      let kept = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.password(of: grace)
      }
      #expect(kept?.hasPrefix("scrypt$16$1$1$") == true)
      app.nextStep()
      #expect(try await app.confirm(try app.code(), challenge).status == 201)
    }
  }
}
