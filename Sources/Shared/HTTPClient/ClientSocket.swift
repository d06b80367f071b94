import ParleyNetworking
public import ParleyWire

/// A message of a WebSocket.
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

/// How a WebSocket ended.
public struct SocketEnding: Error, Sendable, Hashable {
  /// RFC 6455 §7.4; 1006 where the connection broke.
  public let code: Int
  public let reason: String

  public init(code: Int, reason: String) {
    self.code = code
    self.reason = reason
  }

  static let gone = SocketEnding(code: 1006, reason: "the connection broke")
}

/// An open WebSocket. Whoever lets go of it ends it.
public final class ClientSocket: Sendable {
  private let loop: EventLoop
  private let number: Int
  /// Keeps the loop at work.
  private let client: HTTPClient

  init(_ client: HTTPClient, _ loop: EventLoop, _ number: Int) {
    self.client = client
    self.loop = loop
    self.number = number
  }

  deinit {
    let number = self.number
    loop.run { $0.resident(Lines.self)?.sockets.removeValue(forKey: number)?.drop() }
  }

  /// The next message; waits for it. What had come before an end is given first. One reader at a time.
  public func next() async throws(SocketEnding) -> SocketMessage {
    let (loop, number) = (self.loop, self.number)
    let result = await withTaskCancellationHandler {
      await Self.next(number, on: loop)
    } onCancel: {
      loop.run { $0.resident(Lines.self)?.sockets[number]?.drop() }
    }
    return try result.get()
  }

  private static func next(_ number: Int, on loop: isolated EventLoop) async -> Result<SocketMessage, SocketEnding> {
    guard let socket = loop.resident(Lines.self)?.sockets[number] else { return .failure(.gone) }
    if Task.isCancelled { socket.drop() }
    return await socket.next(isolation: loop)
  }

  /// Returns when it may go on the wire: at once, unless much waits already.
  public func send(_ text: String) async throws(SocketEnding) {
    if let ending = await Self.send(text, number, on: loop) { throw ending }
  }

  private static func send(_ text: String, _ number: Int, on loop: isolated EventLoop) async -> SocketEnding? {
    guard let socket = loop.resident(Lines.self)?.sockets[number] else { return .gone }
    return await socket.send(text, isolation: loop)
  }

  /// Returns when the other side has answered a ping.
  public func ping() async throws(SocketEnding) {
    if let ending = await Self.ping(number, on: loop) { throw ending }
  }

  private static func ping(_ number: Int, on loop: isolated EventLoop) async -> SocketEnding? {
    guard let socket = loop.resident(Lines.self)?.sockets[number] else { return .gone }
    return await socket.ping(isolation: loop)
  }

  /// Says goodbye; `next` tells when the other side has, or has not in time.
  public func close(_ code: CloseCode = .normal, reason: String = "") {
    let number = self.number
    loop.run { $0.resident(Lines.self)?.sockets[number]?.close(code, reason) }
  }
}
