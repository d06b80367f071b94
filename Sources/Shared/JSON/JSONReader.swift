/// Reads a text in one pass and produces a flat list of nodes: no tree, no string, and one growing allocation. RFC 8259
/// with the strict choices of RFC 7493: UTF-8 without a byte-order mark, no duplicate keys, no lone surrogates.
///
/// The reader does not recurse. Open containers are linked through the list itself: an open container's `next` is the
/// enclosing one, and gets its final value when the container closes. So depth is free; it is limited for code
/// that walks the values.
///
/// The time is linear in the bytes for every text: see `refuseRepeatedKeys`.
struct JSONReader {
  private let bytes: [UInt8]
  private let depthLimit: Int
  private var nodes: [JSONNode] = []
  /// The innermost open container.
  private var open = Self.none
  private var depth = 0

  private static let none = UInt32.max

  static func nodes(of bytes: [UInt8], depth: Int) throws(JSONError) -> [JSONNode] {
    guard bytes.count <= JSONLimits.bytes else { throw .malformed(.tooLong, offset: JSONLimits.bytes) }
    var reader = JSONReader(bytes: bytes, depthLimit: depth)
    try reader.checkEncoding()
    try reader.read(bytes.span)
    return reader.nodes
  }

  private init(bytes: [UInt8], depthLimit: Int) {
    self.bytes = bytes
    self.depthLimit = depthLimit
    nodes.reserveCapacity(bytes.count / 12 + 4)
  }

  /// RFC 8259 §8.1. After this check only ASCII needs inspection: every other byte is part of a valid scalar.
  private func checkEncoding() throws(JSONError) {
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { throw .malformed(.byteOrderMark, offset: 0) }
    do {
      _ = try UTF8Span(validating: bytes.span)
    } catch {
      throw .malformed(.invalidUTF8, offset: error.byteOffsets.lowerBound)
    }
  }

  private mutating func read(_ text: Span<UInt8>) throws(JSONError) {
    var offset = JSONScanner.space(in: text, from: 0)
    while true {
      offset = try value(in: text, at: offset)
      guard let next = try afterValue(in: text, at: offset) else { return }
      offset = next
    }
  }

  /// Reads a scalar, opening containers until the first scalar or empty container. Returns the offset after the scalar,
  /// or the offset of the empty container's closing bracket.
  @inline(__always)
  private mutating func value(in text: Span<UInt8>, at start: Int) throws(JSONError) -> Int {
    var offset = start
    while offset < text.count {
      switch text[offset] {
      case UInt8(ascii: "\""):
        let string = try JSONScanner.string(in: text, from: offset)
        append(string.isEscaped ? .escapedString : .string, from: offset, to: string.end)
        return string.end
      case UInt8(ascii: "{"):
        try openContainer(.object, at: offset)
        offset = JSONScanner.space(in: text, from: offset + 1)
        if offset < text.count, text[offset] == UInt8(ascii: "}") { return offset }
        offset = try key(in: text, at: offset)
      case UInt8(ascii: "["):
        try openContainer(.array, at: offset)
        offset = JSONScanner.space(in: text, from: offset + 1)
        if offset < text.count, text[offset] == UInt8(ascii: "]") { return offset }
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        let end = try JSONScanner.number(in: text, from: offset)
        append(.number, from: offset, to: end)
        return end
      case UInt8(ascii: "t"):
        return try literal("true", .true, in: text, at: offset)
      case UInt8(ascii: "f"):
        return try literal("false", .false, in: text, at: offset)
      case UInt8(ascii: "n"):
        return try literal("null", .null, in: text, at: offset)
      default:
        throw .malformed(.unexpectedByte, offset: offset)
      }
    }
    throw .malformed(.unexpectedEnd, offset: text.count)
  }

  /// Closes containers that end here. Returns the start of the next value, or nil at the end of the text.
  @inline(__always)
  private mutating func afterValue(in text: Span<UInt8>, at start: Int) throws(JSONError) -> Int? {
    var offset = JSONScanner.space(in: text, from: start)
    while open != Self.none {
      guard offset < text.count else { throw .malformed(.unexpectedEnd, offset: offset) }
      let isObject = nodes[Int(open)].token == .object
      switch text[offset] {
      case UInt8(ascii: ","):
        offset = JSONScanner.space(in: text, from: offset + 1)
        return isObject ? try key(in: text, at: offset) : offset
      case UInt8(ascii: "}") where isObject:
        try refuseRepeatedKeys(in: text)
        closeContainer(at: offset)
      case UInt8(ascii: "]") where !isObject:
        closeContainer(at: offset)
      default:
        throw .malformed(.unexpectedByte, offset: offset)
      }
      offset = JSONScanner.space(in: text, from: offset + 1)
    }
    guard offset == text.count else { throw .malformed(.trailingBytes, offset: offset) }
    return nil
  }

