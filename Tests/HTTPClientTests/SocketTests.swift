import ParleyHTTPClient
import ParleyNetworking
import ParleyWire
import Serving
import Testing
import Web

/// Echoes everything twice, and closes after "bye".
private final class Twice: WebSocketHandler {
  private let socket: any WebSocket
  init(_ socket: any WebSocket) { self.socket = socket }
  func opened(on loop: isolated any Actor) { socket.send(.text(Array("welcome".utf8))) }
  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    if case .text(let text) = message, text == Array("bye".utf8) {
      return socket.close(CloseCode(4_001) ?? .normal, reason: "as requested")
    }
    if case .text(let text) = message, text == Array("stream".utf8) {
      for number in 0..<100 { socket.send(.text(Array("\(number)".utf8))) }
      return
    }
    socket.send(message)
    socket.send(message)
  }
  func drained(on loop: isolated any Actor) {}
  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {}
}

private func served(_ body: (Destination) async throws -> Void) async throws {
  Signals.ignoreBrokenPipes()
  let router = Router { routes in
    routes.on(.get, "/live") { _, _ in
      Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade(subprotocols: ["parley.v1"]) { Twice($0) }))
    }
    routes.on(.get, "/no") { _, _ in .text("not here") }
  }
  let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
  var limits = Limits()
  limits.socketMessage = 1 << 20
  let server = try Server(
    .init(endpoints: [.init(socket)], loops: 1),
    application: Application(router: router, limits: limits, commonFields: [:]),
    log: { _ in })
  try await server.start()
  do {
    try await body(Destination(at: server.addresses[0]))
  } catch {
    await server.stop(within: 0)
    throw error
  }
  await server.stop(within: 0)
}

private func open(_ client: HTTPClient, _ to: Destination, _ path: String = "/live") async throws -> ClientSocket {
  switch try await client.open(ClientRequest(path), to: to, subprotocols: ["parley.v1"]) {
  case .socket(let socket): return socket
  case .refused(let answer): throw ClientError.malformed("\(answer.status.code)")
  }
}

@Test func `messages of any length pass in both directions, and pings are answered`() async throws {
  try await served { to in
    let client = try HTTPClient()
    let socket = try await open(client, to)
    #expect(try await socket.next() == .text("welcome"))
    let long = String(repeating: "garden ", count: 100_000)
    try await socket.send(long)
    try await socket.ping()
    #expect(try await socket.next() == .text(long))
    #expect(try await socket.next() == .text(long))
  }
}

@Test func `a close is reported with its code after all messages`() async throws {
  try await served { to in
    let client = try HTTPClient()
    let socket = try await open(client, to)
    try await socket.send("stream")
    try await socket.send("bye")
    #expect(try await socket.next() == .text("welcome"))
    for number in 0..<100 { #expect(try await socket.next() == .text("\(number)")) }
    let ending = SocketEnding(code: 4_001, reason: "as requested")
    await #expect(throws: ending) { try await socket.next() }
    await #expect(throws: ending) { try await socket.next() }
    await #expect(throws: ending) { try await socket.send("more") }
    await #expect(throws: ending) { try await socket.ping() }
  }
}

@Test func `both the closing and the receiving side get the close`() async throws {
  try await served { to in
    let client = try HTTPClient()
    let socket = try await open(client, to)
    #expect(try await socket.next() == .text("welcome"))
    let waiting = Task { try await socket.next() }
    socket.close(.normal, reason: "done")
    await #expect(throws: SocketEnding.self) { try await waiting.value }

    let other = try await open(client, to)
    #expect(try await other.next() == .text("welcome"))
    let reading = Task { try await other.next() }
    reading.cancel()
    await #expect(throws: SocketEnding.self) { try await reading.value }
  }
}

@Test func `a plain response to a handshake is returned`() async throws {
  try await served { to in
    let client = try HTTPClient()
    guard case .refused(let answer) = try await client.open(ClientRequest("/no"), to: to) else {
      Issue.record("it was opened")
      return
    }
    #expect(answer.status == 200)
    #expect(try await answer.body() == Array("not here".utf8))
  }
}

@Test(arguments: [
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n",
])
func `an invalid handshake response is refused`(text: String) async throws {
  try await Scripted.run({ _, _ in [.say(text)] }) { server in
    let client = try HTTPClient()
    do throws(ClientError) {
      _ = try await client.open(ClientRequest("/"), to: Destination(at: server.address))
      Issue.record("it was opened")
    } catch {
      guard case .malformed = error else {
        Issue.record("\(error)")
        return
      }
    }
  }
}
