import ParleyNetworking
import ParleyWire

/// Receives the events of a load's WebSocket.
protocol SocketOwner: AnyObject {
  /// The handshake is complete.
  func socketOpened(on loop: isolated EventLoop)
  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop)
  func socketPonged(on loop: isolated EventLoop)
}

extension SocketOwner {
  func socketOpened(on loop: isolated EventLoop) {}
}

/// A WebSocket client: connects, performs the handshake and delivers messages.
final class SocketClient: StreamHandler {
  private let connections: LoopConnections
  private let subprotocols: [String]
  private let fields: [(name: String, value: String)]
  private weak var owner: (any SocketOwner)?
  private var stream: ParleyNetworking.Stream?
  private var handshake: WebSocketClientHandshake?
  private var parser = ResponseParser()
  private var buffer: [UInt8] = []
  private var session: WebSocketSession?
  private var isClosing = false

  /// - Parameter fields: additional request fields.
  init(
    _ connections: LoopConnections, owner: any SocketOwner, subprotocols: [String] = [],
    fields: [(name: String, value: String)] = []
  ) {
    self.connections = connections
    self.owner = owner
    self.subprotocols = subprotocols
    self.fields = fields
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    handshake = WebSocketClientHandshake(
      nonce: (0..<16).map { _ in UInt8.random(in: 0...255) }, subprotocols: subprotocols)
    stream = try connections.connect(self, on: loop)
  }

  func send(_ message: [UInt8], isBinary: Bool) {
    guard let frame = isBinary ? session?.send(binary: message) : session?.send(text: message) else { return }
    stream?.write(frame)
  }

  func ping() {
    if let frame = session?.sendPing() { stream?.write(frame) }
  }

  func leave() {
    isClosing = true
    guard let frame = session?.close(.normal) else {
      stream?.abort()
      return
    }
    stream?.write(frame)
  }

  // MARK: StreamHandler

  func opened(on loop: isolated EventLoop) {
    guard let handshake, let page = connections.target.pages.first, let stream else { return }
    let own = handshake.fields
    let pairs = (0..<own.count).map { (name: own.name(at: $0), value: own.value(at: $0)) }
    stream.write(connections.target.request(.get, page, pairs + fields))
  }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    connections.received(bytes.count)
    if session != nil { return receive(bytes, loop) }
    buffer.append(copying: bytes)
    let input = buffer
    do {
      guard let (head, length) = try parser.parse(input.span, to: .get), let handshake else { return }
      _ = try handshake.read(head.status, head.fields)
      self.handshake = nil
      session = WebSocketSession(
        role: .client(nextMask: Self.masks()), messageLimit: 1 << 26, streams: DeflateStreams())
      connections.clientOpened(on: loop)
      buffer = []
      owner?.socketOpened(on: loop)
      receive(input.span.extracting(length...), loop)
    } catch {
      isClosing = true
      connections.clientLost("handshake: \(error)", wasOpen: false, on: loop)
      stream?.abort()
    }
  }

  private func receive(_ bytes: Span<UInt8>, _ loop: isolated EventLoop) {
    var actions: [WebSocketSession.Action] = []
    session?.receive(bytes, into: &actions)
    for action in actions {
      switch action {
      case .text(let message), .binary(let message): owner?.socketReceived(message, on: loop)
      case .ping: break
      case .pong: owner?.socketPonged(on: loop)
      case .send(let bytes): stream?.write(bytes)
      case .closed(let closing):
        if !isClosing { lost("closed with \(closing.code.number) \(closing.reason)", loop) }
        stream?.finish()
      }
    }
  }

  func ended(on loop: isolated EventLoop) {
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) {}

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    connections.clientClosed()
    if !isClosing { lost(error?.description ?? "closed by the server", loop) }
  }

  private func lost(_ reason: String, _ loop: isolated EventLoop) {
    isClosing = true
    connections.clientLost(reason, wasOpen: session != nil, on: loop)
  }

  /// RFC 6455 §5.3 requires unpredictable masks. A load needs cheap ones: a linear congruential generator.
  private static func masks() -> () -> UInt32 {
    var state = UInt64.random(in: .min ... .max)
    return {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt32(truncatingIfNeeded: state >> 32)
    }
  }
}
