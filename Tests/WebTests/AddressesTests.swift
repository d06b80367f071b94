import ParleyWire
import Testing
import Web

@Suite struct AddressesTests {
  private static let proxies = ["127.0.0.1", "10.0.0.0/8", "fd00::/8"].compactMap { AddressBlock($0) }

  private static func context(
    _ addresses: Addresses, peer: String?, _ fields: Fields, isEncrypted: Bool = false, authority: String? = nil,
    on loop: any Actor
  ) -> Context {
    let head = RequestHead(method: .get, target: Target(path: "/", authority: authority), fields: fields)
    return Context(
      id: RequestID(process: 0, number: 0), now: 0, uptime: 0, loop: loop, peer: peer.flatMap { IPAddress($0) },
      isEncrypted: isEncrypted, request: Request(head: head, body: RequestBody()), addresses: addresses)
  }

  private actor Loop {}

  @Test(
    arguments: [
      // A direct connection: forwarding fields of the client are ignored.
      ("192.0.2.1", [:], "192.0.2.1"),
      ("192.0.2.1", ["X-Forwarded-For": "203.0.113.9"], "192.0.2.1"),
      ("192.0.2.1", ["X-Forwarded-For": "127.0.0.1"], "192.0.2.1"),
      ("::ffff:192.0.2.1", ["X-Forwarded-For": "203.0.113.9"], "192.0.2.1"),
      // One proxy.
      ("127.0.0.1", ["X-Forwarded-For": "203.0.113.9"], "203.0.113.9"),
      ("::ffff:127.0.0.1", ["X-Forwarded-For": "203.0.113.9"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "203.0.113.9:4711"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "2001:db8::1"], "2001:db8::1"),
      ("127.0.0.1", ["X-Forwarded-For": "[2001:db8::1]:80"], "2001:db8::1"),
      ("127.0.0.1", [:], "127.0.0.1"),
      ("fd00::1", ["X-Forwarded-For": "203.0.113.9"], "203.0.113.9"),
      // The client sends the field itself: the entry of the proxy is last.
      ("127.0.0.1", ["X-Forwarded-For": "1.1.1.1, 203.0.113.9"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "10.0.0.1, 203.0.113.9"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "1.1.1.1", "X-Forwarded-For": "203.0.113.9"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "nonsense, 203.0.113.9"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "\", 203.0.113.9"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "\"", "X-Forwarded-For": "203.0.113.9"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": ",,,, 203.0.113.9"], "203.0.113.9"),
      // Several proxies.
      ("127.0.0.1", ["X-Forwarded-For": "203.0.113.9, 10.1.1.1"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "6.6.6.6, 203.0.113.9, 10.1.1.1"], "203.0.113.9"),
      ("127.0.0.1", ["X-Forwarded-For": "10.2.2.2, 10.1.1.1"], "10.2.2.2"),
      ("127.0.0.1", ["X-Forwarded-For": "203.0.113.9, ::ffff:10.1.1.1"], "203.0.113.9"),
      // A malformed entry of our own proxy: the proxy is the nearest known address.
      ("127.0.0.1", ["X-Forwarded-For": "203.0.113.9, unknown"], "127.0.0.1"),
      ("127.0.0.1", ["X-Forwarded-For": "203.0.113.9, 10.1.1.999"], "127.0.0.1"),
      ("127.0.0.1", ["X-Forwarded-For": "203.0.113.9, _hidden, 10.1.1.1"], "10.1.1.1"),
      // This proxy does not write the other field.
      ("127.0.0.1", ["Forwarded": "for=6.6.6.6", "X-Forwarded-For": "203.0.113.9"], "203.0.113.9"),
      ("127.0.0.1", ["Forwarded": "for=6.6.6.6"], "127.0.0.1"),
      ("127.0.0.1", ["X-Real-IP": "6.6.6.6"], "127.0.0.1"),
      // A Unix socket.
      (nil, ["X-Forwarded-For": "203.0.113.9"], "203.0.113.9"), (nil, [:], "unix"),
    ] as [(String?, KeyValuePairs<String, String>, String)])
  func `the client is the last address that is not a trusted proxy`(
    _ peer: String?, _ fields: KeyValuePairs<String, String>, _ expected: String
  ) async {
    let context = Self.context(Addresses(trusted: Self.proxies), peer: peer, Fields(fields), on: Loop())
    #expect(context.client.map(\.description) ?? "unix" == expected)
  }

  @Test func `hops beyond the limit are not parsed`() async {
    let many = Array(repeating: "10.0.0.1", count: 2_000).joined(separator: ", ")
    let context = Self.context(
      Addresses(trusted: Self.proxies), peer: "127.0.0.1", ["X-Forwarded-For": many], on: Loop())
    #expect(context.client?.description == "10.0.0.1")
  }

  @Test(
    arguments: [
      (["Forwarded": "for=203.0.113.9"], "203.0.113.9"), (["Forwarded": "for=\"[2001:db8::1]:47\""], "2001:db8::1"),
      (["Forwarded": "for=6.6.6.6, for=203.0.113.9;proto=https"], "203.0.113.9"),
      (["Forwarded": "nonsense, for=203.0.113.9"], "203.0.113.9"),
      (["Forwarded": "for=203.0.113.9, for=10.0.0.1"], "203.0.113.9"),
      (["Forwarded": "for=203.0.113.9", "X-Forwarded-For": "6.6.6.6"], "203.0.113.9"),
      (["X-Forwarded-For": "6.6.6.6"], "127.0.0.1"),
      // An unterminated quote of the client makes the whole field malformed: no entry is trusted.
      (["Forwarded": "for=\"6.6.6.6, for=203.0.113.9"], "127.0.0.1"),
    ] as [(KeyValuePairs<String, String>, String)])
  func `a proxy may write Forwarded instead`(_ fields: KeyValuePairs<String, String>, _ expected: String)
    async
  {
    let addresses = Addresses(trusted: Self.proxies, proxyFields: .forwarded)
    let context = Self.context(addresses, peer: "127.0.0.1", Fields(fields), on: Loop())
    #expect(context.client?.description == expected)
  }

  @Test func `a Unix socket may be distrusted`() async {
    let addresses = Addresses(trustsUnixSocket: false)
    let context = Self.context(
      addresses, peer: nil, ["X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"], on: Loop())
    #expect(context.client == nil)
    #expect(!context.isSecure)
  }

  @Test(
    arguments: [
      ("192.0.2.1", ["Host": "garden.example"], false, "http://garden.example"),
      ("192.0.2.1", ["Host": "garden.example"], true, "https://garden.example"),
      ("192.0.2.1", ["Host": "Garden.Example:8080"], false, "http://garden.example:8080"),
      ("192.0.2.1", ["Host": "garden.example:443"], true, "https://garden.example"),
      ("192.0.2.1", ["Host": "ev<il"], false, "http://localhost"), ("192.0.2.1", [:], false, "http://localhost"),
      ("192.0.2.1", ["Host": "a", "X-Forwarded-Host": "evil", "X-Forwarded-Proto": "https"], false, "http://a"),
      (
        "127.0.0.1", ["Host": "a", "X-Forwarded-Host": "garden.example", "X-Forwarded-Proto": "https"], false,
        "https://garden.example"
      ),
      ("127.0.0.1", ["Host": "a", "X-Forwarded-Proto": "https"], false, "https://a"),
      ("127.0.0.1", ["Host": "a", "X-Forwarded-Proto": "http, https"], false, "https://a"),
      ("127.0.0.1", ["Host": "a", "X-Forwarded-Proto": "gopher"], false, "http://a"),
      ("127.0.0.1", ["Host": "a", "X-Forwarded-Host": "evil, garden.example"], false, "http://garden.example"),
      ("127.0.0.1", ["Host": "a", "X-Forwarded-Host": "x y"], false, "http://a"),
      ("127.0.0.1", ["Host": "a", "X-Forwarded-Proto": "https", "X-Forwarded-For": "nonsense"], false, "https://a"),
      ("127.0.0.1", ["Host": "a", "Forwarded": "host=evil;proto=https"], false, "http://a"),
    ] as [(String, KeyValuePairs<String, String>, Bool, String)])
  func `without a public origin, the origin is that of the nearest proxy or of the request`(
    _ peer: String, _ fields: KeyValuePairs<String, String>, _ isEncrypted: Bool, _ expected: String
  ) async {
    let addresses = Addresses(trusted: Self.proxies)
    let context = Self.context(addresses, peer: peer, Fields(fields), isEncrypted: isEncrypted, on: Loop())
    #expect(context.origin == expected)
    #expect(context.isSecure == expected.hasPrefix("https:"))
    #expect(context.isOwnOrigin(expected))
  }

  @Test(
    arguments: [
      ("192.0.2.1", [:], true, true, true), ("192.0.2.1", [:], false, false, false),
      ("192.0.2.1", ["X-Forwarded-Proto": "https"], false, false, false),
      ("127.0.0.2", [:], false, false, true),
      // Another program of the machine passes on a request, and is no trusted proxy.
      ("127.0.0.2", ["X-Forwarded-Proto": "https"], false, false, false),
      ("127.0.0.2", ["X-Forwarded-For": "203.0.113.9"], false, false, false),
      ("127.0.0.2", ["Forwarded": "for=203.0.113.9"], false, false, false),
      ("127.0.0.2", ["Via": "1.1 proxy"], false, false, false),
      ("127.0.0.2", ["X-Real-IP": "203.0.113.9"], false, false, false),
      ("127.0.0.1", ["X-Forwarded-Proto": "https"], false, true, false),
      ("127.0.0.1", ["X-Forwarded-Proto": "wss"], false, true, false),
      ("127.0.0.1", ["X-Forwarded-Proto": "http"], false, false, false),
      ("127.0.0.1", ["X-Forwarded-Proto": "https, http"], false, false, false),
      ("127.0.0.1", ["X-Forwarded-Proto": "gopher"], false, false, false),
      ("127.0.0.1", ["X-Forwarded-Proto": "http"], true, false, false),
      ("127.0.0.1", ["X-Forwarded-For": "203.0.113.9"], false, false, false),
      (nil, ["X-Forwarded-Proto": "https"], false, true, false), (nil, [:], false, false, true),
    ] as [(String?, KeyValuePairs<String, String>, Bool, Bool, Bool)])
  func `the connection or a trusted proxy tells whether the client uses TLS, whatever the public origin`(
    _ peer: String?, _ fields: KeyValuePairs<String, String>, _ isEncrypted: Bool, _ isFromTLS: Bool,
    _ isFromThisMachine: Bool
  ) async throws {
    let origin = try #require(WebAddress(origin: "https://chat.example.org"))
    let context = Self.context(
      Addresses(publicOrigins: [origin], trusted: Self.proxies), peer: peer, Fields(fields), isEncrypted: isEncrypted,
      on: Loop())
    #expect(context.isFromTLS == isFromTLS)
    #expect(isFromTLS || context.isFromThisMachine == isFromThisMachine)
  }

  @Test func `an absolute target has priority over Host`() async {
    let context = Self.context(Addresses(), peer: "192.0.2.1", ["Host": "a"], authority: "b:81", on: Loop())
    #expect(context.origin == "http://b:81")
  }

  @Test func `a public origin has priority over the request`() async throws {
    let origins = try ["https://chat.example.org", "https://old.example.org:8443"].map {
      try #require(WebAddress(origin: $0))
    }
    let context = Self.context(
      Addresses(publicOrigins: origins, trusted: Self.proxies), peer: "127.0.0.1",
      ["Host": "evil", "X-Forwarded-Host": "evil", "X-Forwarded-Proto": "http"], on: Loop())
    #expect(context.origin == "https://chat.example.org")
    #expect(context.isSecure)
    let rows = [
      ("https://chat.example.org", true), ("https://chat.example.org:443", true), ("HTTPS://CHAT.example.org", true),
      ("https://old.example.org:8443", true), ("https://old.example.org", false), ("http://chat.example.org", false),
      ("https://chat.example.org.evil", false), ("https://evil", false), ("http://evil", false), ("null", false),
      ("", false),
      ("https://chat.example.org/", false), ("https://chat.example.org/x", false),
      ("https://user@chat.example.org", false),
    ]
    for (origin, isOwn) in rows { #expect(context.isOwnOrigin(origin) == isOwn, "\(origin)") }
  }
}
