import ParleyNetworking
import Synchronization

/// A mail server that answers each command with scripted actions.
final class ScriptedMailServer: Sendable {
  enum Action: Sendable, Hashable {
    case say(String)
    /// After `say`: continues under TLS.
    case startTLS
    case close
    /// Resets the connection.
    case abort
  }

  /// A command without its line break; empty for the greeting; `CONTENT` for the text between DATA and the final dot.
  typealias Script = @Sendable (_ connection: Int, _ command: String) -> [Action]

  let address: SocketAddress
  private let state: Mutex<State> = Mutex(State())

  private struct State {
    var connections = 0
    var commands: [String] = []
    var contents: [String] = []
  }

  var connectionCount: Int { state.withLock { $0.connections } }
  /// The commands of all connections. Those under TLS begin with `*`.
  var commands: [String] { state.withLock { $0.commands } }
  var contents: [String] { state.withLock { $0.contents } }

  /// - Parameter tls: the identity, from the first byte on or after `startTLS`.
  static func run(
    tls: TLSConfiguration? = nil, isImplicit: Bool = false, _ script: @escaping Script,
    _ body: (ScriptedMailServer) async throws -> Void
  ) async throws {
    Signals.ignoreBrokenPipes()
    let loop = try EventLoop(label: "test.mail")
    await loop.start()
    let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
    let server = ScriptedMailServer(socket.address)
    loop.run { loop in
      let listener = try? Listener.start(
        socket, loops: [loop], on: loop,
        serve: { descriptor, peer, loop in
          let number = server.state.withLock { state in
            state.connections += 1
            return state.connections
          }
          let connection = Connection(server, number, tls, isImplicit: isImplicit, script)
          let context = isImplicit ? tls.flatMap { try? TLSContext($0) } : nil
          connection.stream = try? .accept(descriptor, peer: peer, tls: context, handler: connection, on: loop)
        }, log: { _ in })
      loop.resident(Kept.self) { Kept() }.listener = listener
    }
    do {
      try await body(server)
    } catch {
      await loop.stop()
      throw error
    }
    await loop.stop()
  }

  private init(_ address: SocketAddress) { self.address = address }

  private final class Kept {
    var listener: Listener?
  }

  private final class Connection: StreamHandler {
    var stream: ParleyNetworking.Stream?
    private let server: ScriptedMailServer
    private let number: Int
    private let tls: TLSConfiguration?
    private let script: Script
    private var input = ""
    private var isSecure: Bool
    private var hasGreeted = false
    private var isContent = false

    init(
      _ server: ScriptedMailServer, _ number: Int, _ tls: TLSConfiguration?, isImplicit: Bool,
      _ script: @escaping Script
    ) {
      self.server = server
      self.number = number
      self.tls = tls
      self.script = script
      isSecure = isImplicit
    }

    func opened(on loop: isolated EventLoop) {
      guard !hasGreeted else { return }
      hasGreeted = true
      act(script(number, ""))
    }

    func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
      for index in bytes.indices { input.unicodeScalars.append(UnicodeScalar(bytes[index])) }
      while let end = input.firstRange(of: isContent ? "\r\n.\r\n" : "\r\n") {
        let text = String(input[..<end.lowerBound])
        input = String(input[end.upperBound...])
        let isContent = self.isContent
        self.isContent = false
        server.state.withLock { state in
          if isContent { state.contents.append(text) } else { state.commands.append((isSecure ? "*" : "") + text) }
        }
        act(script(number, isContent ? "CONTENT" : text))
      }
    }

    private func act(_ actions: [Action]) {
      for action in actions {
        switch action {
        case .say(let text):
          if text.hasPrefix("354") { isContent = true }
          stream?.write(Array((text + "\r\n").utf8))
        case .startTLS: stream?.notifyWhenDrained(to: 0)
        case .close: stream?.finish()
        case .abort: stream?.abort()
        }
      }
    }

    func drained(on loop: isolated EventLoop) {
      guard let tls else { return }
      isSecure = true
      try? stream?.startTLS(TLSContext(tls), serverName: "")
    }

    func ended(on loop: isolated EventLoop) { stream?.finish() }
    func resumed(on loop: isolated EventLoop) {}
    func expired(on loop: isolated EventLoop) {}
    func closed(_ error: StreamError?, on loop: isolated EventLoop) { stream = nil }
  }
}
