import Glibc
import ParleyHTTPClient
import ParleyWire
import Synchronization
import Testing

@testable import ParleyNetworking

private func ask(
  _ call: ClientRequest, _ client: HTTPClient, _ server: Scripted
) async throws -> (status: Int, body: String) {
  let answer = try await client.send(call, to: Destination(at: server.address))
  return (answer.status.code, String(decoding: try await answer.body(), as: UTF8.self))
}

/// Short timeouts, so that timeout tests take a second.
private let impatient: ClientConfiguration = {
  var configuration = ClientConfiguration()
  configuration.inactivityTimeout = 1
  return configuration
}()

@Test(arguments: [
  ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
  (
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n", 200,
    "hello"
  ),
  ("HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", 404, ""),
  ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
  (
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    200, "hi"
  ),
])
func `a response is read completely in every framing and split`(text: String, status: Int, body: String) async throws {
  try await Scripted.run({ number, _ in [number == 0 ? .say(text) : .drip(text)] }) { server in
    let client = try HTTPClient()
    for _ in 0..<2 {
      let answer = try await ask(ClientRequest("/"), client, server)
      #expect(answer == (status, body))
    }
    // Each response ended cleanly, so the connection was reused.
    #expect(server.count == 1)
  }
}

@Test func `a response delimited by close is complete, and its connection is not reused`() async throws {
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 200 OK\r\n\r\nto the end"), .close] }) { server in
    let client = try HTTPClient()
    #expect(try await ask(ClientRequest("/"), client, server) == (200, "to the end"))
    #expect(try await ask(ClientRequest("/"), client, server) == (200, "to the end"))
    #expect(server.count == 2)
  }
}

@Test func `a request times out in every phase`() async throws {
  try await Scripted.run({ _, _ in [] }) { server in
    let client = try HTTPClient()
    for nanoseconds in [-1, 0, 1, 1_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000] {
      for _ in 0..<20 {
        await #expect(throws: ClientError.timedOut, "\(nanoseconds) ns") {
          try await ask(ClientRequest("/", timeout: .nanoseconds(nanoseconds)), client, server)
        }
      }
    }
  }
  // A name lookup times out, too, and its failure after the deadline is a timeout.
  let address = try #require(WebAddress("http://nobody.invalid/"))
  let destination = try #require(Destination(address))
  await #expect(throws: ClientError.timedOut) {
    _ = try await HTTPClient().send(ClientRequest("/", timeout: .nanoseconds(-1)), to: destination)
  }
}

/// A port with a full backlog until `deinit`: connection attempts wait.
private final class FullPort {
  let address: SocketAddress
  private var descriptors: [Descriptor] = []

  init() throws {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
    var socketAddress = sockaddr_in()
    socketAddress.sin_family = sa_family_t(AF_INET)
    socketAddress.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = Descriptor(owning: socket(AF_INET, kind, 0))
    var connectTimeout: [Descriptor] = []
    withUnsafeMutablePointer(to: &socketAddress) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        #expect(bind(listening.number, pointer, length) == 0 && listen(listening.number, 0) == 0)
        #expect(getsockname(listening.number, pointer, &length) == 0)
        for _ in 0..<8 {
          connectTimeout.append(Descriptor(owning: socket(AF_INET, kind, 0)))
          _ = connect(connectTimeout[connectTimeout.count - 1].number, pointer, length)
        }
      }
    }
    address = .ipv4(0x7f00_0001, port: UInt16(bigEndian: socketAddress.sin_port))
    descriptors = [listening] + connectTimeout
  }
}

@Test func `an address that does not accept is skipped, and the last one is unreachable`()
  async throws
{
  var configuration = ClientConfiguration()
  configuration.connectTimeout = 1
  let client = try HTTPClient(configuration: configuration)
  let full = try FullPort()
  let address = try #require(WebAddress("http://chat.example/"))
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")] }) { server in
    let both = try #require(Destination(address, at: [full.address, server.address]))
    #expect(try await client.send(ClientRequest("/"), to: both).status.code == 200)
  }
  let alone = try #require(Destination(address, at: [full.address]))
  await #expect(throws: ClientError.unreachable("connect timed out")) {
    _ = try await client.send(ClientRequest("/"), to: alone)
  }
  withExtendedLifetime(full) {}
}

@Test func `a request is sent unchanged, with connection fields`() async throws {
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 204 \r\n\r\n")] }) { server in
    let client = try HTTPClient()
    let fields: Fields = [
      "X-One": "a\r\nEvil: yes", "Host": "elsewhere", "Content-Length": "99", "Connection": "close",
    ]
    _ = try await ask(ClientRequest(.post, "/a?b=%20", fields, body: .bytes([104, 105])), client, server)
    _ = try await ask(ClientRequest(.post, "/empty"), client, server)
    _ = try await ask(ClientRequest("/"), client, server)
    #expect(
      server.requests.withLock { $0 } == [
        "POST /a?b=%20 HTTP/1.1\r\nHost: localhost\r\nX-One: a  Evil: yes\r\nContent-Length: 2\r\n\r\nhi",
        "POST /empty HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      ])
  }
}

