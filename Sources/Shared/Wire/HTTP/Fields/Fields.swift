/// Header fields in their original order. Names compare case-insensitively, and repeated fields are preserved.
///
/// The storage is the wire format (`name: value CRLF`, one after another): sending or receiving a section takes one
/// copy, and no string per field.
public struct Fields: Sendable {
  @usableFromInline package var bytes: [UInt8]
  @usableFromInline package var entries: [Entry]

  /// The ranges of one field in `bytes`.
  @usableFromInline package struct Entry: Sendable {
    @usableFromInline package var nameStart: Int32
    @usableFromInline package var nameEnd: Int32
    @usableFromInline package var valueStart: Int32
    @usableFromInline package var valueEnd: Int32

    @inlinable package init(nameStart: Int32, nameEnd: Int32, valueStart: Int32, valueEnd: Int32) {
      self.nameStart = nameStart
      self.nameEnd = nameEnd
      self.valueStart = valueStart
      self.valueEnd = valueEnd
    }

    @inlinable package var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    @inlinable package var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
  }

  @inlinable public init() {
    bytes = []
    entries = []
  }

  /// Used by parsers that have checked every byte. `entries` are ranges of `bytes`.
  @inlinable package init(bytes: [UInt8], entries: [Entry]) {
    self.bytes = bytes
    self.entries = entries
  }

  @inlinable public var count: Int { entries.count }
  @inlinable public var isEmpty: Bool { entries.isEmpty }

  /// The section in wire format, each field with its CRLF.
  @inlinable public var wireBytes: [UInt8] { bytes }

  public func name(at index: Int) -> String {
    bytes.span.text(entries[index].name)
  }

  public func value(at index: Int) -> String {
    bytes.span.text(entries[index].value)
  }

  /// The index of the first field with this lowercase name.
  @inlinable public func index(of name: StaticString, after previous: Int = -1) -> Int? {
    let length = name.utf8CodeUnitCount
    var index = previous + 1
    while index < entries.count {
      let entry = entries[index]
      if Int(entry.nameEnd - entry.nameStart) == length, matches(entry, name) { return index }
      index += 1
    }
    return nil
  }

  @usableFromInline func matches(_ entry: Entry, _ name: StaticString) -> Bool {
    bytes.span.matches(name, in: entry.name)
  }

  /// Whether a value equals this one.
  func isValue(_ text: StaticString, at index: Int) -> Bool {
    bytes.span.equals(text, in: entries[index].value)
  }

  /// The value of the first field with this name.
  public subscript(_ name: StaticString) -> String? {
    index(of: name).map { value(at: $0) }
  }

  public func has(_ name: StaticString) -> Bool { index(of: name) != nil }

  /// All values with this name, in order.
  public func all(_ name: StaticString) -> [String] {
    var values: [String] = []
    var index = index(of: name)
    while let position = index {
      values.append(value(at: position))
      index = self.index(of: name, after: position)
    }
    return values
  }

  /// The members of a comma-separated list (RFC 9110 §5.6.1) over all fields with this name, without empty ones. Commas
  /// in quoted strings do not split.
  public func list(_ name: StaticString) -> [String] {
    all(name).flatMap { FieldList.members(of: $0) }
  }

  /// Whether a comma-separated list contains this token, case-insensitively.
  public func hasToken(_ name: StaticString, _ token: String) -> Bool {
    guard has(name) else { return false }
    let token = token.lowercased()
    return list(name).contains { $0.lowercased() == token }
  }

  /// Adds a field at the end. CR, LF and NUL become spaces, so that a value from a peer cannot inject a field.
  public mutating func add(_ name: String, _ value: String) {
    if entries.isEmpty {
      // Enough for most responses.
      entries.reserveCapacity(8)
      bytes.reserveCapacity(256)
    }
    let nameStart = bytes.count
    for byte in name.utf8 { bytes.append(ASCII.isToken(byte) ? byte : UInt8(ascii: "_")) }
    let nameEnd = bytes.count
    bytes.append(UInt8(ascii: ":"))
    bytes.append(UInt8(ascii: " "))
    let valueStart = bytes.count
    appendInLine(value.utf8Span.span)
    let valueEnd = bytes.count
    bytes.append(13)
    bytes.append(10)
    entries.append(
      Entry(
        nameStart: Int32(nameStart), nameEnd: Int32(nameEnd), valueStart: Int32(valueStart), valueEnd: Int32(valueEnd)))
  }

