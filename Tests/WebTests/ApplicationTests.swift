import ParleyWire
import Testing
import Web

/// The rules for every response.
@Suite struct ApplicationTests {
  private static let long = "{\"text\":\"" + String(repeating: "garden ", count: 300) + "\"}"
  /// Long enough to be compressed off the event loop.
  private static let longest = String(repeating: long, count: 100)
  private static let tag = "\"v1\""

  private static func site(_ addresses: Addresses = Addresses()) -> Application {
    Application(
      router: Router { routes in
        routes.on(.get, "/small") { _, _ in .json(Array("{}".utf8)) }
        routes.on(.get, "/long") { _, _ in .json(Array(long.utf8)) }
        routes.on(.get, "/longest") { _, _ in .json(Array(longest.utf8)) }
        routes.on(.get, "/tagged") { _, _ in
          var response = Response.json(Array(long.utf8))
          response.fields.add("ETag", tag)
          response.fields.add("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
          response.fields.add("Cache-Control", "private")
          response.fields.add("Vary", "Cookie")
          return response
        }
        routes.on(.post, "/tagged") { _, _ in
          Response(.ok, fields: ["ETag": tag, "Content-Type": "text/plain"], body: .bytes(Array(long.utf8)))
        }
        routes.on(.get, "/packed") { _, _ in
          Response(
            .ok, fields: ["Content-Type": "text/plain", "Content-Encoding": "br"], body: .bytes(Array(long.utf8)))
        }
        routes.on(.get, "/secret") { _, _ in
          Response(.ok, fields: ["Content-Type": "text/plain"], body: .bytes(Array(long.utf8)), isNegotiated: true)
        }
        routes.on(.get, "/image") { _, _ in Response(.ok, [UInt8](repeating: 1, count: 5_000), type: .bytes) }
        routes.on(.get, "/framed") { _, _ in
          Response(.ok, fields: ["X-Frame-Options": "SAMEORIGIN", "Content-Type": "text/plain"], body: .bytes([1]))
        }
        routes.on(.get, "/stream") { _, _ in
          Response(
            .ok, fields: ["Content-Type": "text/event-stream"], body: .stream(length: nil) { try await $0.write([65]) })
        }
      }, addresses: addresses)
  }

  private let client = InMemory(ApplicationTests.site())
  private let gzip: Fields = ["Accept-Encoding": "gzip, deflate, br"]

  @Test(arguments: ["/small", "/long", "/nothing", "/stream", "/image"])
  func `every response has the common fields`(_ path: String) async {
    let answer = await client.get(path)
    for index in 0..<Application.securityFields.count {
      #expect(answer.fields.wireBytes.contains(Array(Application.securityFields.name(at: index).utf8)))
    }
    #expect(answer["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
  }

  @Test func `fields of a handler have priority`() async {
    let answer = await client.get("/framed")
    #expect(answer.fields.all("x-frame-options") == ["SAMEORIGIN"])
    #expect(answer["x-content-type-options"] == "nosniff")
    #expect(answer["referrer-policy"] == "same-origin")
  }

  @Test(arguments: [("/long", long), ("/longest", longest)])
  func `a long response is gzipped if the client accepts it`(_ path: String, _ expected: String) async throws {
    let packed = await client.get(path, gzip)
    #expect(packed["content-encoding"] == "gzip")
    #expect(packed["vary"] == "Accept-Encoding")
    #expect(packed.body.starts(with: [0x1f, 0x8b]))
    // Deflate data is between the gzip header and the checksum.
    var text: [UInt8] = []
    try Inflater().inflate(Array(packed.body.dropFirst(10).dropLast(8)).span, into: &text, limit: 1_000_000)
    #expect(text == Array(expected.utf8))
    let plain = await client.get(path)
    #expect(plain["content-encoding"] == nil)
    #expect(plain["vary"] == "Accept-Encoding")
    #expect(plain.text == expected)
  }

  @Test(arguments: ["/small", "/packed", "/secret", "/image", "/stream"])
  func `short, incompressible, compressed or secret responses are not gzipped`(_ path: String) async {
    let answer = await client.get(path, gzip)
    #expect(answer["content-encoding"] != "gzip")
    #expect(answer["vary"] == nil)
  }

  @Test func `gzip makes a strong tag weak`() async {
    #expect(await client.get("/tagged", gzip)["etag"] == "W/\"v1\"")
    #expect(await client.get("/tagged")["etag"] == "\"v1\"")
  }

  @Test(arguments: ["\"v1\"", "W/\"v1\"", "\"v0\", \"v1\"", "*"])
  func `a client with the current representation gets 304`(_ value: String) async {
    for method in [Method.get, .head] {
      let answer = await client.send(method, "/tagged", ["If-None-Match": value, "Accept-Encoding": "gzip"])
      let whole = await client.send(method, "/tagged", gzip)
      #expect(answer.status == 304)
      #expect(answer.body.isEmpty)
      // RFC 9110 §15.4.5.
      for name in ["etag", "cache-control", "vary"] as [StaticString] {
        #expect(answer.fields.all(name) == whole.fields.all(name))
      }
      for name in ["content-type", "content-encoding", "last-modified"] as [StaticString] {
        #expect(answer[name] == nil)
      }
    }
  }

  @Test func `other tags, methods and malformed conditions get the full response`() async {
    #expect(await client.get("/tagged", ["If-None-Match": "\"v2\""]).status == 200)
    #expect(await client.get("/tagged", ["If-None-Match": "v1"]).status == 200)
    #expect(await client.get("/long", ["If-None-Match": "*"]).status == 200)
    #expect(await client.send(.post, "/tagged", ["If-None-Match": "\"v1\""]).status == 200)
  }

  @Test func `Range is ignored for generated responses`() async {
    let answer = await client.get("/long", ["Range": "bytes=0-1"])
    #expect(answer.status == 200)
    #expect(answer.text == Self.long)
  }

  @Test(arguments: [
    ("https://chat.example.org", true), ("https://chat.example.org:8443", false), ("http://chat.example.org", false),
  ])
  func `HSTS is sent only for a public https origin on port 443`(_ origin: String, _ isPromised: Bool)
    async throws
  {
    let address = try #require(WebAddress(origin: origin))
    let answer = await InMemory(Self.site(Addresses(publicOrigins: [address]))).get("/small")
    #expect(answer["strict-transport-security"] == (isPromised ? "max-age=31536000" : nil))
    #expect(await client.send(.get, "/small", isEncrypted: true)["strict-transport-security"] == nil)
  }
}

extension [UInt8] {
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: part) }
  }
}
