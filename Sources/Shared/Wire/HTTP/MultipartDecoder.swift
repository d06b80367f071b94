/// Decodes a stream of `multipart/form-data` (RFC 7578, RFC 2046 §5.1) without buffering the parts.
///
/// ```
/// while true {
///   let (event, length) = try decoder.next(input)
///   drop length bytes of the input
///   switch event {
///   case .part(let part): the previous part has ended, this one begins
///   case .payload(let range): use(input[range]) (of the input before the drop)
///   case .bufferedPayload(let bytes): use(bytes)
///   case .more: read more (all input was dropped)
///   case .end: the last part has ended
///   }
/// }
/// ```
///
/// Payload and boundary are separated by one delimiter, `CRLF -- boundary`. If the input ends in a possible prefix of a
/// delimiter, only the number of matching bytes is stored; if it is not a delimiter, those bytes follow as
/// `bufferedPayload`. A delimiter contains one CR, at its start, so a mismatch needs no backtracking: time is linear.
public struct MultipartDecoder: Sendable {
  public enum Event: Sendable, Hashable {
    case part(MultipartPart)
    case payload(Range<Int>)
    case bufferedPayload([UInt8])
    case more
    case end
  }

  private enum Stage: Sendable {
    case preamble, payload, behindDelimiter, padding, delimiterLineFeed, lastHyphen, head, epilogue
  }

  private let delimiter: [UInt8]
  private let limits: MultipartLimits
  private var stage = Stage.preamble
  /// The number of delimiter bytes at the end of the input. The first delimiter needs no preceding CRLF.
  private var matched = 2
  private var parts = 0
  private var paddingLeft = 0
  private var headBytes: [UInt8] = []
  private var section: FieldSection

  /// Returns nil if `boundary` is invalid (RFC 2046 §5.1.1: 1 to 70 characters of a set, no space at the end).
  public init?(boundary: String, limits: MultipartLimits = MultipartLimits()) {
    guard 1...70 ~= boundary.utf8.count, boundary.utf8.last != 32, boundary.utf8.allSatisfy(MultipartDecoder.mayHold)
    else { return nil }
    delimiter = Array("\r\n--\(boundary)".utf8)
    self.limits = limits
    section = FieldSection(startingAt: 0, limits: limits.head)
  }

  /// Returns nil unless the Content-Type is multipart/form-data with a valid boundary.
  public init?(_ type: MediaType, limits: MultipartLimits = MultipartLimits()) {
    guard type.isMultipartForm, let boundary = type["boundary"] else { return nil }
    self.init(boundary: boundary, limits: limits)
  }

  public var isDone: Bool { stage == .epilogue }

  /// Returns the next event and the number of consumed bytes.
  public mutating func next(_ bytes: Span<UInt8>) throws(MultipartError) -> (event: Event, length: Int) {
    var index = 0
    while index < bytes.count {
      switch stage {
      case .preamble, .payload:
        if let event = search(bytes, &index) { return (event, index) }
      case .head:
        return try readHead(bytes, from: index)
      case .epilogue:
        // RFC 2046 §5.1.1: the epilogue is ignored.
        return (.end, bytes.count)
      case .behindDelimiter, .padding, .delimiterLineFeed, .lastHyphen:
        try eat(bytes[index])
        index += 1
      }
    }
    return (stage == .epilogue ? .end : .more, index)
  }

  /// Searches the delimiter and returns the payload before it; nil if there is none.
  private mutating func search(_ bytes: Span<UInt8>, _ index: inout Int) -> Event? {
    if matched > 0 { return continueMatch(bytes, &index) }
    let start = index
    while index < bytes.count {
      if bytes[index] != 13 {
        index += 1
        continue
      }
      let length = matchLength(bytes, at: index)
      if length == delimiter.count || index + length == bytes.count { break }
      index += length
    }
    // Payload first. The next call starts at the delimiter.
    if index > start, stage == .payload { return .payload(start..<index) }
    matched = matchLength(bytes, at: index)
    index += matched
    if matched == delimiter.count { found() }
    return nil
  }

  private func matchLength(_ bytes: Span<UInt8>, at index: Int) -> Int {
    var length = 0
    while length < delimiter.count, index + length < bytes.count, bytes[index + length] == delimiter[length] {
      length += 1
    }
    return length
  }

  /// The previous input ended in a prefix of the delimiter.
  private mutating func continueMatch(_ bytes: Span<UInt8>, _ index: inout Int) -> Event? {
    while index < bytes.count, matched < delimiter.count, bytes[index] == delimiter[matched] {
      index += 1
      matched += 1
    }
    if matched == delimiter.count {
      found()
    } else if index < bytes.count {
      let buffered = Array(delimiter[..<matched])
      matched = 0
      if stage == .payload { return .bufferedPayload(buffered) }
    }
    return nil
  }