@Test(arguments: ["", "a", "/ ", "/a\r\nEvil: yes", "/ä", "http://elsewhere/"])
func `an unencoded path is not sent`(target: String) async throws {
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 204 \r\n\r\n")] }) { server in
    let client = try HTTPClient()
    await #expect(throws: ClientError.invalidRequest("the target is not percent-encoded")) {
      try await ask(ClientRequest(target), client, server)
    }
    #expect(server.requests.withLock { $0 }.isEmpty)
  }
}

private let endless =
  "HTTP/1.1 200 OK\r\n" + String(repeating: "X-A: \(String(repeating: "b", count: 1_000))\r\n", count: 40)
private let interims = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 9)

@Test(arguments: [
  "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 600 Odd\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
  "HTTP/1.1 200 OK\r\n Folded: yes\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", endless, interims,
])
func `a malformed response is refused and its connection closed`(text: String) async throws {
  try await Scripted.run({ number, _ in number == 0 ? [.say(text)] : [.say("HTTP/1.1 204 \r\n\r\n")] }) { server in
    let client = try HTTPClient()
    do {
      _ = try await ask(ClientRequest("/"), client, server)
      Issue.record("it was taken for an answer")
    } catch let failure as ClientError {
      guard case .malformed = failure else {
        Issue.record("\(failure)")
        return
      }
    }
    #expect(try await ask(ClientRequest("/"), client, server).status == 204)
    #expect(server.count == 2)
  }
}

@Test(
  arguments: [
    [.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close],
    [.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .abort],
    [.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"), .close],
    [.say("HTTP/1.1 200"), .close], [.close], [.abort],
  ] as [[Scripted.Line]])
func `a truncated response is an error`(script: [Scripted.Line]) async throws {
  try await Scripted.run({ _, _ in script }) { server in
    let client = try HTTPClient()
    do {
      let answer = try await ask(ClientRequest("/"), client, server)
      Issue.record("\(answer) was taken for whole")
    } catch let failure as ClientError {
      guard case .interrupted = failure else {
        Issue.record("\(failure)")
        return
      }
    }
  }
}

@Test func `a response over the maximum size is not read further`() async throws {
  let long = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n"
  for framing in ["Content-Length: 10\r\n\r\nhelloworld", long, "\r\nhelloworld"] {
    try await Scripted.run({ _, _ in [.say("HTTP/1.1 200 OK\r\n" + framing), .close] }) { server in
      let client = try HTTPClient()
      await #expect(throws: ClientError.tooLarge) {
        try await ask(ClientRequest("/", maxResponseBytes: 9), client, server)
      }
    }
  }
}

@Test func `unrequested bytes after a response are dropped and close the connection`() async throws {
  let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
  try await Scripted.run({ number, _ in [.say(number == 0 ? answer + answer : answer)] }) { server in
    let client = try HTTPClient()
    #expect(try await ask(ClientRequest("/"), client, server) == (200, "a"))
    #expect(try await ask(ClientRequest("/"), client, server) == (200, "a"))
    #expect(server.count == 2)
  }
}

@Test func `a silent server times out`() async throws {
  try await Scripted.run({ _, _ in [] }) { server in
    let client = try HTTPClient(configuration: impatient)
    await #expect(throws: ClientError.timedOut) { try await ask(ClientRequest("/"), client, server) }
  }
}

@Test func `an endless response times out`() async throws {
  let endless = "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 10_000_000)
  try await Scripted.run({ _, _ in [.drip(endless)] }) { server in
    let client = try HTTPClient()
    await #expect(throws: ClientError.timedOut) {
      try await ask(ClientRequest("/", timeout: .seconds(1)), client, server)
    }
  }
}

@Test func `a refused connection is safe to retry`() async throws {
  let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
  let address = socket.address
  socket.close()
  let client = try HTTPClient()
  do {
    _ = try await client.send(ClientRequest("/"), to: Destination(at: address))
    Issue.record("the request succeeded")
  } catch {
    #expect(error.isBeforeSending, "\(error)")
  }
}

@Test func `the addresses of a host are tried in order`() async throws {
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 204 \r\n\r\n")] }) { server in
    let closed = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
    closed.close()
    var destination = Destination(at: server.address, name: "chat.example")
    destination.addresses = [closed.address, server.address]
    #expect(try await HTTPClient().send(ClientRequest("/"), to: destination).status == 204)
    #expect(server.requests.withLock { $0 } == ["GET / HTTP/1.1\r\nHost: chat.example\r\n\r\n"])
  }
}

