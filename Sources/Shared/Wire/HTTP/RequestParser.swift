/// Parses request heads (RFC 9112 §3, §5, §6), strictly: input that two parsers could interpret differently is
/// rejected, to prevent request smuggling.
///
/// Choices where the RFC allows several:
/// - Only CRLF ends a line. One empty line before the request line is skipped (§2.2).
/// - Two Content-Length fields or a list ("5, 5") are rejected even if they agree, and so are leading zeros (`010`).
/// - Transfer-Encoding must be `chunked`: another coding before it is 501, a value that does not end in one `chunked`
///   is 400 (§6.3).
/// - A minor version above 1 is treated as 1.1 (§2.3); every other major version is 505.
/// - Host must not be empty. Its name has letters, digits, `-._~`, or is an IP literal.
/// - A `%` in the path must be followed by two hexadecimal digits; in the query it may be literal, as browsers send it.
public struct RequestParser: Sendable {
  let limits: HeadLimits
  /// The start of the request line (after a skipped empty line) and the parsed offset.
  private var lineStart = 0
  private var position = 0
  private var line: RequestLine?
  private var section: FieldSection

  /// The maximum length of a method. The registry has no longer ones.
  static let maxMethodLength = 32

  public init(limits: HeadLimits = HeadLimits()) {
    self.limits = limits
    section = FieldSection(startingAt: 0, limits: limits)
  }

  /// Parses a head at the start of `bytes`, the unconsumed input from the start of the message. Returns nil if more
  /// input is needed: call again with the same bytes and more after them. Returns the head and its length, and is then
  /// ready for the next message. Do not use the parser after an error.
  public mutating func parse(_ bytes: Span<UInt8>) throws(RequestError) -> (head: RequestHead, length: Int)? {
    if line == nil {
      guard let line = try readLine(bytes) else { return nil }
      self.line = line
      section.restart(at: position)
    }
    let end: Int?
    do { end = try section.read(bytes) } catch { throw .field(error) }
    guard let end, let line else { return nil }
    self.line = nil
    lineStart = 0
    position = 0
    let fields = section.makeFields(bytes)
    let framingFields: FramingFields
    let framing: Framing
    do {
      framingFields = try FramingFields(fields, version: line.version)
      framing = try framingFields.framing(fields) ?? .none
    } catch { throw .framing(error) }
    try RequestParser.checkHost(framingFields)
    let head = RequestHead(
      method: Method(bytes, in: line.method), target: line.target.value(bytes), version: line.version, fields: fields,
      framing: framing, keepsAlive: framingFields.keepsAlive,
      expectsContinue: try RequestParser.expectsContinue(framingFields, fields, framing),
      asksForUpgrade: framingFields.asksForUpgrade)
    return (head, end)
  }

  /// RFC 9112 §3.2: exactly one Host, also with an absolute-form target, which overrides it.
  private static func checkHost(_ fields: FramingFields) throws(RequestError) {
    guard fields.hosts <= 1 else { throw .repeatedHost }
    guard !fields.hasBadHost else { throw .badHost }
    guard fields.hosts == 1 || fields.version == .http10 else { throw .missingHost }
  }

  /// RFC 9110 §10.1.1: ignored in HTTP/1.0 requests and without a body.
  private static func expectsContinue(
    _ framingFields: FramingFields, _ fields: Fields, _ framing: Framing
  ) throws(RequestError) -> Bool {
    guard framingFields.expectations > 0, framingFields.version == .http11 else { return false }
    guard fields.all("expect").allSatisfy({ $0.lowercased() == "100-continue" }) else { throw .unknownExpectation }
    return framing != .none && framing != .length(0)
  }

  private mutating func readLine(_ bytes: Span<UInt8>) throws(RequestError) -> RequestLine? {
    if lineStart == 0, bytes.count > 0, bytes[0] == 13 {
      guard bytes.count > 1 else { return nil }
      guard bytes[1] == 10 else { throw .bareCarriageReturn }
      lineStart = 2
      position = 2
    }
    let bound = min(bytes.count, lineStart &+ limits.line)
    var position = bytes.firstControl(from: self.position, to: bound, asciiOnly: true)
    self.position = position
    if position < bound {
      let byte = bytes[position]
      guard byte == 13 else { throw byte == 10 ? .bareLineFeed : .badLine }
      if position &+ 1 < bound {
        guard bytes[position &+ 1] == 10 else { throw .bareCarriageReturn }
        self.position = position &+ 2
        return try RequestLine(bytes, in: lineStart..<position)
      }
      position &+= 1
    }
    if position >= lineStart &+ limits.line { throw .lineTooLong }
    return nil
  }
}

/// The ranges of the request line's parts (RFC 9112 §3): three words, separated by one space.
struct RequestLine: Sendable {
  let method: Range<Int>
  let target: TargetRanges
  let version: Version

  /// Every byte in `range` is visible ASCII or a space.
  init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(RequestError) {
    var methodEnd = range.lowerBound
    while methodEnd < range.upperBound, ASCII.isToken(bytes[methodEnd]) { methodEnd &+= 1 }
    method = range.lowerBound..<methodEnd
    // " HTTP/1.1" has nine bytes; the shortest target has one.
    let targetStart = methodEnd &+ 1
    let targetEnd = range.upperBound &- 9
    guard !method.isEmpty, methodEnd < range.upperBound, bytes[methodEnd] == 32 else { throw .badLine }
    guard targetEnd > targetStart, bytes[targetEnd] == 32 else { throw .badLine }
    version = try RequestLine.version(bytes, at: targetEnd &+ 1)
    // RFC 9110 §9.3.6: only a proxy needs CONNECT, and its target has its own form.
    guard method.count <= RequestParser.maxMethodLength, !bytes.equals("CONNECT", in: method) else {
      throw .methodNotImplemented
    }
    guard let target = TargetRanges(bytes, in: targetStart..<targetEnd, isOptions: bytes.equals("OPTIONS", in: method))
    else { throw .badTarget }
    self.target = target
  }

  private static func version(_ bytes: Span<UInt8>, at start: Int) throws(RequestError) -> Version {
    guard bytes.equals("HTTP/", in: start..<start &+ 5), ASCII.isDigit(bytes[start &+ 5]),
      bytes[start &+ 6] == UInt8(ascii: "."), ASCII.isDigit(bytes[start &+ 7])
    else { throw .badVersion }
    guard bytes[start &+ 5] == UInt8(ascii: "1") else { throw .versionNotSupported }
    return bytes[start &+ 7] == UInt8(ascii: "0") ? .http10 : .http11
  }
}
