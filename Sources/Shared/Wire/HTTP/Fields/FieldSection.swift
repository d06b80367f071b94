/// Parses a field section (RFC 9112 §5) with its empty line: of a request, a response, a trailer or a form part.
///
/// Each call gets the message from its start. The parser remembers its offset, so that a section that arrives in small
/// pieces is parsed in linear time. Checks depend only on the offset of a byte, never on how the input was split, and a
/// malformed byte is rejected when it arrives.
struct FieldSection: Sendable {
  private enum Stage: Sendable {
    case name, beforeValue, value, lineFeed, lastLineFeed
  }

  private let limits: HeadLimits
  /// The start of the section and the parsed offset.
  private var start: Int
  private var position: Int
  private var stage = Stage.name
  private var lineStart: Int
  private var nameEnd = 0
  private var valueStart = 0
  private var valueEnd = 0
  private var entries: [Fields.Entry] = []

  init(startingAt start: Int, limits: HeadLimits) {
    self.limits = limits
    self.start = start
    position = start
    lineStart = start
  }

  /// Returns the offset after the section, or nil if more input is needed.
  mutating func read(_ bytes: Span<UInt8>) throws(FieldError) -> Int? {
    if entries.capacity == 0 { entries.reserveCapacity(12) }
    var position = self.position
    let sectionEnd = start &+ limits.fields
    while true {
      let bound = min(bytes.count, lineStart &+ limits.line, sectionEnd)
      switch stage {
      case .name:
        while position < bound, ASCII.isToken(bytes[position]) { position &+= 1 }
        guard position < bound else { return try pause(at: position) }
        let byte = bytes[position]
        if byte == UInt8(ascii: ":") {
          guard position > lineStart else { throw .emptyName }
          guard entries.count < limits.count else { throw .tooMany }
          nameEnd = position
          stage = .beforeValue
        } else if byte == 13, position == lineStart {
          stage = .lastLineFeed
        } else {
          throw refusal(ofNameByte: byte, at: position)
        }
        position &+= 1
      case .beforeValue:
        while position < bound, bytes[position] == 32 || bytes[position] == 9 { position &+= 1 }
        guard position < bound else { return try pause(at: position) }
        valueStart = position
        stage = .value
      case .value:
        position = bytes.firstControl(from: position, to: bound)
        while position < bound, bytes[position] == 9 { position = bytes.firstControl(from: position &+ 1, to: bound) }
        guard position < bound else { return try pause(at: position) }
        guard bytes[position] == 13 else { throw bytes[position] == 10 ? .bareLineFeed : .badValue }
        valueEnd = position
        while valueEnd > valueStart, bytes[valueEnd &- 1] == 32 || bytes[valueEnd &- 1] == 9 { valueEnd &-= 1 }
        position &+= 1
        stage = .lineFeed
      case .lineFeed:
        guard position < bound else { return try pause(at: position) }
        guard bytes[position] == 10 else { throw .bareCarriageReturn }
        entries.append(
          Fields.Entry(
            nameStart: Int32(truncatingIfNeeded: lineStart &- start),
            nameEnd: Int32(truncatingIfNeeded: nameEnd &- start),
            valueStart: Int32(truncatingIfNeeded: valueStart &- start),
            valueEnd: Int32(truncatingIfNeeded: valueEnd &- start)))
        position &+= 1
        lineStart = position
        stage = .name
      case .lastLineFeed:
        guard position < bound else { return try pause(at: position) }
        guard bytes[position] == 10 else { throw .bareCarriageReturn }
        self.position = position &+ 1
        return self.position
      }
    }
  }

  /// Returns the fields and resets the parser. `bytes` are those of the last `read`.
  mutating func makeFields(_ bytes: Span<UInt8>) -> Fields {
    let fields = Fields(bytes: [UInt8](copying: bytes.extracting(start..<lineStart)), entries: entries)
    entries = []
    return fields
  }

  mutating func restart(at start: Int) {
    self.start = start
    position = start
    lineStart = start
    stage = .name
    entries = []
  }

  /// End of input: throws if the limit is reached, otherwise more input is needed.
  private mutating func pause(at position: Int) throws(FieldError) -> Int? {
    self.position = position
    if position >= start &+ limits.fields { throw .sectionTooLong }
    if position >= lineStart &+ limits.line { throw .lineTooLong }
    return nil
  }

  private func refusal(ofNameByte byte: UInt8, at position: Int) -> FieldError {
    switch byte {
    case 10: .bareLineFeed
    case 13: .missingColon
    // RFC 9112 §5.2: a server must reject or unfold a folded line; §5.1: space before the colon is rejected.
    case 9, 32: position == lineStart ? .folded : .spaceInName
    default: .badName
    }
  }
}

/// The error of a field section.
public enum FieldError: Error, Sendable, Hashable {
  case bareLineFeed, bareCarriageReturn
  case emptyName, badName, spaceInName, missingColon, badValue, folded
  case lineTooLong, sectionTooLong, tooMany

  public var isOverLimit: Bool {
    switch self {
    case .lineTooLong, .sectionTooLong, .tooMany: true
    case .bareLineFeed, .bareCarriageReturn, .emptyName, .badName, .spaceInName, .missingColon, .badValue, .folded:
      false
    }
  }

  public var explanation: String {
    switch self {
    case .bareLineFeed: "A line ends in LF without CR."
    case .bareCarriageReturn: "A CR is not followed by LF."
    case .emptyName: "A field has no name."
    case .badName: "A field name contains an invalid character."
    case .spaceInName: "A field name contains or precedes white space."
    case .missingColon: "A field line has no colon."
    case .badValue: "A field value contains a control character."
    case .folded: "A field is folded over several lines."
    case .lineTooLong: "A field is too long."
    case .sectionTooLong: "The fields are too long in total."
    case .tooMany: "There are too many fields."
    }
  }
}

/// The limits of a message head. Line ends count.
public struct HeadLimits: Sendable, Hashable {
  /// Bytes of the first line, and of each field line. RFC 9112 §3 recommends at least 8,000.
  public var line: Int
  /// Bytes of the field section.
  public var fields: Int
  /// Fields in the section. The default is `Host` and 100 others.
  public var count: Int

  public init(line: Int = 8_192, fields: Int = 32_768, count: Int = 101) {
    self.line = line
    self.fields = fields
    self.count = count
  }
}
