/// Appends JSON to bytes, without an intermediate tree. The writer adds commas, colons and brackets; a closure writes
/// the content of an object or array.
///
///     var json = JSONWriter()
///     json.object { json in
///       json.field("id", message.id)
///       json.field("reply_to", message.replyTo)       // nil is written as null
///       json.array("tags") { json in
///         for tag in message.tags { json.value(tag) }
///       }
///     }
///     send(json.bytes)
///
/// An object contains only fields, an array only values. The text is UTF-8; only ASCII characters are escaped.
public struct JSONWriter: Sendable {
  /// The initial bytes and the JSON after them.
  public private(set) var bytes: [UInt8]
  /// Whether the next value of the container needs a comma.
  @usableFromInline var needsComma = false

  /// Appends to existing bytes.
  public init(appendingTo bytes: consuming [UInt8] = []) { self.bytes = bytes }

  /// Reserves capacity.
  public init(reserving count: Int) {
    bytes = []
    bytes.reserveCapacity(count)
  }

  /// The bytes of a text as a string with its quotes.
  public static func size(of text: String) -> Int {
    let text = text.utf8.span
    return text.count + JSONEscape.added(to: text) + 2
  }

  /// Writes an element of an array, or the whole text.
  @inlinable public mutating func value(_ value: some JSONWritable) { value.write(to: &self) }

  /// Writes `null` as an element of an array, or as the whole text.
  public mutating func null() {
    literal([UInt8(ascii: "n"), UInt8(ascii: "u"), UInt8(ascii: "l"), UInt8(ascii: "l")])
  }

  /// Writes an object as an element of an array, or as the whole text; the closure writes its fields.
  @inlinable public mutating func object<Failure>(
    _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    begin(UInt8(ascii: "{"))
    try members(&self)
    end(UInt8(ascii: "}"))
  }

  /// Writes an array as an element of an array, or as the whole text; the closure writes its elements.
  @inlinable public mutating func array<Failure>(
    _ elements: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    begin(UInt8(ascii: "["))
    try elements(&self)
    end(UInt8(ascii: "]"))
  }
}

extension JSONWriter {
  /// Writes a field of the open object; nil is written as `null`.
  @inlinable public mutating func field(_ name: String, _ value: some JSONWritable) {
    key(name)
    value.write(to: &self)
  }

  /// Writes a field with a preencoded name.
  @inlinable public mutating func field(_ name: JSONName, _ value: some JSONWritable) {
    key(name)
    value.write(to: &self)
  }

  /// Writes a field with the value `null`.
  @inlinable public mutating func null(_ name: String) {
    key(name)
    null()
  }

  /// Writes a field with an object; the closure writes its fields.
  @inlinable public mutating func object<Failure>(
    _ name: String, _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    try object(members)
  }

  /// Writes a field with an array; the closure writes its elements.
  @inlinable public mutating func array<Failure>(
    _ name: String, _ elements: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    try array(elements)
  }
}

extension JSONWriter {
  @usableFromInline mutating func begin(_ bracket: UInt8) {
    comma()
    bytes.append(bracket)
    needsComma = false
  }

  @usableFromInline mutating func end(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  @usableFromInline mutating func key(_ name: String) {
    quoted(name, after: needsComma, isKey: true)
    needsComma = false
  }

  @usableFromInline mutating func key(_ name: JSONName) {
    bytes.append(contentsOf: needsComma ? name.afterComma : name.bytes)
    needsComma = false
  }

  @usableFromInline mutating func string(_ text: String) {
    quoted(text, after: needsComma, isKey: false)
    needsComma = true
  }

  /// An unquoted ASCII value.
  @usableFromInline mutating func token(_ text: String) {
    comma()
    bytes.append(contentsOf: text.utf8)
  }

  @usableFromInline mutating func bool(_ value: Bool) {
    if value {
      literal([UInt8(ascii: "t"), UInt8(ascii: "r"), UInt8(ascii: "u"), UInt8(ascii: "e")])
    } else {
      literal([UInt8(ascii: "f"), UInt8(ascii: "a"), UInt8(ascii: "l"), UInt8(ascii: "s"), UInt8(ascii: "e")])
    }
  }

  /// Appends comma and text at once. A static array would cost a check, a retain and a call of `memcpy`.
  @inline(__always)
  private mutating func literal<let count: Int>(_ text: InlineArray<count, UInt8>) {
    let comma = needsComma
    bytes.append(addingCapacity: count + 1) { output in
      if comma { output.append(UInt8(ascii: ",")) }
      for index in text.indices { output.append(text[index]) }
    }
    needsComma = true
  }

  @usableFromInline mutating func raw(_ value: ArraySlice<UInt8>) {
    comma()
    bytes.append(contentsOf: value)
  }

  @usableFromInline mutating func integer(_ magnitude: UInt64, isNegative: Bool) {
    comma()
    bytes.append(addingCapacity: Self.maxDigits + 1) { output in
      if isNegative { output.append(UInt8(ascii: "-")) }
      Self.write(magnitude, to: &output)
    }
  }

  /// A number as a string: the format of ids.
  public mutating func quoted(_ number: UInt) {
    plain(Self.maxDigits) { output in Self.write(UInt64(number), to: &output) }
  }

  private static let maxDigits = 20

  @inline(__always)
  private static func write(_ number: UInt64, to output: inout OutputSpan<UInt8>) {
    // From the last digit: division by a constant compiles to a multiplication.
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var first = maxDigits
    var rest = number
    repeat {
      first -= 1
      let tenth = rest / 10
      digits[first] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest &- tenth &* 10)
      rest = tenth
    } while rest > 0
    for index in first..<maxDigits { output.append(digits[index]) }
  }

  /// Text of at most `count` bytes of ASCII without escapes.
  mutating func plain(_ count: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
    comma()
    bytes.append(addingCapacity: count + 2) { output in
      output.append(UInt8(ascii: "\""))
      body(&output)
      output.append(UInt8(ascii: "\""))
    }
  }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Appends comma, quotes, text and colon at once, because growing the array takes most of the time.
  @inline(__always)
  private mutating func quoted(_ text: String, after comma: Bool, isKey: Bool) {
    let text = text.utf8.span
    if JSONEscape.isNeeded(text) { return escaped(text, after: comma, isKey: isKey) }
    bytes.append(addingCapacity: text.count + 4) { output in
      output.append(quoting: text, after: comma, isKey: isKey)
    }
  }

  @inline(never)
  private mutating func escaped(_ text: Span<UInt8>, after comma: Bool, isKey: Bool) {
    bytes.append(addingCapacity: text.count + JSONEscape.room(for: text) + 4) { output in
      if comma { output.append(UInt8(ascii: ",")) }
      output.append(UInt8(ascii: "\""))
      for index in text.indices { JSONEscape.append(text[index], to: &output) }
      output.append(UInt8(ascii: "\""))
      if isKey { output.append(UInt8(ascii: ":")) }
    }
  }
}

/// A preencoded field name for frequent fields: quoted, escaped and with its colon, and the same with a leading comma
/// for all but the first field.
///
///     static let createdAt = JSONName("created_at")
///     json.field(Self.createdAt, message.createdAt)
public struct JSONName: Sendable {
  let bytes: [UInt8]
  let afterComma: [UInt8]

  /// Encodes a name once, for many uses.
  public init(_ name: String) {
    var json = JSONWriter()
    json.key(name)
    bytes = json.bytes
    afterComma = [UInt8(ascii: ",")] + bytes
  }
}
