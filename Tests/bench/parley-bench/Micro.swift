import ParleyJSON
import ParleyNetworking
import ParleyWire
import Web

/// Micro-benchmarks of serving, without sockets, in nanoseconds. The result is the median of several rounds.
struct Micro {
  private struct Step {
    let name: String
    /// Repeats the step this many times.
    let work: (Int) async throws -> Void
  }

  private let names: [String]
  private let isJSON: Bool
  private static let rounds = 21
  private static let roundTime: Int64 = 10_000_000

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, options: [], flags: ["json"])
    names = arguments.values
    isJSON = arguments.has("json")
    let known = try Self.steps().map(\.name)
    if let unknown = names.first(where: { !known.contains($0) }) {
      throw UsageError("Unknown micro-benchmark \(unknown). Choose from \(known.joined(separator: ", ")).")
    }
  }

  func run() async throws {
    var json = JSONWriter()
    var results: [(name: String, nanoseconds: Double)] = []
    for step in try Self.steps() where names.isEmpty || names.contains(step.name) {
      Console.progress(step.name)
      results.append((step.name, try await Self.median(step)))
    }
    Console.progress("")
    if isJSON {
      json.object { json in for result in results { json.field(result.name, result.nanoseconds) } }
      print(String(decoding: json.bytes, as: UTF8.self))
    } else {
      for result in results {
        let name = result.name.padding(to: 20)
        print("\(name) \(result.nanoseconds.rounded(to: 1)) ns")
      }
    }
  }

  private static func median(_ step: Step) async throws -> Double {
    var times = 1
    while try await time(step, times) < roundTime { times *= 2 }
    var each: [Double] = []
    for _ in 0..<rounds { each.append(Double(try await time(step, times)) / Double(times)) }
    return each.sorted()[rounds / 2]
  }

  private static func time(_ step: Step, _ times: Int) async throws -> Int64 {
    let began = Clock.monotonic()
    try await step.work(times)
    return Clock.monotonic() - began
  }

  // MARK: The steps

  private static func steps() throws -> [Step] {
    [
      Step(name: "small-head") { try parseHead(smallHead, $0) },
      Step(name: "browser-head") { try parseHead(browserHead, $0) },
      Step(name: "websocket-echo") { echo(size: 100, $0) },
      Step(name: "websocket-echo-16k") { echo(size: 16_384, $0) },
      Step(name: "json-50-messages") { writeMessages($0) },
      Step(name: "route-literal") { matchRoute("/api/v1/forums", $0) },
      Step(name: "route-variable") { matchRoute("/api/v1/conversations/4711/messages/42", $0) },
      Step(name: "respond-json") { try await respond($0) },
    ]
  }

  private static let smallHead = "GET /json HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"
  private static let browserHead = """
    GET /api/v1/conversations/42/messages?limit=50 HTTP/1.1\r
    Host: chat.garden.example\r
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r
    Accept: application/json\r
    Accept-Language: en-GB,en;q=0.5\r
    Accept-Encoding: gzip, deflate, br, zstd\r
    Referer: https://chat.garden.example/forums/7\r
    Cookie: session=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r
    Connection: keep-alive\r
    Sec-Fetch-Dest: empty\r
    Sec-Fetch-Mode: cors\r
    Sec-Fetch-Site: same-origin\r
    \r

    """

  private static func parseHead(_ text: String, _ times: Int) throws {
    let bytes = Array(text.utf8)
    var parser = RequestParser()
    for _ in 0..<times {
      guard let (_, length) = try parser.parse(bytes.span), length == bytes.count else {
        throw LoadError(description: "the request head was not parsed")
      }
    }
  }

  private static func echo(size: Int, _ times: Int) {
    let streams = DeflateStreams()
    var client = WebSocketSession(role: .client(nextMask: { 0x1234_5678 }), messageLimit: 1 << 20, streams: streams)
    var server = WebSocketSession(role: .server, messageLimit: 1 << 20, streams: streams)
    let frame = client.send(text: [UInt8](repeating: UInt8(ascii: "x"), count: size)) ?? []
    for _ in 0..<times {
      var actions: [WebSocketSession.Action] = []
      server.receive(frame.span, into: &actions)
      for case .text(let message) in actions { _ = server.send(text: message) }
    }
  }

  private static func writeMessages(_ times: Int) {
    for _ in 0..<times {
      var json = JSONWriter(reserving: 16_384)
      json.array { json in
        for number in 1...50 {
          json.object { json in
            json.field("id", 1_000_000 + number)
            json.field("conversation", 42)
            json.field("author", 7)
            json.field("at", 1_750_000_000_000 + number)
            json.field("revision", 1)
            json.field("text", "The tomatoes by the south wall are ripe, and there are \"plenty\" for everybody.")
            json.field("previous_message", 1_000_000 + number - 1)
          }
        }
      }
    }
  }

  private static let router = Router { routes in
    for noun in ["users", "sessions", "invites", "forums", "conversations", "messages", "files", "reports"] {
      routes.on(.get, "/api/v1/\(noun)") { _, _ in Response(.ok) }
      routes.on(.get, "/api/v1/\(noun)/{id}") { _, _ in Response(.ok) }
      routes.on(.get, "/api/v1/\(noun)/{id}/messages/{message}") { _, _ in Response(.ok) }
    }
  }

  private static func matchRoute(_ path: String, _ times: Int) {
    for _ in 0..<times { _ = router.match(.get, path) }
  }

  private static func respond(_ times: Int) async throws {
    let body = Array(#"{"message":"Hello, World!"}"#.utf8)
    let site = Application(router: Router { routes in routes.on(.get, "/json") { _, _ in .json(body) } })
    var parser = RequestParser()
    guard let (head, _) = try parser.parse(Array(smallHead.utf8).span) else { return }
    let loop = try EventLoop()
    for _ in 0..<times {
      let request = Request(head: head, body: RequestBody())
      let context = Context(
        id: RequestID(process: 1, number: 1), now: 0, uptime: 0, loop: loop, peer: nil, isEncrypted: false,
        request: request, addresses: site.addresses)
      _ = await site.respond(request, context, site.plan(head))
    }
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