  private mutating func appendInLine(_ value: Span<UInt8>) {
    if value.firstControl(from: 0, to: value.count) == value.count {
      bytes.append(copying: value)
    } else {
      for index in value.indices {
        let byte = value[index]
        bytes.append(byte == 13 || byte == 10 || byte == 0 ? UInt8(ascii: " ") : byte)
      }
    }
  }

  /// Replaces all fields of this name with one.
  public mutating func set(_ name: StaticString, _ value: String) {
    remove(name)
    add(name.description, value)
  }

  /// Writes the fields whose names are not in `others`. Usually all of them: one copy.
  public func append(to output: inout [UInt8], unlessIn others: Fields) {
    var start = 0
    for entry in entries {
      let end = Int(entry.valueEnd) + 2
      for other in others.entries where others.isSameName(other, self, entry) {
        output.append(contentsOf: bytes[start..<Int(entry.nameStart)])
        start = end
        break
      }
    }
    output.append(contentsOf: bytes[start...])
  }

  /// Adds the fields of `defaults` whose names are missing.
  public mutating func addMissing(from defaults: Fields) {
    for (index, entry) in defaults.entries.enumerated()
    where !entries.contains(where: { isSameName($0, defaults, entry) }) {
      add(defaults.name(at: index), defaults.value(at: index))
    }
  }

  private func isSameName(_ entry: Entry, _ other: Fields, _ otherEntry: Entry) -> Bool {
    let length = Int(entry.nameEnd - entry.nameStart)
    guard length == Int(otherEntry.nameEnd - otherEntry.nameStart) else { return false }
    for offset in 0..<length {
      let byte = ASCII.lowercase(bytes[Int(entry.nameStart) + offset])
      guard byte == ASCII.lowercase(other.bytes[Int(otherEntry.nameStart) + offset]) else { return false }
    }
    return true
  }

  public mutating func remove(_ name: StaticString) {
    guard has(name) else { return }
    var remaining = Fields()
    for (index, entry) in entries.enumerated()
    where Int(entry.nameEnd - entry.nameStart) != name.utf8CodeUnitCount
      || !matches(entry, name)
    {
      remaining.add(self.name(at: index), value(at: index))
    }
    self = remaining
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral pairs: (String, String)...) {
    self.init()
    for (name, value) in pairs { add(name, value) }
  }

  public init(_ pairs: KeyValuePairs<String, String>) {
    self.init()
    for (name, value) in pairs { add(name, value) }
  }
}

/// Comma-separated lists in field values (RFC 9110 §5.6.1).
public enum FieldList {
  /// The members without surrounding white space. Empty members are ignored, as the RFC requires.
  public static func members(of value: String) -> [String] {
    var members: [String] = []
    var current: [UInt8] = []
    var isQuoted = false
    var isEscaped = false
    func flush() {
      var slice = current[...]
      while let first = slice.first, first == 32 || first == 9 { slice = slice.dropFirst() }
      while let last = slice.last, last == 32 || last == 9 { slice = slice.dropLast() }
      if !slice.isEmpty { members.append(String(decoding: slice, as: UTF8.self)) }
    }
    for byte in value.utf8 {
      if isEscaped {
        isEscaped = false
      } else if isQuoted {
        if byte == UInt8(ascii: "\\") { isEscaped = true }
        if byte == UInt8(ascii: "\"") { isQuoted = false }
      } else if byte == UInt8(ascii: "\"") {
        isQuoted = true
      } else if byte == UInt8(ascii: ",") {
        flush()
        current.removeAll(keepingCapacity: true)
        continue
      }
      current.append(byte)
    }
    flush()
    return members
  }
}
