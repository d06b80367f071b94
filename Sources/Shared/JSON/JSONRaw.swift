/// The unchanged bytes of one value, to store and return the data of other programs.
public struct JSONRaw: Hashable, Sendable {
  /// The JSON text of the value in UTF-8.
  public let bytes: [UInt8]

  /// For bytes that were validated before, such as those of a column. They are written unchanged.
  public init(trusted bytes: [UInt8]) { self.bytes = bytes }

  /// Without whitespace between tokens, for line-based formats. Whitespace inside strings stays; it has no line ends.
  public var compact: JSONRaw {
    var compact: [UInt8] = []
    compact.reserveCapacity(bytes.count)
    var isInString = false
    var isEscaped = false
    for byte in bytes {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
      } else if byte == UInt8(ascii: "\"") {
        isInString = true
      } else if byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
        continue
      }
      compact.append(byte)
    }
    return JSONRaw(trusted: compact)
  }
}
