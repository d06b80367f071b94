/// Decodes the payload of a message body (RFC 9112 §6, §7) without copying it.
///
/// ```
/// reading: while true {
///   switch try decoder.next(input) {
///   case .payload(let range): use(input[range]); drop range.upperBound bytes of the input
///   case .more: drop all of the input, read more
///   case .end(let length): drop length bytes; the rest is the next message
///   }
/// }
/// ```
public struct BodyDecoder: Sendable {
  public enum Step: Sendable, Hashable {
    /// A range of payload. The input is consumed up to its end.
    case payload(Range<Int>)
    /// All input is consumed.
    case more
    /// The body is complete. It consumed this many bytes of the input.
    case end(Int)
  }

  private enum Stage: Sendable {
    case data, untilClose, done
    case size, sizeLineFeed, chunkEnd, chunkLineFeed, trailers
    case beforeSemicolon, beforeName, name, afterName, beforeValue, value, quoted, escaped, afterValue
  }

  private var stage: Stage
  private let isChunked: Bool
  /// Remaining payload bytes of the body or the chunk.
  private var remaining: Int
  private var digits = 0
  /// The remaining limits of payload and chunk extensions, in bytes.
  private var allowance: Int
  private var extensionAllowance = 4_096
  private var isOverLimit = false
  private let trailerLimits: HeadLimits
  private var trailerBytes: [UInt8] = []
  private var trailerSection: FieldSection

  /// The trailer fields. Empty until the body has ended.
  public private(set) var trailers = Fields()

  public init(
    _ framing: Framing, limit: Int, trailerLimits: HeadLimits = HeadLimits(line: 2_048, fields: 8_192, count: 32)
  ) {
    remaining = 0
    isChunked = framing == .chunked
    allowance = limit
    self.trailerLimits = trailerLimits
    trailerSection = FieldSection(startingAt: 0, limits: trailerLimits)
    switch framing {
    case .none: stage = .done
    case .length(let length):
      stage = length == 0 ? .done : .data
      remaining = length
      isOverLimit = length > limit
    case .chunked: stage = .size
    case .untilClose: stage = .untilClose
    }
  }

  public var isDone: Bool { stage == .done }

  /// Whether the body is complete if the connection ends here.
  public var mayEndHere: Bool { stage == .done || stage == .untilClose }

  public mutating func next(_ bytes: Span<UInt8>) throws(BodyError) -> Step {
    guard !isOverLimit else { throw .tooLarge }
    var index = 0
    while index < bytes.count || stage == .done {
      switch stage {
      case .done: return .end(index)
      case .data:
        let count = min(remaining, bytes.count &- index)
        remaining &-= count
        if remaining == 0 { stage = isChunked ? .chunkEnd : .done }
        return .payload(index..<index &+ count)
      case .untilClose:
        try allow(bytes.count)
        return .payload(0..<bytes.count)
      case .trailers:
        return try readTrailers(bytes, from: index)
      case .size, .sizeLineFeed, .chunkEnd, .chunkLineFeed, .beforeSemicolon, .beforeName, .name, .afterName,
        .beforeValue, .value, .quoted, .escaped, .afterValue:
        try eat(bytes[index])
        index &+= 1
      }
    }
    return .more
  }

  private mutating func allow(_ count: Int) throws(BodyError) {
    guard count <= allowance else { throw .tooLarge }
    allowance &-= count
  }

  /// Checks one byte between chunks. RFC 9112 §7.1.1 defines the chunk extensions, which are checked and dropped.
  private mutating func eat(_ byte: UInt8) throws(BodyError) {
    switch stage {
    case .size:
      if let digit = ASCII.hexValue(byte) {
        guard digits < 16, remaining <= Int.max >> 4 else { throw .badChunkSize }
        remaining = remaining << 4 | Int(digit)
        digits &+= 1
        return
      }
      guard digits > 0 else { throw .badChunkSize }
      switch byte {
      case 13: stage = .sizeLineFeed
      case UInt8(ascii: ";"): stage = .beforeName
      case 32, 9: stage = .beforeSemicolon
      default: throw .badChunkSize
      }
    case .sizeLineFeed:
      guard byte == 10 else { throw .badLineEnd }
      try startChunk()
    case .chunkEnd:
      guard byte == 13 else { throw .badLineEnd }
      stage = .chunkLineFeed
    case .chunkLineFeed:
      guard byte == 10 else { throw .badLineEnd }
      stage = .size
      digits = 0
    case .beforeSemicolon, .beforeName, .name, .afterName, .beforeValue, .value, .quoted, .escaped, .afterValue:
      try eatExtension(byte)
    case .data, .untilClose, .done, .trailers: break
    }
  }

  private mutating func startChunk() throws(BodyError) {
    if remaining == 0 {
      stage = .trailers
    } else {
      try allow(remaining)
      stage = .data
    }
  }

  private mutating func eatExtension(_ byte: UInt8) throws(BodyError) {
    guard extensionAllowance > 0 else { throw .chunkExtensionTooLong }
    extensionAllowance &-= 1
    guard let next = extensionStage(after: byte) else { throw .badChunkExtension }
    stage = next
  }

