/// Reads request heads (RFC 9112 §3, §5, §6), strictly: whatever two parsers could read differently is refused, since
/// that is what request smuggling is made of.
///
/// Decisions where the RFC leaves room:
/// - Only CRLF ends a line. One empty line before the request line is skipped (§2.2), not more.
/// - Two Content-Length fields or a list ("5, 5") are refused even when they agree.
/// - Transfer-Encoding is `chunked` and nothing else: another coding before it is 501, anything that does not end in
///   one `chunked` is 400 (§6.3).
/// - A minor version above 1 is read as 1.1 (§2.3); every other major version is 505.
/// - Host may not be empty, and its name is letters, digits, `-._~`, or an IP literal.
/// - A `%` in the path is followed by two hexadecimal digits; in the query it may stand alone, as browsers send it.
public struct RequestParser: Sendable {
  let limits: HeadLimits
  /// Where the request line starts (behind an empty line that was skipped) and how far it was read.
  private var lineStart = 0
  private var position = 0
  private var line: RequestLine?
  private var section: FieldSection?

  /// The longest method that is looked at: longer ones are not in the registry.
  static let longestMethod = 32

  public init(limits: HeadLimits = HeadLimits()) {
    self.limits = limits
  }

  /// Reads a head from the start of `bytes`: the input that was not consumed, from the start of the message. Nil
  /// means that more is needed: keep the bytes and call again with more behind them. With the head comes the number of
  /// bytes it took, and the parser is ready for the next message. After an error it is of no more use.
  public mutating func parse(_ bytes: Span<UInt8>) throws(RequestError) -> (head: RequestHead, length: Int)? {
    if line == nil {
      guard let line = try readLine(bytes) else { return nil }
      self.line = line
      section = FieldSection(startingAt: position, limits: limits)
    }
    let end: Int?
    do { end = try section?.read(bytes) } catch { throw .field(error) }
    guard let end, let line, let fields = section.take()?.fields(bytes) else { return nil }
    self.line = nil
    lineStart = 0
    position = 0
    return (try head(line, fields), end)
  }

  private mutating func readLine(_ bytes: Span<UInt8>) throws(RequestError) -> RequestLine? {
    if lineStart == 0, bytes.count > 0, bytes[0] == 13 {
      guard bytes.count > 1 else { return nil }
      guard bytes[1] == 10 else { throw .bareCarriageReturn }
      lineStart = 2
      position = 2
    }
    let bound = min(bytes.count, lineStart &+ limits.line)
    var position = self.position
    while position < bound, bytes[position] &- 32 < 95 { position &+= 1 }
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

  private func head(_ line: RequestLine, _ fields: Fields) throws(RequestError) -> RequestHead {
    var framing = FramingFields()
    try framing.read(fields)
    return try framing.head(line, fields)
  }
}

/// The first line of a request (RFC 9112 §3): three words, one space between them.
struct RequestLine: Sendable {
  let method: Method
  let target: Target
  let version: Version

  /// Every byte in `range` is visible ASCII or a space.
  init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(RequestError) {
    var methodEnd = range.lowerBound
    while methodEnd < range.upperBound, ASCII.isToken(bytes[methodEnd]) { methodEnd &+= 1 }
    // " HTTP/1.1" has nine bytes; the shortest target has one.
    let targetStart = methodEnd &+ 1
    let targetEnd = range.upperBound &- 9
    guard methodEnd > range.lowerBound, methodEnd < range.upperBound, bytes[methodEnd] == 32 else { throw .badLine }
    guard targetEnd > targetStart, bytes[targetEnd] == 32 else { throw .badLine }
    version = try RequestLine.version(bytes, at: targetEnd &+ 1)
    guard methodEnd &- range.lowerBound <= RequestParser.longestMethod else { throw .methodNotImplemented }
    method = Method(bytes, in: range.lowerBound..<methodEnd)
    // RFC 9110 §9.3.6: only a proxy needs CONNECT, and its target has a form of its own.
    if case .other("CONNECT") = method { throw .methodNotImplemented }
    guard let target = Target(bytes, in: targetStart..<targetEnd, isOptions: method == .options) else { throw .badTarget }
    self.target = target
  }

