public import ParleyWire

/// What a handler answers. The server adds the framing, the date and what belongs to the connection.
public struct Response {
  public var status: Status
  public var fields: Fields
  public var body: Body
  /// All that could be chosen has been: the site neither compresses it nor looks at the request's conditions. Also for
  /// what mixes a secret with words of a stranger, since compression would tell how alike they are (BREACH).
  public var isNegotiated: Bool
  /// The bytes of the body stay in memory, whoever they are sent to.
  public var isRetained = false

  public enum Body {
    case none
    case bytes([UInt8])
    /// Bytes and parts of files, one after another.
    case segments([Segment])
    /// Written while it is sent: of a known length, or for as long as the writer likes.
    case stream(length: Int?, (BodyWriter) async throws -> Void)
    /// The end of HTTP on this connection.
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

  /// A file's bytes, as far as the request's conditions and ranges ask for them. `tag` is another for other bytes.
  public static func file(
    _ file: OpenFile, _ type: ContentType, tag: EntityTag, fields: Fields, for request: Request, now: Int64
  ) throws(Problem) -> Response {
    // Who could guess the boundary could write a file that looks like several.
    let boundary = { String(UInt64.random(in: .min ... .max), radix: 16) }
    return try FileRepresentation(file, type, tag: tag, fields)
      .respond(to: request, modified: nil, type: type, now: now, boundary: boundary() + boundary())
  }

  /// The length of the body, where it is known before it is sent.
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

/// What a streamed response is written to.
public final class BodyWriter {
  /// Thrown when the client has gone: there is nobody to write for.
  public struct Disconnected: Error {
    public init() {}
  }

  private let send: ([UInt8]) throws(Disconnected) -> Bool
  private var waiter: CheckedContinuation<Void, Never>?

  /// `send` takes bytes and says whether more may follow at once.
  public init(send: @escaping ([UInt8]) throws(Disconnected) -> Bool) {
    self.send = send
  }

  /// Sends, and waits while the client is slow to take what was sent before.
  public func write(_ bytes: [UInt8]) async throws(Disconnected) {
    guard !bytes.isEmpty else { return }
    if try !send(bytes) {
      await withCheckedContinuation { waiter = $0 }
    }
  }

  /// For the server: the client has taken what waited, or has gone.
  public func wake() {
    waiter?.resume()
    waiter = nil
  }
}
