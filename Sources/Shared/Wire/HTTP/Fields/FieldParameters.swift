/// `; name=value` lists of media types, dispositions and Forwarded (RFC 9110 §5.6.6). Names are lowercased and unique.
struct FieldParameters: Sendable, Hashable {
  var pairs: [Pair] = []

  struct Pair: Sendable, Hashable {
    let name: String
    let value: String
  }

  subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

  /// Parses parameters from `index` to `end`. Returns nil if they are malformed.
  init?(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
    var index = start
    FieldParameters.skipSpace(bytes, &index, end)
    while index < end {
      guard bytes[index] == UInt8(ascii: ";") else { return nil }
      index += 1
      FieldParameters.skipSpace(bytes, &index, end)
      // RFC 9110 §5.6.6 allows a trailing semicolon.
      if index == end || bytes[index] == UInt8(ascii: ";") { continue }
      guard let pair = FieldParameters.pair(bytes, &index, end), self[pair.name] == nil else { return nil }
      pairs.append(pair)
      FieldParameters.skipSpace(bytes, &index, end)
    }
  }

  init() {}

  /// `name=token` or `name="quoted string"`, without white space around the `=`.
  static func pair(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) -> Pair? {
    guard let name = token(bytes, &index, end), index < end, bytes[index] == UInt8(ascii: "=") else { return nil }
    index += 1
    guard let value = tokenOrQuoted(bytes, &index, end) else { return nil }
    return Pair(name: name.lowercased(), value: value)
  }

  static func token(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) -> String? {
    let start = index
    while index < end, ASCII.isToken(bytes[index]) { index += 1 }
    return index > start ? bytes.text(start..<index) : nil
  }

  /// RFC 9110 §5.6.4. Only `\"` and `\\` are escapes: some browsers send backslashes of a file path unescaped.
  static func tokenOrQuoted(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) -> String? {
    guard index < end, bytes[index] == UInt8(ascii: "\"") else { return token(bytes, &index, end) }
    index += 1
    var value: [UInt8] = []
    while index < end {
      var byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\"") { return String(validating: value, as: UTF8.self) }
      let isEscape = byte == UInt8(ascii: "\\") && index < end
      if isEscape, bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "\\") {
        byte = bytes[index]
        index += 1
      }
      guard ASCII.isFieldContent(byte) else { return nil }
      value.append(byte)
    }
    return nil
  }

  static func skipSpace(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) {
    while index < end, bytes[index] == 32 || bytes[index] == 9 { index += 1 }
  }
}
