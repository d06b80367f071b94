import ParleyJSON

/// Reads a JSON document of any size value by value: an array, or an object with one long array.
struct JSONStream {
  enum Item {
    case member(String, JSONValue)
    case element(JSONValue)
  }

  private enum State {
    case start, inObject, inArray, end
  }

  private let source: any ByteSource
  private let name: String
  /// The member whose elements are read one by one; nil if the document is an array.
  private let list: String?
  private var piece: [UInt8] = []
  private var position = 0
  private var state = State.start
  /// Whether a value was read in the object, or the array.
  private var hasMembers = false
  private var hasElements = false

  init(_ source: any ByteSource, _ name: String, list: String? = nil) {
    self.source = source
    self.name = name
    self.list = list
  }

  /// The next value; nil after the end of the document.
  mutating func next() throws(ImportFault) -> Item? {
    while true {
      switch state {
      case .start:
        if try peek() == 0xef { try skipByteOrderMark() }
        try expect(list == nil ? "[" : "{", list == nil ? "a list" : "an object")
        state = list == nil ? .inArray : .inObject
      case .inArray:
        if try takeEnd("]", isFirst: !hasElements) {
          state = list == nil ? .end : .inObject
          continue
        }
        hasElements = true
        return .element(try value())
      case .inObject:
        if try takeEnd("}", isFirst: !hasMembers) {
          state = .end
          continue
        }
        hasMembers = true
        let name = try text(try value())
        try expect(":", "a colon")
        if name == list {
          try expect("[", "a list")
          (state, hasElements) = (.inArray, false)
          continue
        }
        return .member(name, try value())
      case .end:
        guard try peek() == nil else { throw malformed("it has text after its end") }
        return nil
      }
    }
  }

  /// Consumes the end of a list or an object, or the comma before its next value.
  private mutating func takeEnd(_ end: Unicode.Scalar, isFirst: Bool) throws(ImportFault) -> Bool {
    let byte = try peek()
    if byte == UInt8(ascii: end) {
      position += 1
      return true
    }
    if !isFirst { try expect(",", "a comma") }
    return false
  }

  private mutating func expect(_ scalar: Unicode.Scalar, _ what: String) throws(ImportFault) {
    let byte = try peek()
    guard byte == UInt8(ascii: scalar) else { throw byte == nil ? cut : malformed("\(what) is missing") }
    position += 1
  }

  private mutating func skipByteOrderMark() throws(ImportFault) {
    for expected: UInt8 in [0xef, 0xbb, 0xbf] {
      guard try refill(), piece[position] == expected else { throw malformed("it is not UTF-8") }
      position += 1
    }
  }

  /// The next byte that is no white space; nil at the end.
  private mutating func peek() throws(ImportFault) -> UInt8? {
    while try refill() {
      switch piece[position] {
      case 0x20, 0x09, 0x0a, 0x0d: position += 1
      default: return piece[position]
      }
    }
    return nil
  }

  private mutating func refill() throws(ImportFault) -> Bool {
    while position == piece.count {
      guard let next = try source.read() else { return false }
      (piece, position) = (next, 0)
    }
    return true
  }

  /// Collects the bytes of one value and parses them.
  private mutating func value() throws(ImportFault) -> JSONValue {
    guard try peek() != nil else { throw cut }
    var bytes: [UInt8] = []
    var depth = 0
    var isInString = false
    var isEscaped = false
    var isScalar = false
    scan: while true {
      guard try refill() else {
        if isScalar { break scan }
        throw cut
      }
      let start = position
      while position < piece.count {
        let byte = piece[position]
        if isInString {
          position += 1
          if isEscaped {
            isEscaped = false
          } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
          } else if byte == UInt8(ascii: "\"") {
            isInString = false
            if depth == 0 { break }
          }
          continue
        }
        if isScalar {
          guard !Self.isDelimiter(byte) else { break }
          position += 1
          continue
        }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: if depth == 0, !Self.isDelimiter(byte) { isScalar = true }
        }
        if depth <= 0, !isInString, !isScalar { break }
      }
      guard bytes.count + position - start <= ImportLimits.valueBytes else {
        throw malformed("it has a value of more than \(ImportLimits.valueBytes >> 20) MB")
      }
      bytes += piece[start..<position]
      let isWhole = !isInString && depth <= 0 && (!isScalar || position < piece.count)
      if isWhole { break scan }
    }
    do throws(JSONError) { return try JSONValue(parsing: bytes) } catch {
      throw malformed("a value can't be read")
    }
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"), 0x20, 0x09, 0x0a, 0x0d: true
    default: false
    }
  }

  private func text(_ value: JSONValue) throws(ImportFault) -> String {
    do throws(JSONError) { return try value.string() } catch { throw malformed("the name of a member is missing") }
  }

  private var cut: ImportFault { ImportFault("\(name) is cut: its JSON has no end. Make the export again.") }

  private func malformed(_ reason: String) -> ImportFault {
    ImportFault("\(name) is not the JSON of an export: \(reason). Make the export again.")
  }
}
