public import ParleyWire

/// The response of a handler. The server adds the framing, the date and the connection fields.
public struct Response {
  public var status: Status
  public var fields: Fields
  public var body: Body
  /// Disables compression and conditional requests in `Application`. Also set for a response that mixes a secret with
  /// text of another user, since the compressed length would reveal how similar they are (BREACH).
  public var isNegotiated: Bool
  /// Other objects retain the bytes of the body, such as the file cache.
  public var isRetained = false

  public enum Body {
    case none
    case bytes([UInt8])
    /// Bytes and file ranges, in sequence.
    case segments([Segment])
    /// Written while it is sent, with a known or an unknown length.
    case stream(length: Int?, (BodyWriter) async throws -> Void)
    /// Upgrades the connection to a WebSocket.
    case webSocket(WebSocketUpgrade)
  }

  public enum Segment: Sendable {
    case bytes([UInt8])
    case file(OpenFile, Range<Int>)

    public var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file(_, let range): range.count
      }
    }
  }

  public init(_ status: Status, fields: Fields = Fields(), body: Body = .none, isNegotiated: Bool = false) {
    self.status = status
    self.fields = fields
    self.body = body
    self.isNegotiated = isNegotiated
  }

  /// Bytes with their media type.
  public init(_ status: Status = .ok, _ bytes: [UInt8], type: ContentType) {
    self.init(status, fields: type.field, body: .bytes(bytes))
  }

  public static func text(_ text: String, _ status: Status = .ok) -> Response {
    Response(status, Array(text.utf8), type: .plainText)
  }

  public static func json(_ bytes: [UInt8], _ status: Status = .ok) -> Response {
    Response(status, bytes, type: .json)
  }

  public static func redirect(_ status: Status = .found, to location: String) -> Response {
    var response = Response(status)
    response.fields.add("Location", location)
    return response
  }

  /// A file, or the requested ranges of it, after the request's conditions. `tag` must change with the content.
  public static func file(
    _ file: OpenFile, _ type: ContentType, tag: EntityTag, fields: Fields, for request: Request, now: Int64
  ) throws(Problem) -> Response {
    // An author that could predict the boundary could upload a file that parses as several parts.
    let boundary = { String(UInt64.random(in: .min ... .max), radix: 16) }
    return try FileRepresentation(file, type, tag: tag, fields)
      .respond(to: request, modified: nil, type: type, now: now, boundary: boundary() + boundary())
  }

  /// The length of the body, if known before sending.
  public var length: Int? {
    switch body {
    case .none: 0
    case .bytes(let bytes): bytes.count
    case .segments(let segments): segments.reduce(0) { $0 + $1.count }
    case .stream(let length, _): length
    case .webSocket: nil
    }
  }
}

/// The writer of a streamed response body.
public final class BodyWriter {
  /// Thrown after the client has disconnected.
  public struct Disconnected: Error {
    public init() {}
  }

  private let send: ([UInt8]) throws(Disconnected) -> Bool
  private var waiter: CheckedContinuation<Void, Never>?

  /// - Parameter send: queues bytes and returns whether more may follow at once.
  public init(send: @escaping ([UInt8]) throws(Disconnected) -> Bool) {
    self.send = send
  }

  /// Sends bytes, and suspends while the output queue is full.
  public func write(_ bytes: [UInt8]) async throws(Disconnected) {
    guard !bytes.isEmpty else { return }
    if try !send(bytes) {
      await withCheckedContinuation { waiter = $0 }
    }
  }

  /// Called by the server after the output queue was sent or the client disconnected.
  public func wake() {
    waiter?.resume()
    waiter = nil
  }
}
