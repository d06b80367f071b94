public import ParleyWire

/// One HTTP request. The client adds Host, Content-Length and the connection fields.
public struct ClientRequest: Sendable {
  public var method: ParleyWire.Method
  /// Path and query, percent-encoded.
  public var target: String
  public var fields: Fields
  public var body: ClientRequestBody
  /// Limit of the response body.
  public var maxResponseBytes: Int
  /// Whether the server recognizes a repetition, so that the request may be sent again over another connection.
  public var isRepeatable = false
  /// Time limit from the start to the end of the response body; nil: only `ClientConfiguration.inactivityTimeout` applies.
  public var timeout: Duration?

  public init(
    _ method: ParleyWire.Method, _ target: String, _ fields: Fields = Fields(), body: ClientRequestBody = .none,
    maxResponseBytes: Int = .max, timeout: Duration? = nil
  ) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
    self.maxResponseBytes = maxResponseBytes
    self.timeout = timeout
  }

  /// A GET request.
  public init(_ target: String, _ fields: Fields = Fields(), maxResponseBytes: Int = .max, timeout: Duration? = nil) {
    self.init(.get, target, fields, maxResponseBytes: maxResponseBytes, timeout: timeout)
  }
}

public enum ClientRequestBody: Sendable {
  case none
  case bytes([UInt8])
  /// A body of `length` bytes. The client calls `next` as the socket accepts more; an empty chunk before `length` bytes is
  /// an error of the source.
  case stream(length: Int, next: @Sendable () async throws -> [UInt8])

  var length: Int? {
    switch self {
    case .none: nil
    case .bytes(let bytes): bytes.count
    case .stream(let length, _): length
    }
  }

  /// Whether a retry can send the same body again.
  var isReplayable: Bool {
    switch self {
    case .none, .bytes: true
    case .stream: false
    }
  }
}

extension ClientRequest {
  /// RFC 9110 §9.2.2: methods that are safe to repeat.
  var isIdempotent: Bool {
    if isRepeatable { return true }
    return switch method {
    case .get, .head, .put, .delete, .options: true
    case .post, .patch, .other: false
    }
  }

  /// Fields that the client sets itself. Values from the caller are dropped.
  private static let connectionFields: [StaticString] = [
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect",
  ]

  /// The request head in wire format.
  func head(to destination: Destination, upgrade: Fields?) throws(ClientError) -> [UInt8] {
    guard !method.name.isEmpty, method.name.utf8.allSatisfy({ $0 > 0x40 && $0 < 0x5b }) else {
      throw .invalidRequest("invalid method \(method.name)")
    }
    guard target.utf8.first == UInt8(ascii: "/"), target.utf8.allSatisfy({ $0 > 32 && $0 < 127 }),
      destination.authority.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
    else { throw .invalidRequest("the target is not percent-encoded") }
    var fields = fields
    for name in Self.connectionFields { fields.remove(name) }
    var head = Array("\(method.name) \(target) HTTP/1.1\r\nHost: \(destination.authority)\r\n".utf8)
    if let length = body.length ?? (method == .post || method == .put || method == .patch ? 0 : nil) {
      fields.add("Content-Length", "\(length)")
    }
    head += fields.wireBytes
    if let upgrade { head += upgrade.wireBytes }
    head += [13, 10]
    return head
  }
}
