import Community
import ParleyModel
import ParleyWire
import Testing
import Web

@testable import API

@Suite struct RateLimitTests {
  private static let limits: RateLimits = {
    var limits = RateLimits()
    limits.login = Allowance(burst: 3, perMinute: 6)
    limits.writing = Allowance(burst: 2, perMinute: 60)
    return limits
  }()

  private static func user(_ number: Int) -> Caller {
    Caller(user: ID(number), role: .member, scope: .admin, session: nil)
  }

  /// The number of `count` simultaneous requests that pass.
  private func passed(
    _ count: Int, _ limiter: RateLimiter, _ kind: RateLimitKind, by caller: Caller = .visitor, from address: String?,
    at now: Int64
  ) -> Int {
    (0..<count).filter { _ in
      do {
        try limiter.count(kind, by: caller, at: address.flatMap { IPAddress($0) }, now: now)
        return true
      } catch {
        return false
      }
    }.count
  }

  @Test func `a bucket empties at once and refills with time`() {
    let limiter = RateLimiter(Self.limits)
    let start: Int64 = 1_000_000
    #expect(passed(5, limiter, .login, from: "192.0.2.1", at: start) == 3)
    #expect(passed(5, limiter, .login, from: "192.0.2.1", at: start + 9_999) == 0)
    #expect(passed(5, limiter, .login, from: "192.0.2.1", at: start + 10_000) == 1)
    #expect(passed(5, limiter, .login, from: "192.0.2.1", at: start + 3_600_000) == 3)
  }

  @Test func `a quota has the burst, the rest and the wait for the next token`() throws {
    let limiter = RateLimiter(Self.limits)
    func quota(at now: Int64) throws -> [Int] {
      let quota = try #require(limiter.quota(.login, of: .visitor, at: IPAddress("192.0.2.1"), now: now))
      return [quota.limit, quota.remaining, quota.reset]
    }
    #expect(try quota(at: 0) == [3, 3, 0])
    #expect(passed(1, limiter, .login, from: "192.0.2.1", at: 0) == 1)
    #expect(try quota(at: 0) == [3, 2, 10])
    #expect(passed(1, limiter, .login, from: "192.0.2.1", at: 4_000) == 1)
    #expect(try quota(at: 4_000) == [3, 1, 6])
    #expect(try quota(at: 10_000) == [3, 2, 10])
    #expect(passed(9, limiter, .login, from: "192.0.2.1", at: 10_000) == 2)
    #expect(try quota(at: 10_001) == [3, 0, 10])
    #expect(try quota(at: 3_600_000) == [3, 3, 0])
    #expect(limiter.quota(.login, of: .visitor, at: nil, now: 0) == nil)
  }

  @Test(arguments: TestTransport.allCases)
  func `every answer has the quota of its limit`(transport: TestTransport) async throws {
    var rates = Village.unlimited
    rates.writing = Allowance(burst: 50, perMinute: 1)
    rates.sending = Allowance(burst: 9, perMinute: 1)
    try await Village.open(transport, rates: rates) { village in
      let room = try await village.garden().room
      func quota(_ method: ParleyWire.Method, _ path: String, _ body: [String: Any]? = nil) async throws -> [Int?] {
        let fields = try await village.request(method, path, as: "grace", body).fields
        return ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map { fields[$0].flatMap { Int($0) } }
      }
      let messages = "/conversations/\(room)/messages"
      #expect(try await quota(.post, messages, ["text": "1"]) == [9, 8, 60])
      #expect(try await quota(.post, messages, ["text": "2"]).prefix(2) == [9, 7])
      // An operation without a limit of its own reports the limit of changes; a refused one reports it too.
      #expect(try await quota(.get, messages) == [50, 50, 0])
      #expect(try await quota(.get, "/messages/7") == [50, 50, 0])
      #expect(try await quota(.patch, "/me", ["bio": "b"]) == [50, 49, 60])
      #expect(try await quota(.patch, "/me", ["bio": 1]).prefix(2) == [50, 48])
      #expect(try await quota(.get, "/me").prefix(2) == [50, 48])
    }
  }

