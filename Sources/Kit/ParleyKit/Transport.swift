// The network interface of the kit: one HTTP request, one WebSocket. `ParleyTransport` implements it with Parley's own HTTP
// client, `ParleyURLSession` with Foundation's.

/// Sends requests. An implementation must not follow redirects, store cookies, cache or retry.
public protocol Transport: Sendable {
  /// Sends a request and returns when the head of the response has arrived. An error status is a response.
  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse
  /// Opens a WebSocket.
  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket
}

/// An encoded HTTP request.
public struct TransportRequest: Sendable {
  /// Upper case: `GET`.
  public var method: String
  /// Scheme, host and port: `https://chat.example:8443`.
  public var origin: String
  /// Path and query, percent-encoded.
  public var target: String
  /// The header fields, in their order.
  public var fields: [Field]
  /// The content.
  public var body: TransportBody

  /// A header field.
  public struct Field: Sendable, Hashable {
    /// The name, in any case.
    public var name: String
    /// The value.
    public var value: String

    /// A header field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A request with all its parts.
  public init(
    method: String = "GET", origin: String, target: String, fields: [Field] = [], body: TransportBody = .none
  ) {
    self.method = method
    self.origin = origin
    self.target = target
    self.fields = fields
    self.body = body
  }
}

/// The content of a request.
public enum TransportBody: Sendable {
  /// No body.
  case none
  /// The whole body.
  case bytes([UInt8])
  /// A body of `length` bytes, requested in chunks as the connection accepts them. An empty chunk ends it.
  case stream(length: Int, next: @Sendable () async throws -> [UInt8])
}

/// A response: its head and a streaming body.
public struct TransportResponse: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The header fields, in their order.
  public let fields: [TransportRequest.Field]
  private let chunk: @Sendable () async throws(TransportFailure) -> [UInt8]?

  /// - Parameter next: returns the next chunk of the body; nil at its end. Releasing the response earlier cancels it.
  public init(
    status: Int, fields: [TransportRequest.Field],
    next: @escaping @Sendable () async throws(TransportFailure) -> [UInt8]?
  ) {
    self.status = status
    self.fields = fields
    chunk = next
  }

  /// The next chunk of the body; nil at its end.
  public func next() async throws(TransportFailure) -> [UInt8]? { try await chunk() }

  /// The first field of a name, case-insensitive.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// Collects the body. Throws `tooLarge` if it is longer than `limit`.
  public func body(limit: Int) async throws(TransportFailure) -> [UInt8] {
    var body: [UInt8] = []
    while let chunk = try await next() {
      guard body.count + chunk.count <= limit else { throw .tooLarge }
      body += chunk
    }
    return body
  }
}

/// An open WebSocket. The API has only text messages.
public struct LiveSocket: Sendable {
  /// The close code and reason.
  public struct Ending: Error, Sendable, Hashable {
    /// 1006 if the connection broke.
    public let code: Int
    /// A reason for people.
    public let reason: String

    /// A close code with its reason.
    public init(code: Int, reason: String) {
      self.code = code
      self.reason = reason
    }
  }

  private let sendText: @Sendable (String) async throws(Ending) -> Void
  private let nextText: @Sendable () async throws(Ending) -> String
  private let sendPing: @Sendable () async throws(Ending) -> Void
  private let end: @Sendable (Int, String) -> Void

  /// An open connection with its parts.
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

  /// Returns when the message is queued for sending.
  public func send(_ text: String) async throws(Ending) { try await sendText(text) }
  /// Waits for the next message.
  public func next() async throws(Ending) -> String { try await nextText() }
  /// Returns when the pong has arrived.
  public func ping() async throws(Ending) { try await sendPing() }
  /// Closes the socket. A pending `next` throws.
  public func close(_ code: Int = 1000, reason: String = "") { end(code, reason) }
}

/// The reason of a missing or incomplete response.
public enum TransportFailure: Error, Sendable, Hashable {
  /// The server can't be reached. Nothing was sent.
  case unreachable(String)
  /// The server's certificate was rejected. Nothing was sent.
  case untrusted(String)
  /// No answer in time.
  case timedOut
  /// The connection broke. The server may have processed the request.
  case interrupted(String)
  /// The response is not valid HTTP.
  case malformed(String)
  /// The response exceeds the size limit.
  case tooLarge
  /// The server rejected the WebSocket handshake with an HTTP response.
  case notUpgraded(status: Int, fields: [TransportRequest.Field] = [], body: [UInt8])
  /// The request body could not be read.
  case sourceFailed(String)
  /// The task was cancelled.
  case cancelled
}
