import Foundation
import ParleyNetworking
import ParleyWire
import Synchronization
import Testing

/// A WebSocket client for tests, on its own event loop.
final class LiveClient: Sendable {
  private let loop: EventLoop
  private let number: Int
  private let state = Mutex(State())

  private struct State {
    var lines: [String] = []
    var closing: Ending?
    var status: Int?
    var next = 1
    var commands = SentCommands()
  }

  private static let shared = Mutex<EventLoop?>(nil)
  private static let numbers = Atomic<Int>(0)

  struct Ending: Sendable {
    let code: Int
    let reason: String
  }

  struct NoResponse: Error, CustomStringConvertible {
    let description: String
  }

  static func connect(
    to address: SocketAddress, _ path: String, fields: Fields = Fields(), subprotocols: [String] = [],
    receiveBuffer: Int? = nil
  ) throws -> LiveClient {
    let loop = try shared.withLock { shared in
      if let shared { return shared }
      let loop = try EventLoop(label: "test.clients")
      loop.run { $0.start() }
      shared = loop
      return loop
    }
    let client = LiveClient(loop)
    let number = client.number
    loop.run { loop in
      let connection = Connection(client, path: path, fields: fields, subprotocols: subprotocols)
      loop.resident(Connections.self) { Connections() }.all[number] = connection
      do { connection.stream = try .connect(to: address, handler: connection, on: loop) } catch {
        client.close(Ending(code: 1006, reason: "\(error)"))
      }
    }
    return client
  }

  private init(_ loop: EventLoop) {
    self.loop = loop
    number = Self.numbers.add(1, ordering: .relaxed).newValue
  }

  // MARK: Test API

  func send(_ text: String) {
    state.withLock { $0.commands.add(text) }
    with { $0.send(text) }
  }

  func send(binary: [UInt8]) {
    with { $0.send(binary: binary) }
  }

  /// Sends a command and returns its answer.
  func request(_ command: [String: Any]) async throws -> Answer {
    let id = state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
    var command = command
    command["id"] = id
    send(String(decoding: try JSONSerialization.data(withJSONObject: command), as: UTF8.self))
    return try await next { $0.int("re") == id }
  }