  @Test func `a clock set back does not lock users out`() {
    let limiter = RateLimiter(Self.limits)
    #expect(passed(5, limiter, .login, from: "192.0.2.1", at: 10_000_000_000) == 3)
    #expect(passed(5, limiter, .login, from: "192.0.2.1", at: 1_000_000) == 0)
    #expect(passed(5, limiter, .login, from: "192.0.2.1", at: 1_010_000) == 1)
  }

  @Test func `an IPv6 subscriber counts as one, and each IPv4 address`() {
    let limiter = RateLimiter(Self.limits)
    #expect(passed(3, limiter, .login, from: "2001:db8::1", at: 0) == 3)
    #expect(passed(1, limiter, .login, from: "2001:db8::2:1", at: 0) == 0)
    #expect(passed(1, limiter, .login, from: "2001:db8:0:1::1", at: 0) == 1)
    #expect(passed(3, limiter, .login, from: "192.0.2.1", at: 0) == 3)
    #expect(passed(1, limiter, .login, from: "::ffff:192.0.2.1", at: 0) == 0)
    #expect(passed(1, limiter, .login, from: "192.0.2.2", at: 0) == 1)
  }

  @Test func `a user shares one bucket across addresses, but sign-in counts per address`() {
    let limiter = RateLimiter(Self.limits)
    #expect(passed(2, limiter, .writing, by: Self.user(1), from: "192.0.2.1", at: 0) == 2)
    #expect(passed(1, limiter, .writing, by: Self.user(1), from: "192.0.2.2", at: 0) == 0)
    #expect(passed(1, limiter, .writing, by: Self.user(2), from: "192.0.2.1", at: 0) == 1)
    #expect(passed(2, limiter, .login, by: Self.user(1), from: "192.0.2.1", at: 0) == 2)
    #expect(passed(2, limiter, .login, by: Self.user(2), from: "192.0.2.1", at: 0) == 1)
  }

  @Test func `limits are separate, and the operator's proxy is not counted`() {
    let limiter = RateLimiter(Self.limits)
    #expect(passed(3, limiter, .login, from: "192.0.2.1", at: 0) == 3)
    #expect(passed(1, limiter, .writing, from: "192.0.2.1", at: 0) == 1)
    #expect(passed(100, limiter, .login, from: nil, at: 0) == 100)
  }

  @Test func `a flood of addresses costs bounded memory and evicts no recent entry`() {
    let limiter = RateLimiter(Self.limits)
    #expect(passed(3, limiter, .login, from: "192.0.2.1", at: 0) == 3)
    for number in 0..<RateLimiter.maxBuckets {
      let address = IPAddress(high: 0x2001_0db8_0000_0000 + UInt64(number), low: 1)
      try? limiter.count(.login, by: .visitor, at: address, now: 0)
    }
    #expect(passed(1, limiter, .login, from: "192.0.2.1", at: 0) == 0)
    for number in 0..<3 * RateLimiter.maxBuckets {
      let address = IPAddress(high: 0x2001_0db9_0000_0000 + UInt64(number), low: 1)
      try? limiter.count(.login, by: .visitor, at: address, now: 0)
    }
    #expect(limiter.bucketCount <= 2 * RateLimiter.maxBuckets)
  }