  private static func version(_ bytes: Span<UInt8>, at start: Int) throws(RequestError) -> Version {
    guard bytes[start] == UInt8(ascii: "H"), bytes[start &+ 1] == UInt8(ascii: "T"),
      bytes[start &+ 2] == UInt8(ascii: "T"), bytes[start &+ 3] == UInt8(ascii: "P"),
      bytes[start &+ 4] == UInt8(ascii: "/"), ASCII.isDigit(bytes[start &+ 5]),
      bytes[start &+ 6] == UInt8(ascii: "."), ASCII.isDigit(bytes[start &+ 7])
    else { throw .badVersion }
    guard bytes[start &+ 5] == UInt8(ascii: "1") else { throw .versionNotSupported }
    return bytes[start &+ 7] == UInt8(ascii: "0") ? .http10 : .http11
  }
}

/// What the fields say about the message and its connection, gathered in one pass.
struct FramingFields {
  private var host: Int?
  private var contentLength: Int?
  private var transferEncoding: [Int] = []
  private var connection: [Int] = []
  private var expect: [Int] = []
  private var hasUpgrade = false

  /// Most names are told apart by their length alone.
  mutating func read(_ fields: Fields) throws(RequestError) {
    let bytes = fields.bytes.span
    for index in fields.entries.indices {
      let name = fields.entries[index].name
      switch name.count {
      case 4 where bytes.matches("host", in: name):
        guard host == nil else { throw .repeatedHost }
        host = index
      case 6 where bytes.matches("expect", in: name): expect.append(index)
      case 7 where bytes.matches("upgrade", in: name): hasUpgrade = true
      case 10 where bytes.matches("connection", in: name): connection.append(index)
      case 14 where bytes.matches("content-length", in: name):
        guard contentLength == nil else { throw .repeatedContentLength }
        contentLength = index
      case 17 where bytes.matches("transfer-encoding", in: name): transferEncoding.append(index)
      default: break
      }
    }
  }

  func head(_ line: RequestLine, _ fields: Fields) throws(RequestError) -> RequestHead {
    let bytes = fields.bytes.span
    if let host {
      guard Authority.isValid(bytes, in: fields.entries[host].value) else { throw .badHost }
    } else if line.version == .http11 {
      throw .missingHost
    }
    let framing = try framing(fields, version: line.version)

    var isClosed = false
    var isKept = false
    var upgrades = false
    for index in connection {
      bytes.forEachMember(in: fields.entries[index].value) { member in
        switch member.count {
        case 5 where bytes.matches("close", in: member): isClosed = true
        case 7 where bytes.matches("upgrade", in: member): upgrades = true
        case 10 where bytes.matches("keep-alive", in: member): isKept = true
        default: break
        }
      }
    }
    var expectsContinue = false
    for index in expect where line.version == .http11 {
      guard bytes.matches("100-continue", in: fields.entries[index].value) else { throw .unknownExpectation }
      // RFC 9110 §10.1.1: without a body there is nothing to wait for.
      expectsContinue = framing != .none && framing != .length(0)
    }
    return RequestHead(
      method: line.method, target: line.target, version: line.version, fields: fields, framing: framing,
      keepsAlive: !isClosed && (line.version == .http11 || isKept), expectsContinue: expectsContinue,
      // RFC 9110 §7.8: Upgrade in an HTTP/1.0 request is ignored.
      asksForUpgrade: upgrades && hasUpgrade && line.version == .http11)
  }

  private func framing(_ fields: Fields, version: Version) throws(RequestError) -> Framing {
    let bytes = fields.bytes.span
    guard transferEncoding.isEmpty else {
      guard version == .http11 else { throw .transferEncodingInHTTP10 }
      guard contentLength == nil else { throw .contentLengthBesideTransferEncoding }
      switch TransferCodings(fields, at: transferEncoding) {
      case .chunked: return .chunked
      case .moreThanChunked: throw .unknownTransferCoding
      case .wrong: throw .badTransferEncoding
      }
    }
    guard let contentLength else { return .none }
    guard let length = bytes.decimal(in: fields.entries[contentLength].value) else { throw .badContentLength }
    return .length(length)
  }
}

/// What Transfer-Encoding says (RFC 9112 §6.1).
enum TransferCodings {
  case chunked, moreThanChunked, wrong

  init(_ fields: Fields, at indices: [Int]) {
    let bytes = fields.bytes.span
    if indices.count == 1, bytes.matches("chunked", in: fields.entries[indices[0]].value) {
      self = .chunked
      return
    }
    var chunked = 0
    var endsInChunked = false
    var isBroken = false
    for index in indices {
      bytes.forEachMember(in: fields.entries[index].value) { member in
        if member.isEmpty { isBroken = true }
        endsInChunked = bytes.matches("chunked", in: member)
        if endsInChunked { chunked += 1 }
      }
    }
    self = endsInChunked && chunked == 1 && !isBroken ? .moreThanChunked : .wrong
  }
}