  /// The next line that matches `isWanted`. Earlier lines stay queued. Checks it against `Public/asyncapi.json`.
  func next(
    within seconds: Double = 60, _ isWanted: @escaping (Answer) -> Bool = { _ in true }
  ) async throws -> Answer {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let (found, lines, closing) = state.withLock { state -> (Answer?, [String], Ending?) in
        for (index, line) in state.lines.enumerated() {
          let answer = Self.answer(line)
          guard isWanted(answer) else { continue }
          state.lines.remove(at: index)
          do { try state.commands.check(line) } catch {
            Issue.record("\(line.prefix(1_000)) does not match Public/asyncapi.json: \(error)")
          }
          return (answer, [], nil)
        }
        return (nil, state.lines, state.closing)
      }
      if let found { return found }
      if let closing {
        throw NoResponse(description: "closed with \(closing.code) \(closing.reason); queued: \(lines)")
      }
      guard .now < end else { throw NoResponse(description: "timeout; queued: \(lines)") }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// The next event with this name.
  func event(_ name: String) async throws -> Answer { try await next { $0["event"] == name } }

  /// All events up to and including the last one.
  func events(until isLast: (Answer) -> Bool) async throws -> [Answer] {
    var all: [Answer] = []
    while true {
      let one = try await next { $0.has("event") }
      all.append(one)
      if isLast(one) { return all }
    }
  }

  func closed(within seconds: Double = 60) async throws -> Ending {
    let end = ContinuousClock.now + .seconds(seconds)
    while .now < end {
      if let closing = state.withLock({ $0.closing }) { return closing }
      try await Task.sleep(for: .milliseconds(2))
    }
    throw NoResponse(description: "the socket is still open")
  }

  var waitingCount: Int { state.withLock { $0.lines.count } }
  var status: Int? { state.withLock { $0.status } }

  func leave() {
    with { $0.leave() }
  }

  /// Stops reading, like a phone in a tunnel.
  func pause() {
    with { $0.stream?.pauseReading() }
  }

  func resume() {
    with { $0.stream?.resumeReading() }
  }

  private func with(_ body: @escaping @Sendable (Connection) -> Void) {
    let number = self.number
    loop.run { loop in
      if let connection = loop.resident(Connections.self)?.all[number] { body(connection) }
    }
  }

  private static func answer(_ line: String) -> Answer { Answer(status: 200, fields: Fields(), body: Array(line.utf8)) }

  // MARK: Event loop

  fileprivate func receive(_ line: String) { state.withLock { $0.lines.append(line) } }

  fileprivate func close(_ closing: Ending) {
    state.withLock { state in if state.closing == nil { state.closing = closing } }
  }

  fileprivate func answered(_ status: Int) { state.withLock { $0.status = status } }

  private final class Connections {
    var all: [Int: Connection] = [:]
  }

  private final class Connection: StreamHandler {
    private let client: LiveClient
    private let path: String
    private let fields: Fields
    private let handshake: WebSocketClientHandshake
    private var parser = ResponseParser()
    private var rest: [UInt8] = []
    private var session: WebSocketSession?
    private var early: [String] = []
    var stream: ParleyNetworking.Stream?

    init(_ client: LiveClient, path: String, fields: Fields, subprotocols: [String]) {
      self.client = client
      self.path = path
      self.fields = fields
      handshake = WebSocketClientHandshake(
        nonce: (0..<16).map { _ in .random(in: 0...255) }, subprotocols: subprotocols, deflate: nil)
    }

    func send(_ text: String) {
      guard session != nil else { return early.append(text) }
      if let frame = session?.send(text: text) { stream?.write(frame) }
    }

    func send(binary: [UInt8]) {
      if let frame = session?.send(binary: binary) { stream?.write(frame) }
    }

    func leave() {
      stream?.abort()
    }

    func opened(on loop: isolated EventLoop) {
      var head = "GET \(path) HTTP/1.1\r\nHost: a\r\n"
      head += String(decoding: handshake.fields.wireBytes, as: UTF8.self)
      head += String(decoding: fields.wireBytes, as: UTF8.self)
      stream?.write(Array((head + "\r\n").utf8))
    }

    func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
      if session != nil { return receive(bytes) }
      rest.append(copying: bytes)
      let whole = rest
      do {
        guard let (head, length) = try parser.parse(whole.span, to: .get) else { return }
        client.answered(head.status.code)
        let agreement = try handshake.read(head.status, head.fields)
        session = WebSocketSession(
          role: .client(nextMask: { .random(in: .min ... .max) }), messageLimit: 64 << 20, deflate: agreement.deflate,
          streams: DeflateStreams())
        rest = []
        for text in early { send(text) }
        receive(whole.span.extracting(length...))
      } catch {
        client.close(Ending(code: 1006, reason: "handshake: \(error)"))
        stream?.abort()
      }
    }

    private func receive(_ bytes: Span<UInt8>) {
      var actions: [WebSocketSession.Action] = []
      session?.receive(bytes, into: &actions)
      for action in actions {
        switch action {
        case .text(let message): client.receive(String(decoding: message, as: UTF8.self))
        case .binary, .ping, .pong: break
        case .send(let bytes): stream?.write(bytes)
        case .closed(let closing):
          client.close(Ending(code: Int(closing.code.number), reason: closing.reason))
          stream?.finish()
        }
      }
    }

    func ended(on loop: isolated EventLoop) { stream?.finish() }
    func drained(on loop: isolated EventLoop) {}
    func resumed(on loop: isolated EventLoop) {}
    func expired(on loop: isolated EventLoop) {}

    func closed(_ error: StreamError?, on loop: isolated EventLoop) {
      stream = nil
      client.close(Ending(code: 1006, reason: ""))
      loop.resident(Connections.self)?.all[client.number] = nil
    }
  }
}
