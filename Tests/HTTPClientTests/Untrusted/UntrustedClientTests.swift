import ParleyNetworking
import ParleyWire
import Synchronization
import TestSupport
import Testing

@testable import ParleyHTTPClient

/// The client with well-behaved and hostile servers.
@Suite struct UntrustedClientTests {
  /// A client that may also connect to these addresses, with these names.
  private static func client(
    _ servers: [CannedServer], names: [String: [String]] = [:], time: Int = 100_000,
    _ body: (UntrustedClient) async throws -> Void
  ) async throws {
    let local = try #require(IPAddress("127.0.0.1"))
    var limits = UntrustedLimits()
    limits.timeout = time
    let client = try UntrustedClient(
      .alsoAllowing(servers.map { (local, $0.port) }), limits: limits,
      resolve: { host, port, _ throws(UntrustedFault) in
        guard let found = names[host] else { throw .unknownHost }
        return found.compactMap { SocketAddress(host: $0, port: port) }
      })
    try await body(client)
    client.close()
  }

  private static func fault(_ client: UntrustedClient, _ link: String) async -> UntrustedFault? {
    do throws(UntrustedFault) {
      _ = try await client.fetch(link, .anything)
      return nil
    } catch { return error }
  }

  @Test func `a page is fetched without identifying the user`() async throws {
    let server = try CannedServer { _ in .page("<title>Roses</title>") }
    try await Self.client([server]) { client in
      let answer = try await client.fetch("\(server.url)/a?b=ü#c", .anything)
      #expect(String(decoding: answer.body, as: UTF8.self) == "<title>Roses</title>")
      #expect(answer.type["charset"] == "utf-8" && answer.address.target == "/a?b=%C3%BC")
      let head = try #require(server.requests.first)
      #expect(head.hasPrefix("GET /a?b=%C3%BC HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
      for word in ["Cookie", "Referer", "Authorization", "Forwarded", "Origin", "From:"] {
        #expect(!head.contains(word))
      }
    }
  }

  @Test func `chunked, close-delimited and interim responses are read`() async throws {
    let server = try CannedServer { target in
      switch target {
      case "/chunks":
        .text(
          "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nro\r\n2\r\nse\r\n0\r\n\r\n"
        )
      case "/end": .text("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nrose")
      case "/drip":
        .drip(Array("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nrose".utf8), every: 1)
      default:
        .text("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nrose")
      }
    }
    try await Self.client([server]) { client in
      for path in ["/chunks", "/end", "/drip", "/interim"] {
        let body = try await client.fetch(server.url + path, .anything).body
        #expect(String(decoding: body, as: UTF8.self) == "rose", "\(path)")
      }
    }
  }

  @Test func `a redirect is followed if its target is allowed`() async throws {
    let other = try CannedServer { _ in .page("other") }
    let server = try CannedServer { [port = other.port] target in
      switch target {
      case "/here": .redirect(to: "there?x#y")
      case "/there?x": .page("there")
      case "/other": .redirect(to: "http://127.0.0.1:\(port)/", status: 301)
      case "/inside": .redirect(to: "http://127.0.0.1:9/")
      case "/metadata": .redirect(to: "//169.254.169.254/latest/")
      case "/decimal": .redirect(to: "http://2130706433/", status: 307)
      case "/file": .redirect(to: "file:///etc/passwd", status: 308)
      case "/name": .redirect(to: "http://inside.example:\(port)/")
      case "/port": .redirect(to: "http://127.0.0.1:22/")
      case "/loop": .redirect(to: "/loop")
      default: .missing
      }
    }
    let names = ["inside.example": ["10.0.0.7"]]
    try await Self.client([server, other], names: names) { client in
      let here = try await client.fetch(server.url + "/here", .anything)
      #expect(String(decoding: here.body, as: UTF8.self) == "there" && here.address.target == "/there?x")
      #expect(try await client.fetch(server.url + "/other", .anything).body == Array("other".utf8))
      for path in ["/inside", "/metadata", "/decimal", "/file", "/name", "/port"] {
        #expect(await Self.fault(client, server.url + path) == .refused, "\(path)")
      }
      let before = server.requests.count
      #expect(await Self.fault(client, server.url + "/loop") == .tooManyRedirects)
      #expect(server.requests.count - before == 6)
      #expect(await Self.fault(client, server.url + "/else") == .status(404))
    }
  }

