/// A validated response head.
public struct ReceivedResponse: Sendable {
  public let status: Status
  public let version: Version
  public let fields: Fields
  public let framing: Framing
  /// Whether the connection may be reused after this response.
  public let keepsAlive: Bool

  public init(status: Status, version: Version, fields: Fields, framing: Framing, keepsAlive: Bool) {
    self.status = status
    self.version = version
    self.fields = fields
    self.framing = framing
    self.keepsAlive = keepsAlive
  }

  /// RFC 9110 §15.2: another response to the same request follows. After 101 another protocol follows instead.
  public var isInterim: Bool { status.code < 200 && status != .switchingProtocols }
}

/// Parses response heads (RFC 9112 §4), for clients, as strictly as `RequestParser`.
///
/// The reason phrase is checked and dropped; it and the preceding space are optional, because some servers omit them. A
/// transfer coding other than `chunked` is rejected: the client never requests one.
public struct ResponseParser: Sendable {
  private let limits: HeadLimits
  private var position = 0
  private var line: (status: Status, version: Version)?
  private var section: FieldSection

  public init(limits: HeadLimits = HeadLimits()) {
    self.limits = limits
    section = FieldSection(startingAt: 0, limits: limits)
  }

  /// Parses a head at the start of `bytes`, like `RequestParser.parse`. `method` is the method of the request: a
  /// response to HEAD has no body, regardless of its fields.
  public mutating func parse(
    _ bytes: Span<UInt8>, to method: Method
  ) throws(ResponseError) -> (head: ReceivedResponse, length: Int)? {
    if line == nil {
      guard let line = try readLine(bytes) else { return nil }
      self.line = line
      section.restart(at: position)
    }
    let end: Int?
    do { end = try section.read(bytes) } catch { throw .field(error) }
    guard let end, let line else { return nil }
    self.line = nil
    position = 0
    let fields = section.makeFields(bytes)
    do { return (try ResponseParser.head(line.status, line.version, fields, to: method), end) } catch {
      throw .framing(error)
    }
  }

  private static func head(
    _ status: Status, _ version: Version, _ fields: Fields, to method: Method
  ) throws(FramingError) -> ReceivedResponse {
    let framingFields = try FramingFields(fields, version: version)
    let framing: Framing =
      if method == .head || !status.allowsBody { .none } else { try framingFields.framing(fields) ?? .untilClose }
    return ReceivedResponse(
      status: status, version: version, fields: fields, framing: framing,
      keepsAlive: framingFields.keepsAlive && framing != .untilClose)
  }

  private mutating func readLine(_ bytes: Span<UInt8>) throws(ResponseError) -> (Status, Version)? {
    let bound = min(bytes.count, limits.line)
    var position = self.position
    while position < bound, ResponseParser.isAllowed(bytes[position], at: position) { position &+= 1 }
    self.position = position
    if position < bound {
      guard bytes[position] == 13, position >= 12 else { throw .badLine }
      if position &+ 1 < bound {
        guard bytes[position &+ 1] == 10 else { throw .badLine }
        self.position = position &+ 2
        return (Status(bytes.decimal(in: 9..<12) ?? 0), bytes[7] == UInt8(ascii: "0") ? .http10 : .http11)
      }
      position &+= 1
    }
    if position >= limits.line { throw .lineTooLong }
    return nil
  }

  /// `HTTP/1.d ddd reason`, byte by byte.
  private static func isAllowed(_ byte: UInt8, at position: Int) -> Bool {
    switch position {
    case 0: byte == UInt8(ascii: "H")
    case 1, 2: byte == UInt8(ascii: "T")
    case 3: byte == UInt8(ascii: "P")
    case 4: byte == UInt8(ascii: "/")
    case 5: byte == UInt8(ascii: "1")
    case 6: byte == UInt8(ascii: ".")
    case 8, 12: byte == 32
    // RFC 9110 §15: codes outside 100 to 599 are invalid.
    case 9: 1...5 ~= byte &- 0x30
    case 7, 10, 11: ASCII.isDigit(byte)
    default: ASCII.isFieldContent(byte)
    }
  }
}

/// The error of a response head.
public enum ResponseError: Error, Sendable, Hashable {
  case badLine, lineTooLong
  case field(FieldError)
  case framing(FramingError)

  public var explanation: String {
    switch self {
    case .badLine: "The status line is not valid."
    case .lineTooLong: "The status line is too long."
    case .field(let error): error.explanation
    case .framing(let error): error.explanation
    }
  }
}
