/// One element of Sec-WebSocket-Extensions (RFC 6455 §9.1): a name and its parameters, in order.
struct ExtensionElement: Equatable {
  var name: String
  var parameters: [(name: String, value: String?)] = []

  static func == (left: Self, right: Self) -> Bool {
    left.name == right.name && left.parameters.count == right.parameters.count
      && zip(left.parameters, right.parameters).allSatisfy { $0 == $1 }
  }

  /// Parses the elements of all field values; nil if a value is malformed, which fails the handshake.
  ///
  ///     extension       = token *( ";" token [ "=" ( token | quoted-string ) ] )
  static func list(_ values: [String]) -> [ExtensionElement]? {
    var elements: [ExtensionElement] = []
    for value in values {
      var scanner = Scanner(value)
      repeat {
        scanner.skipSpace()
        // RFC 9110 §5.6.1.2: empty elements are ignored.
        if scanner.isAtEnd || scanner.next == UInt8(ascii: ",") { continue }
        guard let element = scanner.element() else { return nil }
        elements.append(element)
      } while scanner.skip(UInt8(ascii: ","))
      guard scanner.isAtEnd else { return nil }
    }
    return elements
  }

  private struct Scanner {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { offset == bytes.count }
    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    mutating func skip(_ byte: UInt8) -> Bool {
      guard next == byte else { return false }
      offset += 1
      return true
    }

    mutating func skipSpace() {
      while let byte = next, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { offset += 1 }
    }

    mutating func element() -> ExtensionElement? {
      guard let name = token() else { return nil }
      var element = ExtensionElement(name: name)
      skipSpace()
      while skip(UInt8(ascii: ";")) {
        skipSpace()
        guard let parameter = token() else { return nil }
        skipSpace()
        var value: String?
        if skip(UInt8(ascii: "=")) {
          skipSpace()
          value = next == UInt8(ascii: "\"") ? quotedToken() : token()
          guard value != nil else { return nil }
          skipSpace()
        }
        element.parameters.append((parameter, value))
      }
      return element
    }

    private mutating func token() -> String? {
      let start = offset
      while let byte = next, ASCII.isToken(byte) { offset += 1 }
      return offset > start ? String(decoding: bytes[start..<offset], as: UTF8.self) : nil
    }

    /// RFC 6455 §9.1: a quoted string must be a token after unescaping.
    private mutating func quotedToken() -> String? {
      guard skip(UInt8(ascii: "\"")) else { return nil }
      var text: [UInt8] = []
      while !skip(UInt8(ascii: "\"")) {
        _ = skip(UInt8(ascii: "\\"))
        guard let byte = next, ASCII.isToken(byte) else { return nil }
        text.append(byte)
        offset += 1
      }
      return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }
  }
}
