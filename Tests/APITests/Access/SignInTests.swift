import Dispatch
import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct SignInTests {
  private static let firefox: Fields = [
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
  ]

  /// Maximum number of checks for a change in the background, before the test fails.
  private static let patience = 10_000

  private static func signIn(
    _ name: String, _ password: String? = nil, _ device: String? = nil, fields: Fields = Fields(), in village: Village
  ) async throws -> Answer {
    var body = ["name": name, "password": password ?? "\(name)’s password"]
    body["device"] = device
    return try await village.request(.post, "/sessions", body, fields: fields)
  }

  /// Waits until the user has so many entries. Failed attempts are recorded in the background.
  private static func entries(_ count: Int, of name: String, in village: Village) async throws -> Answer {
    for _ in 0..<patience {
      let page = try await village.expect(200, .get, "/me/sign-ins?limit=200", as: name)
      if page.count("data") >= count { return page }
      try await Task.sleep(for: .milliseconds(2))
    }
    Issue.record("fewer than \(count) entries")
    return try await village.expect(200, .get, "/me/sign-ins?limit=200", as: name)
  }

  @Test(arguments: TestTransport.allCases)
  func `a user sees their sign-ins and failed attempts`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      #expect(try await Self.signIn("grace", "guess", fields: Self.firefox, in: village).status == 401)
      _ = try await Self.entries(1, of: "grace", in: village)
      let opened = try await Self.signIn("grace", nil, "laptop", fields: Self.firefox, in: village)
      let page = try await Self.entries(2, of: "grace", in: village)
      #expect(page.texts("data", "result") == ["signed_in", "wrong_password"])
      #expect(page.texts("data", "method") == ["password", "password"])
      #expect(page.texts("data", "device") == ["laptop", "Firefox, Linux"])
      let network = transport == .inMemory ? "192.0.2.0/24" : "127.0.0.0/24"
      #expect(page.texts("data", "address") == [network, network])
      #expect(page["data.0.session_id"] == opened["id"] && page.isNull("data.1.session_id"))
      #expect(page.bool("data.0.new_device") == true && page.bool("data.1.new_device") == false)
      // Other users do not.
      #expect(try await village.expect(200, .get, "/me/sign-ins", as: "linus").count("data") == 0)
      #expect(try await village.request(.get, "/me/sign-ins").status == 401)
      #expect(try await village.request(.get, "/users/@grace/sign-ins", as: "ada").status == 404)
      let sessions = try await village.expect(200, .get, "/sessions", as: "grace")
      #expect(sessions["data.0.name"] == "laptop" && sessions["data.0.address"] == network)
    }
  }

  @Test func `codes, links, sign-ups and refusals are told apart`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      app.nextStep()
      #expect(try await app.result("000000") == "invalid")
      #expect(try await app.result("AAAA-AAAA-AAAA-AAAA") == "invalid")
      #expect(try await app.result(try app.code()) == "201")
      #expect(try await app.result(app.recoveryCodes[0]) == "201")
      #expect(try await app.result(app.recoveryCodes[0]) == "used")
      let page = try await Self.entries(10, of: "grace", in: village)
      let password = "password code_required"
      #expect(
        zip(page.texts("data", "method"), page.texts("data", "result")).map { "\($0 ?? "") \($1 ?? "")" } == [
          "recovery_code used_code", password, "recovery_code signed_in", password, "app_code signed_in", password,
          "recovery_code wrong_code", password, "app_code wrong_code", password,
        ])
      // The lost key of the server is no wrong code.
      let foreign = try #require(SealedBox(key: [UInt8](repeating: 1, count: 32)))
      let user = village.userID("grace")
      let sealed = try foreign.seal(app.secret, for: "totp \(user)")
      try await village.community.store.write { tx throws(Refusal) in try tx.setTOTP(sealed, of: user) }
      #expect(try await app.result(try app.code()) == "key_lost")
      #expect(try await Self.entries(11, of: "grace", in: village)["data.0.result"] == "code_required")
      let link = try #require(try await village.expect(201, .post, "/users/@linus/reset", as: "ada")["code"])
      let token = try #require(
        try await village.expect(201, .post, "/links/\(link)", ["password": "another one"])["token"])
      let own = try await village.request(.get, "/me/sign-ins", fields: ["Authorization": "Bearer \(token)"])
      #expect(own.texts("data", "method") == ["link"])
      try await village.changeSettings(["registration": "open"])
      let lena = try #require(
        try await village.expect(201, .post, "/users", ["name": "lena", "password": "lena’s password"])["token"])
      let first = try await village.request(.get, "/me/sign-ins", fields: ["Authorization": "Bearer \(lena)"])
      #expect(first.texts("data", "method") == ["sign_up"] && first.bool("data.0.new_device") == false)
      try await village.setState("gus", in: .disabled)
      #expect(try await Self.signIn("gus", in: village).status == 403)
      try await village.setState("gus", in: .active)
      #expect(try await Self.entries(1, of: "gus", in: village).texts("data", "result") == ["refused"])
    }
  }

  @Test func `a new device notifies its user, who ends that session`() async throws {
    try await Village.open(.inMemory) { village in
      func notices() async throws -> [String?] {
        try await village.expect(200, .get, "/inbox?kind=sign_in", as: "grace").texts("data", "session_id")
      }
      let phone = try #require(try await Self.signIn("grace", nil, "phone", in: village)["id"])
      #expect(try await notices() == [phone])
      // The same device again.
      _ = try await Self.signIn("grace", nil, "phone", in: village)
      #expect(try await notices() == [phone])
      // A browser keeps a device cookie.
      let body: [String: Any] = ["name": "grace", "password": "grace’s password", "cookie": true, "device": "tablet"]
      let tablet = try await village.request(.post, "/sessions", body, fields: ["Origin": village.origin])
      #expect(try await notices() == [tablet["id"], phone])
      let cookie = try #require(tablet.fields.all("set-cookie").first { $0.hasPrefix("parley-device=") })
      let marked: Fields = ["Origin": village.origin, "Cookie": String(cookie.prefix { $0 != ";" })]
      let renamed = body.merging(["device": "big tablet"]) { $1 }
      #expect(try await village.request(.post, "/sessions", renamed, fields: marked).status == 201)
      #expect(try await notices().count == 2)
      // The cookie of another user is invalid.
      let linus: [String: Any] = ["name": "linus", "password": "linus’s password", "cookie": true, "device": "tablet"]
      #expect(try await village.request(.post, "/sessions", linus, fields: marked).status == 201)
      #expect(try await village.expect(200, .get, "/inbox?kind=sign_in", as: "linus").count("data") == 1)
      // Revokes the session that the user does not know.
      try await village.expect(204, .delete, "/sessions/\(phone)", as: "grace")
      #expect(
        try await !village.expect(200, .get, "/sessions", as: "grace").texts("data", "id").contains(phone))
    }
  }

  /// Signs in on a browser. Returns the cookie of the device.
  ///
  /// - Parameter cookie: of an earlier sign-in.
  static func deviceCookie(
    of name: String, _ password: String, _ device: String = "tablet", _ cookie: String? = nil, in village: Village
  ) async throws -> String {
    var fields: Fields = ["Origin": village.origin]
    if let cookie { fields.add("Cookie", cookie) }
    let body: [String: Any] = ["name": name, "password": password, "cookie": true, "device": device]
    let answer = try await village.request(.post, "/sessions", body, fields: fields)
    return try deviceCookie(in: answer)
  }

  private static func deviceCookie(in answer: Answer) throws -> String {
    let cookie = answer.fields.all("set-cookie").first { $0.hasPrefix("parley-device=") }
    return String(try #require(cookie, "\(answer.text)").prefix { $0 != ";" })
  }

  @Test func `a new password voids the cookies of devices but the one of its own device`() async throws {
    // Clocks that go back change nothing.
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (old, new) = ("grace’s password", "a new password of grace")
      let own = try await Self.deviceCookie(of: "grace", old, in: village)
      let foreign = try await Self.deviceCookie(of: "grace", old, "phone", in: village)
      clock.add(-7_200_000)
      let body = ["old_password": old, "password": new]
      let fields: Fields = ["Authorization": "Bearer \(village.token("grace"))", "Cookie": own]
      let changed = try await village.request(.put, "/me/password", body, fields: fields)
      #expect(changed.status == 204)
      let next = try Self.deviceCookie(in: changed)
      func notices(_ cookie: String, _ device: String) async throws -> Int {
        _ = try await Self.deviceCookie(of: "grace", new, device, cookie, in: village)
        return try await village.expect(200, .get, "/inbox?kind=sign_in", as: "grace").count("data")
      }
      let before = try await village.expect(200, .get, "/inbox?kind=sign_in", as: "grace").count("data")
      #expect(try await notices(next, "renamed") == before)
      #expect(try await notices(own, "renamed again") == before + 1)
      #expect(try await notices(foreign, "another") == before + 2)
      // Without a cookie, or with that of another user, none is made.
      let again = ["old_password": new, "password": "the next password of grace"]
      let without: Fields = ["Authorization": "Bearer \(village.token("grace"))", "Cookie": foreign]
      let second = try await village.request(.put, "/me/password", again, fields: without)
      #expect(second.status == 204 && second.fields.all("set-cookie").isEmpty)
    }
  }

  @Test func `the device of a foreign session is a new one, and that of its user is not`() async throws {
    try await Village.open(.inMemory) { village in
      let password = "grace’s password"
      func notices() async throws -> Int {
        try await village.expect(200, .get, "/inbox?kind=sign_in", as: "grace").count("data")
      }
      let own = try await Self.deviceCookie(of: "grace", password, "laptop", in: village)
      let thief = try await Self.deviceCookie(of: "grace", password, "phone", in: village)
      let session = try #require(
        try await village.expect(200, .get, "/inbox?kind=sign_in", as: "grace")["data.0.session_id"])
      let before = try await notices()
      _ = try await Self.deviceCookie(of: "grace", password, "another name", thief, in: village)
      #expect(try await notices() == before)
      func end(_ query: String, _ session: String) async throws -> Answer {
        let fields: Fields = ["Authorization": "Bearer \(village.token("grace"))", "Cookie": own]
        return try await village.request(.delete, "/sessions/\(session)\(query)", fields: fields)
      }
      let sessions = try await village.expect(200, .get, "/sessions", as: "grace")
      let place = (0..<sessions.count("data")).first { sessions.bool("data.\($0).current") == true }
      for current in ["current", try #require(sessions["data.\(place ?? 0).id"])] {
        let refused = try await end("?foreign=true", current)
        #expect(refused.status == 400 && refused["errors.0.field"] == "foreign")
      }
      // A session that ends otherwise leaves the devices.
      #expect(try await end("", session).fields.all("set-cookie").isEmpty)
      _ = try await Self.deviceCookie(of: "grace", password, "another name", thief, in: village)
      #expect(try await notices() == before)
      let ended = try await end("?foreign=true", session)
      #expect(ended.status == 204)
      let next = try Self.deviceCookie(in: ended)
      // Neither its cookie nor its name and network is known.
      _ = try await Self.deviceCookie(of: "grace", password, "another name", thief, in: village)
      _ = try await Self.deviceCookie(of: "grace", password, "phone", in: village)
      #expect(try await notices() == before + 2)
      _ = try await Self.deviceCookie(of: "grace", password, "renamed", next, in: village)
      #expect(try await notices() == before + 2)
      let cookie = String(thief.split(separator: "=")[1])
      #expect(try village.community.view().device(ofCookie: cookie, for: "grace") == nil)
      // A browser without a cookie.
      #expect(try await village.request(.delete, "/sessions/\(session)?foreign=true", as: "grace").status == 204)
    }
  }

  @Test func `the device of a user without sessions and sign-ins is new`() async throws {
    try await Village.open(.inMemory) { village in
      let grace = village.userID("grace")
      // Both expire.
      try await village.community.store.write { tx throws(Refusal) in
        try tx.endAllSessions(of: grace)
        try tx.run { connection in
          try connection.execute("delete from sign_in where user_id = $1", grace.number)
        }
      }
      try await village.renewSession(of: "grace")
      let inbox = try await village.expect(200, .get, "/inbox?kind=sign_in", as: "grace")
      #expect(inbox.count("data") == 1)
    }
  }

  @Test func `the database has no key for device cookies`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, view) = (village.userID("grace"), village.community.view())
      let claim = DeviceCookie.claim(grace, "x", "0", "1")
      let values = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.run { connection in try connection.all("select value from setting") { try $0.text(0) } }
      }
      for value in values {
        for key in [Array(value.utf8), Hex.bytes(value) ?? []] {
          let cookie = "\(claim).\(try TextSignature.make(DeviceCookie.purpose, claim, key: key))"
          #expect(try view.device(ofCookie: cookie, for: "grace") == nil)
        }
      }
      let key = try #require(village.community.deviceKey)
      let cookie = "\(claim).\(try TextSignature.make(DeviceCookie.purpose, claim, key: key))"
      #expect(try view.device(ofCookie: cookie, for: "grace") == "x")
    }
  }

  @Test func `a sign-in with a password that changes meanwhile fails`() async throws {
    try await Village.open(.inMemory) { village in
      let (passwords, store) = (village.community.passwords, village.community.store)
      let grace = village.userID("grace")
      let newHash = try await passwords.hash("another one")
      let gate = DispatchSemaphore(value: 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        // The sign-in has read the old hash, and waits until a thread is free to check it.
        for _ in 0..<Passwords.laneCount { group.addTask { try await passwords.run { gate.wait() } } }
        try await waitUntil { passwords.waitingCount == Passwords.laneCount }
        async let signIn = Self.signIn("grace", in: village)
        try await waitUntil { passwords.waitingCount > Passwords.laneCount }
        try await store.write { tx throws(Refusal) in
          try tx.setPassword(newHash, of: grace)
          try tx.endAllSessions(of: grace)
        }
        for _ in 0..<Passwords.laneCount { gate.signal() }
        #expect(try await signIn.status == 401)
        try await group.waitForAll()
      }
      #expect(try await Self.signIn("grace", "another one", in: village).status == 201)
    }
  }

  @Test func `shorter lifetimes apply to open sessions`() async throws {
    let clock = StoppedClock()
    let day = 86_400_000
    try await Village.open(.inMemory, clock: clock.read) { village in
      func isOpen(_ name: String) async throws -> Bool {
        try await village.request(.get, "/me", as: name).status == 200
      }
      clock.add(13 * day)
      try await village.renewSession(of: "ada")
      // The session of grace is not used after the change.
      try await village.changeSettings(["session_idle_days": 14])
      clock.add(day)
      #expect(try await !isOpen("grace"))
      try await village.renewSession(of: "grace")
      clock.add(13 * day)
      try await village.renewSession(of: "ada")
      try await village.changeSettings(["session_idle_days": 90])
      try await village.renewSession(of: "linus")
      try await village.expect(200, .patch, "/users/@linus", as: "ada", ["role": "admin", "end_sessions": false])
      clock.add(14 * day)
      #expect(try await !isOpen("linus"))
    }
  }

  @Test func `entries are bounded, expire and are erased`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let grace = village.userID("grace")
      func count() async throws -> Int {
        try await village.community.store.readInBackground { tx throws(Refusal) in
          try tx.run { connection in
            try connection.first("select count(*) from sign_in where user_id = $1", grace.number) { try $0.int(0) }
          } ?? 0
        }
      }
      func add(_ number: Int, _ result: SignIn.Outcome) async throws {
        try await village.community.store.write { tx throws(Refusal) in
          for _ in 0..<number { try tx.addSignIn(.password, result, of: grace, on: "x", from: nil) }
        }
      }
      try await add(3, .signedIn)
      try await add(SignIn.maxKept + 50, .wrongPassword)
      // The attempts of strangers displace no sign-in, and no attempt with the right password.
      #expect(try await count() == SignIn.maxKept + 3)
      try await add(1, .codeRequired)
      try await add(1, .wrongCode)
      try await add(SignIn.maxKept, .wrongPassword)
      #expect(try await count() == SignIn.maxKept + 5)
      try await add(SignIn.maxKept, .wrongCode)
      #expect(try await count() == 2 * SignIn.maxKept + 3)
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.execute("delete from sign_in where result = 'wrong_code' and user_id = $1", grace.number)
        }
      }
      clock.add(Int(SignIn.retention) - 1)
      try await village.renewSession(of: "grace")
      #expect(try await village.expect(200, .get, "/me/sign-ins?limit=200", as: "grace").count("data") == 200)
      clock.add(1)
      #expect(try await village.expect(200, .get, "/me/sign-ins", as: "grace").count("data") == 1)
      await Housekeeping(village.community.store).tick()
      #expect(try await count() == 1)
      try await village.expect(
        200, .delete, "/users/me", as: "grace", ["how": "erase", "password": "grace’s password"])
      #expect(try await count() == 0)
    }
  }

  @Test func `a user ends all other sessions`() async throws {
    try await Village.open(.inMemory) { village in
      let other = try #require(try await Self.signIn("grace", in: village)["token"])
      let token = try await village.token("grace", .read)
      let linus = try #require(try await Self.signIn("linus", in: village)["token"])
      func status(_ token: String, _ method: ParleyWire.Method = .get, _ path: String = "/me") async throws -> Int {
        try await village.request(method, path, fields: ["Authorization": "Bearer \(token)"]).status
      }
      #expect(try await status(token, .delete, "/sessions") == 403)
      for _ in 1...2 { try await village.expect(204, .delete, "/sessions", as: "grace") }
      #expect(try await status(other) == 401)
      #expect(try await status(token) == 200)
      #expect(try await status(linus) == 200)
      #expect(try await village.expect(200, .get, "/sessions", as: "grace").count("data") == 1)
    }
  }

  @Test func `staff ends the sessions of a user with a new role`() async throws {
    try await Village.open(.inMemory) { village in
      let token = try await village.token("grace", .read)
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["role": "moderator", "end_sessions": false])
      try await village.expect(200, .get, "/me", as: "grace")
      try await village.expect(
        200, .patch, "/users/@grace", as: "ada", ["role": "member", "reason": "left the team"])
      let audit = try await village.expect(200, .get, "/audit?kind=user.sessions_ended", as: "ada")
      #expect(audit.texts("data", "subject_id") == [village.id("grace")])
      #expect(audit.texts("data", "reason") == ["left the team"])
      try await village.expect(401, .get, "/me", as: "grace")
      #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"]).status == 401)
      try await village.expect(403, .patch, "/users/@linus", as: "mira", ["end_sessions": true])
      try await village.expect(403, .patch, "/me", as: "linus", ["end_sessions": true])
    }
  }

  @Test(arguments: [("grace", 90, 400), ("ada", 14, 90)])
  func `a session ends without use and in the end`(name: String, idle: Int, most: Int) async throws {
    let clock = StoppedClock()
    let day = 86_400_000
    try await Village.open(.inMemory, clock: clock.read) { village in
      func isOpen() async throws -> Bool { try await village.request(.get, "/me", as: name).status == 200 }
      /// Uses the session, and waits until the use is recorded.
      func use() async throws {
        let before = clock.read()
        #expect(try await isOpen())
        let id = village.userID(name)
        for _ in 0..<Self.patience {
          let used = try await village.community.store.readInBackground { tx throws(Refusal) in
            try tx.run { connection in
              try connection.first("select max(last_used_at) from session where user_id = $1", id.number) {
                try $0.int(0)
              }
            }
          }
          if used == Int(before) { return }
          try await Task.sleep(for: .milliseconds(2))
        }
        Issue.record("the use was not recorded")
      }
      clock.add(idle * day - 1)
      try await use()
      clock.add(idle * day)
      #expect(try await !isOpen())
      try await village.renewSession(of: name)
      let step = idle / 2
      for _ in 0..<(most / step) {
        clock.add(step * day)
        if most % step == 0, try await !isOpen() { break }
        try await use()
      }
      clock.add(most * day % (step * day))
      #expect(try await !isOpen())
      // The settings change this.
      try await village.renewSession(of: "ada")
      try await village.changeSettings(["session_idle_days": 2, "staff_session_idle_days": 1])
      try await village.renewSession(of: name)
      clock.add((name == "ada" ? 1 : 2) * day - 1)
      #expect(try await isOpen())
      try await village.renewSession(of: name)
      clock.add((name == "ada" ? 1 : 2) * day)
      #expect(try await !isOpen())
    }
  }

  @Test(
    arguments: [
      (nil, ""), ("", ""), ("parley/1.2", "parley"), ("curl/8.1", "curl"), ("x y/1", "x"), ("ä/1", ""),
      (String(repeating: "a", count: 99), String(repeating: "a", count: 32)),
      ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0", "Edge, Windows"),
      (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605 Version/17.5 Safari/604",
        "Safari, iPhone"
      ),
      ("Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36", "Chrome, Android"),
    ] as [(String?, String)])
  func `a user agent is said in short words`(field: String?, words: String) {
    #expect(ClientProgram.words(field) == words)
  }
}