  /// Reads a key and its colon. Returns the start of its value.
  @inline(__always)
  private mutating func key(in text: Span<UInt8>, at start: Int) throws(JSONError) -> Int {
    guard start < text.count else { throw .malformed(.unexpectedEnd, offset: start) }
    guard text[start] == UInt8(ascii: "\"") else { throw .malformed(.unexpectedByte, offset: start) }
    let string = try JSONScanner.string(in: text, from: start)
    append(string.isEscaped ? .escapedString : .string, from: start, to: string.end)
    let colon = JSONScanner.space(in: text, from: string.end)
    guard colon < text.count else { throw .malformed(.unexpectedEnd, offset: colon) }
    guard text[colon] == UInt8(ascii: ":") else { throw .malformed(.unexpectedByte, offset: colon) }
    return JSONScanner.space(in: text, from: colon + 1)
  }

  private mutating func literal(
    _ word: StaticString, _ token: JSONNode.Token, in text: Span<UInt8>, at start: Int
  ) throws(JSONError) -> Int {
    let end = try JSONScanner.literal(word, in: text, from: start)
    append(token, from: start, to: end)
    return end
  }

  @inline(__always)
  private mutating func append(_ token: JSONNode.Token, from start: Int, to end: Int) {
    let next = UInt32(truncatingIfNeeded: nodes.count + 1)
    nodes.append(
      JSONNode(start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end), next: next, token: token)
    )
  }

  private mutating func openContainer(_ token: JSONNode.Token, at start: Int) throws(JSONError) {
    guard depth < depthLimit else { throw .malformed(.tooDeep, offset: start) }
    depth += 1
    let around = open
    open = UInt32(truncatingIfNeeded: nodes.count)
    let start = UInt32(truncatingIfNeeded: start)
    nodes.append(JSONNode(start: start, end: start, next: around, token: token))
  }

  private mutating func closeContainer(at bracket: Int) {
    let container = Int(open)
    depth -= 1
    open = nodes[container].next
    nodes[container].end = UInt32(truncatingIfNeeded: bracket + 1)
    nodes[container].next = UInt32(truncatingIfNeeded: nodes.count)
  }
}

// RFC 8259 §4 only recommends unique keys; two readers that choose different duplicates are a security hole.
extension JSONReader {
  /// Called before the innermost open object closes. A 64-bit filter clears most objects. If two keys share a bit, a
  /// few keys are compared pairwise and many with a hash table, seeded at random against chosen collisions.
  private func refuseRepeatedKeys(in text: Span<UInt8>) throws(JSONError) {
    var kinds: UInt64 = 0
    var count = 0
    var isClear = true
    var hasEscapes = false
    var key = Int(open) + 1
    while key < nodes.count {
      let node = nodes[key]
      let contents = node.contents
      let first = contents.isEmpty ? 0 : text[contents.lowerBound]
      let last = contents.isEmpty ? 0 : text[contents.upperBound - 1]
      let bit: UInt64 = 1 << ((UInt64(first) &+ UInt64(last) &* 7 &+ UInt64(contents.count) &* 11) & 63)
      if kinds & bit != 0 { isClear = false }
      if node.token == .escapedString { hasEscapes = true }
      kinds |= bit
      count += 1
      key = Int(nodes[key + 1].next)
    }
    if isClear && !hasEscapes || count < 2 { return }
    if count <= JSONLimits.pairedKeys && !hasEscapes {
      try comparePairs(in: text)
    } else {
      try compareByHash(count: count)
    }
  }

  private func comparePairs(in text: Span<UInt8>) throws(JSONError) {
    var later = Int(open) + 1
    while later < nodes.count {
      var earlier = Int(open) + 1
      while earlier < later {
        if JSONScanner.equal(nodes[earlier].contents, nodes[later].contents, in: text) {
          throw .malformed(.repeatedKey, offset: Int(nodes[later].start))
        }
        earlier = Int(nodes[earlier + 1].next)
      }
      later = Int(nodes[later + 1].next)
    }
  }

  private func compareByHash(count: Int) throws(JSONError) {
    var seen = Set<Key>(minimumCapacity: count)
    var key = Int(open) + 1
    while key < nodes.count {
      let node = nodes[key]
      let name =
        node.token == .escapedString
        ? JSONEscape.decoded(bytes.span, node.contents)[...]
        : bytes[node.contents]
      guard seen.insert(Key(bytes: name)).inserted else {
        throw .malformed(.repeatedKey, offset: Int(node.start))
      }
      key = Int(nodes[key + 1].next)
    }
  }

  /// Keys are equal if their bytes are: as a `String`, "é" would equal "e" with a combining accent.
  private struct Key: Hashable {
    let bytes: ArraySlice<UInt8>

    /// Hashes eight bytes at a time; the slice would hash single bytes.
    func hash(into hasher: inout Hasher) {
      var word: UInt64 = 0
      var filled = 0
      let text = bytes.span
      for offset in text.indices {
        word = word << 8 | UInt64(text[offset])
        filled += 1
        if filled & 7 == 0 { hasher.combine(word) }
      }
      hasher.combine(word)
      hasher.combine(filled)
    }
  }
}