  private mutating func found() {
    matched = 0
    stage = .behindDelimiter
    paddingLeft = limits.padding
  }

  /// RFC 2046 §5.1.1: a delimiter is followed by `--` if it is the last, otherwise by white space and CRLF.
  private mutating func eat(_ byte: UInt8) throws(MultipartError) {
    switch stage {
    case .behindDelimiter where byte == UInt8(ascii: "-"): stage = .lastHyphen
    case .behindDelimiter, .padding: try eatPadding(byte)
    case .lastHyphen:
      guard byte == UInt8(ascii: "-") else { throw .badDelimiter }
      stage = .epilogue
    case .delimiterLineFeed:
      guard byte == 10 else { throw .badDelimiter }
      guard parts < limits.parts else { throw .tooManyParts }
      parts += 1
      headBytes = []
      section.restart(at: 0)
      stage = .head
    case .preamble, .payload, .head, .epilogue: break
    }
  }

  private mutating func eatPadding(_ byte: UInt8) throws(MultipartError) {
    if byte == 13 {
      stage = .delimiterLineFeed
      return
    }
    guard byte == 32 || byte == 9, paddingLeft > 0 else { throw .badDelimiter }
    paddingLeft -= 1
    stage = .padding
  }

  /// Heads are short, so the decoder buffers them instead of the caller.
  private mutating func readHead(
    _ bytes: Span<UInt8>, from index: Int
  ) throws(MultipartError) -> (event: Event, length: Int) {
    let bufferedCount = headBytes.count
    let limit = min(bytes.count, index + limits.head.fields + 1 - bufferedCount)
    headBytes.append(copying: bytes.extracting(index..<limit))
    let head = headBytes
    let end: Int?
    do { end = try section.read(head.span) } catch { throw .head(error) }
    guard let end else { return (.more, bytes.count) }
    let part = try MultipartPart(section.makeFields(head.span))
    headBytes = []
    stage = .payload
    return (.part(part), index + end - bufferedCount)
  }

  private static func mayHold(_ byte: UInt8) -> Bool {
    switch byte {
    case 32, UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "+"), UInt8(ascii: "_"),
      UInt8(ascii: ","), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "="),
      UInt8(ascii: "?"):
      true
    default: ASCII.isAlpha(byte) || ASCII.isDigit(byte)
    }
  }
}

public struct MultipartLimits: Sendable, Hashable {
  public var parts: Int
  public var head: HeadLimits
  /// White space after a delimiter.
  public var padding: Int

  public init(
    parts: Int = 32, head: HeadLimits = HeadLimits(line: 4_096, fields: 8_192, count: 16), padding: Int = 64
  ) {
    self.parts = parts
    self.head = head
    self.padding = padding
  }
}

/// The header fields of a part (RFC 7578 §4).
public struct MultipartPart: Sendable, Hashable {
  public let name: String
  /// The file name of the client. For display only, never a path to open.
  public let filename: String?
  /// The media type of the client, unverified.
  public let contentType: String?

  init(_ fields: Fields) throws(MultipartError) {
    let dispositions = fields.all("content-disposition")
    guard dispositions.count == 1, let disposition = dispositions.first else { throw .badDisposition }
    let bytes = Array(disposition.utf8)
    var index = 0
    guard FieldParameters.token(bytes.span, &index, bytes.count)?.lowercased() == "form-data",
      let parameters = FieldParameters(bytes.span, from: index, to: bytes.count), let name = parameters["name"]
    else { throw .badDisposition }
    self.name = name
    // RFC 6266 §4.3: filename* takes precedence.
    filename = try parameters["filename*"].map(MultipartPart.extended) ?? parameters["filename"]
    contentType = fields["content-type"]
  }

  /// RFC 8187 §3.2.1: `UTF-8'en'na%C3%AFve.txt`. UTF-8 is the only required charset.
  private static func extended(_ value: String) throws(MultipartError) -> String {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].lowercased() == "utf-8", let text = Percent.decode(String(parts[2])),
      text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 })
    else { throw .badDisposition }
    return text
  }
}

/// The error of a multipart body.
public enum MultipartError: Error, Sendable, Hashable {
  case badDelimiter, tooManyParts, badDisposition
  case head(FieldError)

  public var status: Status {
    switch self {
    case .tooManyParts: .contentTooLarge
    case .head(let error): error.isOverLimit ? .contentTooLarge : .badRequest
    case .badDelimiter, .badDisposition: .badRequest
    }
  }

  public var explanation: String {
    switch self {
    case .badDelimiter: "A boundary of the form is malformed."
    case .tooManyParts: "The form has too many parts."
    case .badDisposition: "A part of the form has no valid Content-Disposition."
    case .head(let error): error.explanation
    }
  }
}
