import ParleyNetworking
public import ParleyWire

public enum SocketMessage: Sendable, Hashable {
  case text(String)
  case binary([UInt8])

  var count: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    }
  }
}

/// The close code and reason of a WebSocket.
public struct SocketEnding: Error, Sendable, Hashable {
  /// RFC 6455 §7.4; 1006 for a connection lost without a Close frame.
  public let code: Int
  public let reason: String

  public init(code: Int, reason: String) {
    self.code = code
    self.reason = reason
  }

  static let gone = SocketEnding(code: 1006, reason: "connection lost")
}

/// An open WebSocket. Its deinitializer closes the connection.
public final class ClientSocket: Sendable {
  private let loop: EventLoop
  private let number: Int
  /// Retained because the client owns the event loop.
  private let client: HTTPClient

  init(_ client: HTTPClient, _ loop: EventLoop, _ number: Int) {
    self.client = client
    self.loop = loop
    self.number = number
  }

  deinit {
    let number = self.number
    loop.run { $0.resident(ConnectionPool.self)?.sockets.removeValue(forKey: number)?.drop() }
  }

  /// The next message. Buffered messages are returned before the close error. One reader at a time.
  public func next() async throws(SocketEnding) -> SocketMessage {
    let (loop, number) = (self.loop, self.number)
    let result = await withTaskCancellationHandler {
      await Self.next(number, on: loop)
    } onCancel: {
      loop.run { $0.resident(ConnectionPool.self)?.sockets[number]?.drop() }
    }
    return try result.get()
  }

  private static func next(_ number: Int, on loop: isolated EventLoop) async -> Result<SocketMessage, SocketEnding> {
    guard let socket = loop.resident(ConnectionPool.self)?.sockets[number] else { return .failure(.gone) }
    if Task.isCancelled { socket.drop() }
    return await socket.next(isolation: loop)
  }

  /// Sends a message. Suspends while the send buffer is full (backpressure).
  public func send(_ text: String) async throws(SocketEnding) {
    if let ending = await Self.send(text, number, on: loop) { throw ending }
  }

  private static func send(_ text: String, _ number: Int, on loop: isolated EventLoop) async -> SocketEnding? {
    guard let socket = loop.resident(ConnectionPool.self)?.sockets[number] else { return .gone }
    return await socket.send(text, isolation: loop)
  }

  /// Sends a ping and returns after the pong.
  public func ping() async throws(SocketEnding) {
    if let ending = await Self.ping(number, on: loop) { throw ending }
  }

  private static func ping(_ number: Int, on loop: isolated EventLoop) async -> SocketEnding? {
    guard let socket = loop.resident(ConnectionPool.self)?.sockets[number] else { return .gone }
    return await socket.ping(isolation: loop)
  }

  /// Sends a Close frame. `next` throws after the peer's Close or after `ClientConfiguration.closeTimeout`.
  public func close(_ code: CloseCode = .normal, reason: String = "") {
    let number = self.number
    loop.run { $0.resident(ConnectionPool.self)?.sockets[number]?.close(code, reason) }
  }
}