  @Test(arguments: TestTransport.allCases)
  func `too many password attempts return a retry time`(transport: TestTransport) async throws {
    var limits = Self.limits
    // No attempt is refilled during the test, however long four password hashes take.
    limits.login = Allowance(burst: 3, perMinute: 1)
    try await Village.open(transport, rates: limits) { village in
      for _ in 1...3 {
        #expect(try await village.request(.post, "/sessions", ["name": "grace", "password": "guess"]).status == 401)
      }
      let limited = try await village.request(.post, "/sessions", ["name": "grace", "password": "grace’s password"])
      #expect(limited.status == 429 && limited.code == "rate_limited")
      let seconds = try #require(limited.int("params.seconds"))
      #expect((1...60).contains(seconds) && limited.fields["retry-after"] == "\(seconds)")
      #expect(limited.fields["ratelimit-limit"] == "3" && limited.fields["ratelimit-remaining"] == "0")
      #expect(limited.fields["ratelimit-reset"] == "\(seconds)")
      // Reads and other kinds are not limited.
      #expect(try await village.request(.get, "/me", as: "grace").status == 200)
      #expect(try await village.request(.patch, "/me", as: "grace", ["bio": "x"]).status == 200)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `attempts on one name are limited, except with a session of its user`(
    transport: TestTransport
  ) async throws {
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 3, perDay: 24)
    try await Village.open(transport, rates: rates) { village in
      func signIn(_ name: String, _ password: String, as caller: String? = nil) async throws -> Int {
        try await village.request(.post, "/sessions", as: caller, ["name": name, "password": password]).status
      }
      // A correct password is not counted.
      for _ in 1...5 { #expect(try await signIn("grace", "grace’s password") == 201) }
      for name in ["grace", "GRACE", "Grace"] { #expect(try await signIn(name, "guess") == 401) }
      #expect(try await signIn("grace", "grace’s password") == 429)
      #expect(try await signIn("linus", "linus’s password") == 201)
      // Her own session exempts her from the limit; the session of another user does not.
      #expect(try await signIn("grace", "grace’s password", as: "grace") == 201)
      #expect(try await signIn("grace", "grace’s password", as: "linus") == 429)
      #expect(try await village.request(.get, "/me", as: "grace").status == 200)
      // Unknown names are limited alike.
      for _ in 1...3 { #expect(try await signIn("nobody.here", "guess") == 401) }
      #expect(try await signIn("nobody.here", "guess") == 429)
      // A disabled user with the right password is not counted.
      try await village.setState("linus", in: .disabled)
      for _ in 1...5 { #expect(try await signIn("linus", "linus’s password") == 403) }
      #expect(try await signIn(String(repeating: "x", count: 65), "guess") == 401)
    }
  }

  /// The attack of strangers in other networks leaves her own network and her devices alone.
  @Test func `attempts on a name are counted by network and by device`() throws {
    let limiter = RateLimiter(RateLimits())
    func guesses(_ guesses: [RateLimiter.Guess]) -> Int {
      (0..<50).filter { _ in (try? limiter.count(guesses, now: 0)) != nil }.count
    }
    func from(_ address: String) -> [RateLimiter.Guess] { RateLimiter.Guess.at("grace", by: IPAddress(address)) }
    #expect(guesses(from("192.0.2.1")) == 40)
    #expect(guesses(from("192.0.2.254")) == 0)
    #expect(guesses(RateLimiter.Guess.at("GRACE", by: IPAddress("192.0.2.1"))) == 0)
    #expect(guesses(RateLimiter.Guess.at("linus", by: IPAddress("192.0.2.1"))) == 40)
    #expect(guesses(from("192.0.3.1")) == 40)
    #expect(guesses(from("2001:db8:1::1")) == 40)
    #expect(guesses(from("2001:db8:1:ffff::1")) == 0)
    #expect(guesses(from("2001:db8:2::1")) == 40)
    #expect(guesses([.onDevice("phone")]) == 40 && guesses([.onDevice("phone")]) == 0)
    #expect(guesses([.onDevice("laptop")]) == 40)
    #expect(guesses([.code(ID(1))]) == 40 && guesses([.code(ID(1))]) == 0 && guesses([.code(ID(2))]) == 40)
    #expect(guesses([.inSession(ID(1))]) == 40 && guesses([.inSession(ID(1))]) == 0)
    #expect(guesses([.byTokens(of: ID(1))]) == 40)
  }

  @Test func `guesses of one network at many names, and of many networks at one name, have limits, too`() throws {
    let limiter = RateLimiter(RateLimits())
    func guesses(_ name: String, _ address: String) -> Int {
      let guesses = RateLimiter.Guess.at(name, by: IPAddress(address))
      return (0..<500).filter { _ in (try? limiter.count(guesses, now: 0)) != nil }.count
    }
    // One network, which its neighbors share.
    #expect((0..<12).map { guesses("user\($0)", "192.0.2.\($0)") } == Array(repeating: 40, count: 10) + [0, 0])
    #expect(guesses("user0", "198.51.100.1") == 40)
    // Another user of that network has lost no guess of the own name.
    #expect(guesses("user11", "198.51.100.1") == 40)
    // One name. Guesses that its bucket refuses cost their network nothing.
    #expect((1...13).map { guesses("grace", "10.0.\($0).1") } == Array(repeating: 40, count: 10) + [0, 0, 0])
    #expect((0..<10).map { guesses("other\($0)", "10.0.13.1") } == Array(repeating: 40, count: 10))
    // A network that has used up its guesses takes none from others.
    #expect(guesses("linus", "203.0.113.1") == 40 && guesses("linus", "203.0.113.1") == 0)
    #expect(guesses("linus", "203.0.114.1") == 40)
    // Without an address.
    let unknown = RateLimiter.Guess.at("mira", by: nil)
    #expect((0..<500).filter { _ in (try? limiter.count(unknown, now: 0)) != nil }.count == 40)
  }

  @Test func `strangers of many networks lock no user out of a known device`() async throws {
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 3, perDay: 24)
    try await Village.open(.inMemory, rates: rates) { village in
      func signIn(_ password: String, _ address: Int, _ cookie: String? = nil) async throws -> Answer {
        var fields: Fields = ["Origin": village.origin]
        if let cookie { fields.add("Cookie", cookie) }
        let body: [String: Any] = ["name": "grace", "password": password, "cookie": true]
        await village.move(to: IPAddress("10.0.\(address).1"))
        return try await village.request(.post, "/sessions", body, fields: fields)
      }
      let first = try await signIn("grace’s password", 1)
      let device = try #require(first.fields.all("set-cookie").first { $0.hasPrefix("parley-device=") })
      for network in 1...10 { for _ in 1...3 { #expect(try await signIn("guess", network).status == 401) } }
      #expect(try await signIn("grace’s password", 99).status == 429)
      #expect(try await signIn("grace’s password", 99, String(device.prefix { $0 != ";" })).status == 201)
    }
  }

  @Test func `a device that the user signed in on keeps its attempts`() async throws {
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 3, perDay: 24)
    try await Village.open(.inMemory, rates: rates) { village in
      func signIn(_ name: String, _ password: String, _ cookie: String? = nil) async throws -> Answer {
        var fields: Fields = ["Origin": village.origin]
        if let cookie { fields.add("Cookie", cookie) }
        let body: [String: Any] = ["name": name, "password": password, "cookie": true]
        return try await village.request(.post, "/sessions", body, fields: fields)
      }
      func device(_ answer: Answer) throws -> String {
        let cookie = try #require(answer.fields.all("set-cookie").first { $0.hasPrefix("parley-device=") })
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"))
        return String(cookie.prefix { $0 != ";" })
      }
      let grace = try device(try await signIn("grace", "grace’s password"))
      let linus = try device(try await signIn("linus", "linus’s password"))
      for _ in 1...3 { #expect(try await signIn("grace", "guess").status == 401) }
      #expect(try await signIn("grace", "grace’s password").status == 429)
      #expect(try await signIn("grace", "grace’s password", grace).status == 201)
      // Marks of others and changed marks are worth nothing.
      for wrong in [
        linus, grace + "0", grace.replacing(".", with: ""), grace.replacing("=", with: "=1"), "parley-device=",
      ] {
        #expect(try await signIn("grace", "grace’s password", wrong).status == 429, "\(wrong)")
      }
      // The device has a limit, too.
      for _ in 1...3 { #expect(try await signIn("grace", "guess", grace).status == 401) }
      #expect(try await signIn("grace", "grace’s password", grace).status == 429)
    }
  }

  @Test func `attempts on a name refill with time`() throws {
    let limiter = RateLimiter(RateLimits())
    let guess = RateLimiter.Guess.at("grace", by: IPAddress("192.0.2.1"))
    func guesses(at now: Int64) -> Int {
      (0..<50).filter { _ in (try? limiter.count(guess, now: now)) != nil }.count
    }
    #expect(guesses(at: 1_000_000) == 40)
    #expect(guesses(at: 1_000_000 + 360_000) == 1)
    limiter.refund(guess, now: 1_000_000 + 360_000)
    #expect(guesses(at: 1_000_000 + 360_000) == 1)
    limiter.refund(RateLimiter.Guess.at("linus", by: nil), now: 0)
  }

  @Test func `every endpoint that changes state is rate limited by its kind`() {
    for endpoint in API.endpoints {
      // Two reads cost much.
      let limit = endpoint.rateLimit
      let isRead = limit == nil || limit == .searching || limit == .digesting
      #expect(isRead == endpoint.method.isSafe, "\(endpoint.method.name) \(endpoint.path)")
    }
    let others = API.endpoints.filter { $0.rateLimit != nil && $0.rateLimit != .writing }
    let kinds = Dictionary(grouping: others, by: \.rateLimit)
    #expect(
      kinds[.login]?.map(\.path).sorted() == [
        "/apps", "/apps/{id}/secret", "/bots", "/bots/{id}/tokens", "/commands", "/commands/{id}/secret",
        "/destructions", "/email-confirmations", "/links/{code}", "/me/identities",
        "/me/password", "/me/second-factor",
        "/me/tokens", "/password-resets", "/sessions",
        "/sessions/current/proof", "/sessions/passkey", "/sessions/second-factor", "/users/{id}", "/webhook-endpoints",
        "/webhook-endpoints/{id}/secret", "/webhooks", "/webhooks/{id}/secret",
      ])
    #expect(kinds[.delivering]?.map(\.path) == ["/hooks/{secret}", "/command-replies/{secret}"])
    #expect(kinds[.registration]?.map(\.path) == ["/users"])
    #expect(kinds[.discovery]?.map(\.path) == ["/users/discover"])
    #expect(
      kinds[.previewing]?.map(\.path).sorted() == [
        "/me/push-subscriptions/{id}/test", "/previews", "/settings/mail-test",
      ])
    #expect(kinds[.searching]?.map(\.path) == ["/messages/search"])
    #expect(kinds[.exporting]?.map(\.path) == ["/me/export"])
    #expect(kinds[.digesting]?.map(\.path) == ["/conversations/{id}/digest", "/conversations/{id}/checkpoint"])
  }

  @Test(arguments: ["/messages/search?q=wool", "/conversations/%@/digest", "/conversations/%@/checkpoint"])
  func `costly reads are limited for each visitor and user`(path: String) async throws {
    var rates = Village.unlimited
    (rates.searching, rates.digesting) = (Allowance(burst: 3, perMinute: 1), Allowance(burst: 3, perMinute: 1))
    try await Village.open(.inMemory, rates: rates) { village in
      let room = try await village.garden("garden", "public").room
      let path = path.replacing("%@", with: room)
      for name in [nil, "grace"] {
        for _ in 1...3 { #expect(try await village.request(.get, path, as: name).status == 200) }
        #expect(try await village.request(.get, path, as: name).status == 429)
      }
      #expect(try await village.request(.get, path, as: "linus").status == 200)
    }
  }
}