  @Test func `a name is looked up once, and all of its addresses are checked`() async throws {
    let server = try CannedServer { _ in .page("rose") }
    let lookups = Mutex<[String]>([])
    let local = try #require(IPAddress("127.0.0.1"))
    var limits = UntrustedLimits()
    limits.timeout = 100_000
    let client = try UntrustedClient(
      .alsoAllowing([(local, server.port)]), limits: limits,
      resolve: { host, port, _ throws(UntrustedFault) in
        let count = lookups.withLock { lookups in
          lookups.append(host)
          return lookups.count { $0 == host }
        }
        let found: [String] =
          switch host {
          case "good.example": ["127.0.0.1"]
          // Public at the first lookup, internal at the second.
          case "turning.example": count == 1 ? ["127.0.0.1"] : ["10.0.0.7"]
          case "mixed.example": ["127.0.0.1", "10.0.0.7"]
          case "inside.example": ["10.0.0.7"]
          case "mapped.example": ["::ffff:10.0.0.7"]
          case "metadata.example": ["169.254.169.254"]
          case "six.example": ["fd00:ec2::254"]
          default: []
          }
        return found.compactMap { SocketAddress(host: $0, port: port) }
      })
    for host in ["good.example", "turning.example"] {
      let answer = try await client.fetch("http://\(host):\(server.port)/", .anything)
      #expect(answer.body == Array("rose".utf8) && lookups.withLock { $0.count { $0 == host } } == 1)
    }
    #expect(server.requests.allSatisfy { $0.contains(".example:\(server.port)\r\n") })
    for host in ["mixed.example", "inside.example", "mapped.example", "metadata.example", "six.example"] {
      #expect(await Self.fault(client, "http://\(host):\(server.port)/") == .refused, "\(host)")
    }
    #expect(await Self.fault(client, "http://nowhere.example/") == .unknownHost)
    #expect(server.requests.count == 2)
    client.close()
  }

