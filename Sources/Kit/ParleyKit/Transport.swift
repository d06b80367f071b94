// How the kit reaches a server: one exchange of HTTP, and one WebSocket. All that a system must bring; the rest of the kit
// knows nothing of sockets. `ParleyTransport` brings it over our own; on Apple's systems URLSession does.

/// What carries requests. It decides nothing: no redirects, no cookies, no cache, no second attempts.
public protocol Transport: Sendable {
  /// Sends a request and gives the head of its answer as soon as it is there. An answer that says no is an answer.
  func send(_ exchange: Exchange) async throws(TransportFailure) -> ExchangeAnswer
  /// Opens a WebSocket.
  func connect(_ exchange: Exchange, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket
}

/// A request as it goes over the network.
public struct Exchange: Sendable {
  /// In capitals: `GET`.
  public var method: String
  /// Where the server is: `https://chat.example:8443`.
  public var origin: String
  /// Path and query as they stand in the request, encoded.
  public var target: String
  public var fields: [Field]
  public var body: ExchangeBody

  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  public init(
    method: String = "GET", origin: String, target: String, fields: [Field] = [], body: ExchangeBody = .none
  ) {
    self.method = method
    self.origin = origin
    self.target = target
    self.fields = fields
    self.body = body
  }
}

public enum ExchangeBody: Sendable {
  case none
  case bytes([UInt8])
  /// So many bytes, asked for piece by piece as the network takes them; an empty piece is the end.
  case pieces(length: Int, next: @Sendable () async throws -> [UInt8])
}

/// What came back: the head, and the body as it comes.
public struct ExchangeAnswer: Sendable {
  public let status: Int
  public let fields: [Exchange.Field]
  private let piece: @Sendable () async throws(TransportFailure) -> [UInt8]?

  /// - Parameter next: the next piece of the body; nil at its end. Whoever lets go of the answer before ends it.
  public init(
    status: Int, fields: [Exchange.Field], next: @escaping @Sendable () async throws(TransportFailure) -> [UInt8]?
  ) {
    self.status = status
    self.fields = fields
    piece = next
  }

  /// The next piece of the body; nil at its end.
  public func next() async throws(TransportFailure) -> [UInt8]? { try await piece() }

  /// The first field of this name, in any case.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// All of the body, if it is not longer than this.
  public func body(limit: Int) async throws(TransportFailure) -> [UInt8] {
    var body: [UInt8] = []
    while let piece = try await next() {
      guard body.count + piece.count <= limit else { throw .tooLarge }
      body += piece
    }
    return body
  }
}

/// An open WebSocket. Text frames only: the contract has no others.
public struct LiveSocket: Sendable {
  /// How it ended.
  public struct Ending: Error, Sendable, Hashable {
    /// 1006 where the connection broke.
    public let code: Int
    public let reason: String

    public init(code: Int, reason: String) {
      self.code = code
      self.reason = reason
    }
  }

  private let sendText: @Sendable (String) async throws(Ending) -> Void
  private let nextText: @Sendable () async throws(Ending) -> String
  private let sendPing: @Sendable () async throws(Ending) -> Void
  private let end: @Sendable (Int, String) -> Void

  public init(
    send: @escaping @Sendable (String) async throws(Ending) -> Void,
    next: @escaping @Sendable () async throws(Ending) -> String,
    ping: @escaping @Sendable () async throws(Ending) -> Void,
    close: @escaping @Sendable (Int, String) -> Void
  ) {
    sendText = send
    nextText = next
    sendPing = ping
    end = close
  }

  /// Returns when the text is on its way.
  public func send(_ text: String) async throws(Ending) { try await sendText(text) }
  /// The next text; waits for it.
  public func next() async throws(Ending) -> String { try await nextText() }
  /// Returns when the server has answered.
  public func ping() async throws(Ending) { try await sendPing() }
  /// Ends it; whoever waits in `next` hears how.
  public func close(_ code: Int = 1000, reason: String = "") { end(code, reason) }
}

/// Why there was no answer, or not all of it.
public enum TransportFailure: Error, Sendable, Hashable {
  /// The server can't be reached: nothing was sent.
  case unreachable(String)
  /// Whoever answered could not prove to be the server that is meant: nothing was sent.
  case untrusted(String)
  case timedOut
  /// The connection broke; whether the request was read, nobody knows.
  case interrupted(String)
  /// What came is not HTTP.
  case malformed(String)
  /// The answer is longer than is wanted.
  case tooLarge
  /// The server answered the WebSocket's handshake with an ordinary answer.
  case notUpgraded(status: Int, body: [UInt8])
  /// The body to be sent could not be read.
  case sourceFailed(String)
  case cancelled
}
