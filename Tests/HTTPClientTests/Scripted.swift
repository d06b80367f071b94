import ParleyNetworking
import ParleyWire
import Synchronization

/// A server that sends scripted responses to any request.
final class Scripted: Sendable {
  /// The action after a request head.
  enum Line: Sendable {
    case say(String)
    /// Byte by byte, one per turn.
    case drip(String)
    case close
    /// Resets the connection.
    case abort
  }

  private let loop: EventLoop
  let address: SocketAddress
  let requests: Mutex<[String]> = Mutex([])
  let connections = Atomic<Int>(0)

  /// - Parameter script: the action for the nth request, from 0.
  static func run(
    tls: TLSConfiguration? = nil, _ script: @escaping @Sendable (Int, String) -> [Line],
    _ body: (Scripted) async throws -> Void
  ) async throws {
    Signals.ignoreBrokenPipes()
    let loop = try EventLoop(label: "test.scripted")
    await loop.start()
    let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
    let server = Scripted(loop, socket.address)
    loop.run { loop in
      let listener = try? Listener.start(
        socket, loops: [loop], on: loop,
        serve: { descriptor, peer, loop in
          server.connections.add(1, ordering: .relaxed)
          let connection = Connection(server, script)
          let context = tls.flatMap { try? TLSContext($0) }
          connection.stream = try? .accept(descriptor, peer: peer, tls: context, handler: connection, on: loop)
          loop.resident(Connections.self) { Connections() }.all.append(connection)
        }, log: { _ in })
      loop.resident(Connections.self) { Connections() }.listener = listener
    }
    do {
      try await body(server)
    } catch {
      await loop.stop()
      throw error
    }
    await loop.stop()
  }

  private init(_ loop: EventLoop, _ address: SocketAddress) {
    self.loop = loop
    self.address = address
  }

  var count: Int { connections.load(ordering: .relaxed) }

  private final class Connections {
    var all: [Connection] = []
    var listener: Listener?
  }

  private final class Connection: StreamHandler {
    var stream: ParleyNetworking.Stream?
    private let server: Scripted
    private let script: @Sendable (Int, String) -> [Line]
    private var input: [UInt8] = []
    private var hasAnswered = false
    private var lines: [Line] = []
    private var dripping: ArraySlice<UInt8> = []

    init(_ server: Scripted, _ script: @escaping @Sendable (Int, String) -> [Line]) {
      self.server = server
      self.script = script
    }

    func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
      input.append(copying: bytes)
      let text = String(decoding: input, as: UTF8.self)
      guard let end = text.range(of: "\r\n\r\n") else { return }
      let length =
        text.range(of: "Content-Length: ").flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) } ?? 0
      guard text[end.upperBound...].utf8.count >= length else { return }
      input = []
      let number = server.requests.withLock { requests in
        requests.append(text)
        return requests.count - 1
      }
      lines += script(number, text)
      goOn()
    }

    private func goOn() {
      while dripping.isEmpty, !lines.isEmpty {
        switch lines.removeFirst() {
        case .say(let text): stream?.write(Array(text.utf8))
        case .drip(let text): dripping = Array(text.utf8)[...]
        case .close: stream?.finish()
        case .abort: stream?.abort()
        }
      }
      if let byte = dripping.popFirst() {
        stream?.write([byte])
        stream?.requestTurn()
      }
    }

    func opened(on loop: isolated EventLoop) {}
    func ended(on loop: isolated EventLoop) { stream?.finish() }
    func drained(on loop: isolated EventLoop) {}
    func resumed(on loop: isolated EventLoop) { goOn() }
    func expired(on loop: isolated EventLoop) {}
    func closed(_ error: StreamError?, on loop: isolated EventLoop) { stream = nil }
  }
}

extension String {
  /// The first range of a text.
  func range(of part: String) -> Range<String.Index>? { firstRange(of: part) }
}