  @Test func `an unacceptable response is refused`() async throws {
    let server = try CannedServer { target in
      switch target {
      case "/type": .content(Array("x".utf8), type: "application/pdf")
      case "/none": .text("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
      case "/gzip":
        .text("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx")
      case "/large": .text("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 1001\r\n\r\nx")
      case "/grows": .text("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + String(repeating: "x", count: 1_001))
      case "/short": .text("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\nx")
      case "/two":
        .text("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx")
      case "/smtp": .text("220 mail.example ESMTP\r\n")
      case "/nothing": .text("")
      case "/head": .text("HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 50_000))
      case "/hints": .text(String(repeating: "HTTP/1.1 103 Hints\r\n\r\n", count: 100))
      case "/partial": .text("HTTP/1.1 206 Partial\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\nx")
      case "/error": .text("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
      case "/exact": .content([UInt8](repeating: 1, count: 1_000), type: "image/png")
      default: .content([UInt8](repeating: 1, count: 5_000), type: "text/html")
      }
    }
    try await Self.client([server]) { client in
      for (path, expected) in [
        ("/type", .wrongType), ("/none", .wrongType), ("/gzip", .wrongType), ("/large", .tooLarge),
        ("/grows", .tooLarge),
        ("/short", .unreachable), ("/two", .unreachable), ("/smtp", .unreachable), ("/nothing", .unreachable),
        ("/head", .unreachable), ("/hints", .unreachable), ("/partial", .status(206)), ("/error", .status(500)),
      ] as [(String, UntrustedFault)] {
        #expect(await Self.fault(client, server.url + path) == expected, "\(path)")
      }
      // Longer content is truncated.
      for path in ["/exact", "/long"] {
        let answer = try await client.fetch(server.url + path, .anything)
        #expect(answer.body.count == 1_000, "\(path)")
      }
    }
  }

  @Test func `many small chunks are read`() async throws {
    let chunks = String(repeating: "1\r\nx\r\n", count: 300_000)
    let server = try CannedServer { _ in
      .text("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n")
    }
    try await Self.client([server]) { client in
      let accepted = AcceptedContent(accept: "*/*", [.init("text/html", maxBytes: 1_000_000)])
      let answer = try await client.fetch(server.url, accepted)
      #expect(answer.body.count == 300_000)
    }
  }

  @Test func `a fetch never exceeds its total timeout`() async throws {
    let server = try CannedServer { target in
      switch target {
      case "/silent": .silence
      case "/drip": .drip([UInt8](repeating: UInt8(ascii: "H"), count: 10_000), every: 5)
      case "/body": .beginning(Array("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nA".utf8))
      default: .redirect(to: "/silent")
      }
    }
    try await Self.client([server], time: 300) { client in
      // "HH" is malformed at once, but a busy machine may time out first.
      let fault = await Self.fault(client, server.url + "/drip")
      #expect(fault == .unreachable || fault == .timedOut)
      for path in ["/silent", "/body", "/redirect"] {
        #expect(await Self.fault(client, server.url + path) == .timedOut, "\(path)")
      }
    }
    let closed = try CannedServer { _ in .missing }
    let port = closed.port
    try await Self.client([closed, server], names: ["x.example": ["127.0.0.1"]]) { client in
      _ = consume closed
      #expect(await Self.fault(client, "http://127.0.0.1:\(port)/") != nil)
      #expect(await Self.fault(client, "http://nobody.example/") == .unknownHost)
    }
  }

  @Test(
    arguments: [
      ("120", 120), ("0", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 30), ("soon", nil), ("", nil), ("-5", nil),
      ("9999999999", nil),
    ] as [(String, Int?)])
  func `the time to wait is a number of seconds or a date`(_ text: String, _ seconds: Int?) {
    let reply = UntrustedReply(status: 503, fields: ["Retry-After": text], body: [], isComplete: true)
    #expect(reply.retryAfter(at: 784_111_747) == seconds)
  }

  @Test func `a POST follows no redirect and reads no more than its limit`() async throws {
    let long = String(repeating: "x", count: 1 << 20)
    let server = try CannedServer { target in
      switch target {
      case "/moved": .redirect(to: "/hook", status: 308)
      case "/long": .text("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + long)
      case "/endless": .beginning(Array("HTTP/1.1 202 Accepted\r\nContent-Length: 5\r\n\r\nab".utf8))
      default: .text("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")
      }
    }
    try await Self.client([server], time: 2_000) { client in
      func post(_ path: String) async throws -> UntrustedReply {
        try await client.post([], ["webhook-id": "msg_1"], to: "\(server.url)\(path)", maxBytes: 16_384)
      }
      #expect(try await post("/moved").status == 308)
      #expect(try await post("/long").status == 200)
      // The head is the answer.
      #expect(try await post("/endless").status == 202)
      let busy = try await post("/hook")
      #expect(busy.status == 503 && busy.fields["retry-after"] == "7")
      #expect(server.requests.count == 4 && server.requests.allSatisfy { $0.contains("webhook-id: msg_1") })
    }
  }

  @Test func `a POST needs TLS, except to an exception`() async throws {
    try await Self.client([], names: ["public.example.org": ["8.8.8.8"]]) { client in
      for link in ["http://public.example.org/", "http://8.8.8.8/", "https://127.0.0.1/", "https://localhost/"] {
        await #expect(throws: UntrustedFault.refused, "\(link)") {
          try await client.post([1], [:], to: link, maxBytes: 1)
        }
      }
      #expect(client.address(of: "https://public.example.org/a", requiresTLS: true) != nil)
      #expect(client.address(of: "http://public.example.org/a") != nil)
    }
    let policy = UntrustedPolicy.alsoAllowing([(try #require(IPAddress("127.0.0.1")), 9_999)])
    #expect(policy.address(of: "http://127.0.0.1:9999/", requiresTLS: true) != nil)
    #expect(policy.address(of: "http://127.0.0.1:9998/", requiresTLS: true) == nil)
    #expect(policy.address(of: "http://example.org:9999/", requiresTLS: true) == nil)
  }

  @Test func `concurrent fetches are limited`() async throws {
    let server = try CannedServer { _ in .silence }
    let local = try #require(IPAddress("127.0.0.1"))
    var limits = UntrustedLimits()
    (limits.maxFetches, limits.timeout) = (2, 600_000)
    let client = try UntrustedClient(.alsoAllowing([(local, server.port)]), limits: limits)
    let waiting = (0..<2).map { _ in Task { await Self.fault(client, server.url) } }
    while server.requests.count < 2 { await Task.yield() }
    #expect(await Self.fault(client, server.url) == .busy)
    client.close()
    for task in waiting { #expect(await task.value == .unreachable) }
  }
}