  /// The stage after a byte of a chunk extension; nil if the byte is not allowed.
  private func extensionStage(after byte: UInt8) -> Stage? {
    let isSpace = byte == 32 || byte == 9
    let isToken = ASCII.isToken(byte)
    switch stage {
    case .beforeSemicolon: return isSpace ? stage : byte == UInt8(ascii: ";") ? .beforeName : nil
    case .beforeName: return isSpace ? stage : isToken ? .name : nil
    case .name:
      if isToken { return stage }
      if isSpace { return .afterName }
      return byte == UInt8(ascii: "=") ? .beforeValue : afterExtension(byte)
    case .afterName:
      if isSpace { return stage }
      return byte == UInt8(ascii: "=") ? .beforeValue : byte == UInt8(ascii: ";") ? .beforeName : nil
    case .beforeValue:
      if isSpace { return stage }
      return byte == UInt8(ascii: "\"") ? .quoted : isToken ? .value : nil
    case .value: return isToken ? stage : isSpace ? .beforeSemicolon : afterExtension(byte)
    case .quoted:
      if byte == UInt8(ascii: "\\") { return .escaped }
      return byte == UInt8(ascii: "\"") ? .afterValue : ASCII.isFieldContent(byte) ? stage : nil
    case .escaped: return ASCII.isFieldContent(byte) ? .quoted : nil
    case .afterValue: return isSpace ? .beforeSemicolon : afterExtension(byte)
    case .size, .sizeLineFeed, .data, .chunkEnd, .chunkLineFeed, .untilClose, .done, .trailers: return nil
    }
  }

  private func afterExtension(_ byte: UInt8) -> Stage? {
    switch byte {
    case UInt8(ascii: ";"): .beforeName
    case 13: .sizeLineFeed
    default: nil
    }
  }

  /// Trailers are rare and short, so the decoder buffers them instead of the caller.
  private mutating func readTrailers(_ bytes: Span<UInt8>, from index: Int) throws(BodyError) -> Step {
    let bufferedCount = trailerBytes.count
    let limit = min(bytes.count, index &+ trailerLimits.fields &+ 1 &- bufferedCount)
    trailerBytes.append(copying: bytes.extracting(index..<limit))
    let section = trailerBytes
    let end: Int?
    do { end = try trailerSection.read(section.span) } catch { throw .trailer(error) }
    guard let end else { return .more }
    let fields = trailerSection.makeFields(section.span)
    guard !BodyDecoder.forbiddenTrailers.contains(where: { fields.has($0) }) else { throw .forbiddenTrailer }
    trailers = fields
    trailerBytes = []
    stage = .done
    return .end(index &+ end &- bufferedCount)
  }

  /// RFC 9110 §6.5.1: fields for framing, routing, authentication or the content must not be trailers.
  private static let forbiddenTrailers: [StaticString] = [
    "content-length", "transfer-encoding", "trailer", "host", "connection", "upgrade", "te", "expect", "content-type",
    "content-encoding", "content-range", "authorization", "cookie", "set-cookie", "cache-control", "range",
  ]
}

/// The error of a message body. The connection can't be reused: the start of the next message is unknown.
public enum BodyError: Error, Sendable, Hashable {
  case tooLarge
  case badChunkSize, badChunkExtension, chunkExtensionTooLong, badLineEnd
  case trailer(FieldError), forbiddenTrailer

  public var status: Status {
    switch self {
    case .tooLarge: .contentTooLarge
    case .trailer(let error): error.isOverLimit ? .headerFieldsTooLarge : .badRequest
    case .badChunkSize, .badChunkExtension, .chunkExtensionTooLong, .badLineEnd, .forbiddenTrailer: .badRequest
    }
  }

  public var explanation: String {
    switch self {
    case .tooLarge: "The body is too large."
    case .badChunkSize: "The size of a chunk is not a hexadecimal number."
    case .badChunkExtension: "A chunk extension is malformed."
    case .chunkExtensionTooLong: "The chunk extensions are too long."
    case .badLineEnd: "A chunk or its size does not end in CRLF."
    case .trailer(let error): error.explanation
    case .forbiddenTrailer: "A trailer contains a field that is not allowed in trailers."
    }
  }
}

/// The framing of a chunked body (RFC 9112 §7.1): `prefix`, the bytes, `suffix`; `last` at the end.
public enum Chunk {
  public static let suffix: [UInt8] = [13, 10]
  /// The last chunk, without trailers.
  public static let last: [UInt8] = Array("0\r\n\r\n".utf8)

  /// The size line. `length` must be above 0, because an empty chunk ends the body.
  public static func prefix(_ length: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    appendPrefix(length, to: &bytes)
    return bytes
  }

  public static func appendPrefix(_ length: Int, to output: inout [UInt8]) {
    precondition(length > 0)
    var shift = (Int.bitWidth - 1 - length.leadingZeroBitCount) / 4 * 4
    while shift >= 0 {
      let digit = UInt8(truncatingIfNeeded: length >> shift & 15)
      output.append(digit < 10 ? digit &+ 0x30 : digit &+ 0x57)
      shift -= 4
    }
    output.append(13)
    output.append(10)
  }
}