@Test func `an idempotent request is retried after the server closed an idle connection`() async throws {
  let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
  // The second request finds the connection closed.
  let script: @Sendable (Int, String) -> [Scripted.Line] = { number, _ in number == 1 ? [.abort] : [.say(answer)] }
  try await Scripted.run(script) { server in
    let client = try HTTPClient()
    #expect(try await ask(ClientRequest("/"), client, server).status == 200)
    #expect(try await ask(ClientRequest(.put, "/", body: .bytes([1])), client, server).status == 200)
    #expect(server.requests.withLock { $0.count } == 3)
  }
  try await Scripted.run(script) { server in
    let client = try HTTPClient()
    #expect(try await ask(ClientRequest("/"), client, server).status == 200)
    await #expect(throws: ClientError.self) {
      try await ask(ClientRequest(.post, "/", body: .bytes([1])), client, server)
    }
    #expect(server.requests.withLock { $0.count } == 2)
  }
}

@Test func `a repeatable POST is sent again over another connection`() async throws {
  let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
  let script: @Sendable (Int, String) -> [Scripted.Line] = { number, _ in number == 1 ? [.abort] : [.say(answer)] }
  try await Scripted.run(script) { server in
    let client = try HTTPClient()
    #expect(try await ask(ClientRequest("/"), client, server).status == 200)
    var request = ClientRequest(.post, "/", body: .bytes([1]))
    request.isRepeatable = true
    #expect(try await ask(request, client, server).status == 200)
  }
}

@Test func `an expired idle connection carries no request, even while it closes`() async throws {
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")] }) { server in
    var configuration = ClientConfiguration()
    configuration.idleTimeout = 0
    let client = try HTTPClient(configuration: configuration)
    // At some of these moments the client has sent close_notify and the server has not.
    for number in 0..<300 {
      let answer = try await ask(ClientRequest(.post, "/\(number)", body: .bytes([1])), client, server)
      #expect(answer == (200, "a"))
    }
    #expect(server.requests.withLock { $0.count } == 300)
  }
}

@Test func `a cancelled request returns at once`() async throws {
  try await Scripted.run({ number, _ in number == 0 ? [] : [.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")] })
  { server in
    let client = try HTTPClient()
    let waiting = Task { try await ask(ClientRequest("/"), client, server) }
    while server.requests.withLock({ $0.isEmpty }) { await Task.yield() }
    waiting.cancel()
    await #expect(throws: ClientError.cancelled) { try await waiting.value }

    let answer = try await client.send(ClientRequest("/"), to: Destination(at: server.address))
    #expect(try await answer.next() == Array("half".utf8))
    let reading = Task { try await answer.next() }
    reading.cancel()
    await #expect(throws: ClientError.cancelled) { try await reading.value }

    let another = Task { try await ask(ClientRequest("/"), client, server) }
    while server.requests.withLock({ $0.count < 3 }) { await Task.yield() }
    client.close()
    await #expect(throws: ClientError.cancelled) { try await another.value }
    await #expect(throws: ClientError.cancelled) { try await ask(ClientRequest("/"), client, server) }
  }
}

@Test func `a body is sent in chunks, up to its Content-Length`() async throws {
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 204 \r\n\r\n")] }) { server in
    let client = try HTTPClient()
    let given = Atomic<Int>(0)
    let next: @Sendable () async throws -> [UInt8] = {
      let number = given.add(1, ordering: .relaxed).oldValue
      await Task.yield()
      return number < 3 ? Array(repeating: 97 + UInt8(number), count: 200_000) : []
    }
    _ = try await ask(ClientRequest(.post, "/", body: .stream(length: 600_000, next: next)), client, server)
    let body = server.requests.withLock { $0[0].split(separator: "\r\n\r\n")[1] }
    #expect(body.count == 600_000 && body.hasPrefix("aaa") && body.hasSuffix("ccc"))

    for (length, size) in [(5, 6), (5, 0)] {
      await #expect(throws: ClientError.invalidRequest("the body does not match its declared length")) {
        try await ask(
          ClientRequest(.post, "/", body: .stream(length: length) { Array(repeating: 1, count: size) }), client, server)
      }
    }
    struct Unreadable: Error {}
    await #expect(throws: ClientError.invalidRequest("Unreadable()")) {
      try await ask(ClientRequest(.post, "/", body: .stream(length: 5) { throw Unreadable() }), client, server)
    }
  }
}

@Test func `a refusal is read before the body is sent`() async throws {
  let refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno"
  try await Scripted.run({ _, _ in [.say(refusal)] }) { server in
    let client = try HTTPClient()
    let call = ClientRequest(
      .post, "/", ["X-Early": "Content-Length: 0"],
      body: .stream(length: 1 << 40) { Array(repeating: 0, count: 65_536) })
    #expect(try await ask(call, client, server) == (413, "no"))
  }
}

@Test func `an unread response stays in the socket until it is read`() async throws {
  let size = 8 << 20
  let body = String(repeating: "x", count: size)
  try await Scripted.run({ _, _ in [.say("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n" + body)] }) { server in
    let client = try HTTPClient()
    let answer = try await client.send(ClientRequest("/"), to: Destination(at: server.address))
    var pieces: [Int] = []
    while let piece = try await answer.next() { pieces.append(piece.count) }
    #expect(pieces.reduce(0, +) == size)
    // The buffered part was bounded.
    #expect(pieces.max() ?? 0 < 1 << 20)
  }
}
