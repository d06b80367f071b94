/// The bytes of one value, kept as they came: to store what someone else's program says, and to give it back unchanged.
public struct JSONRaw: Hashable, Sendable {
  public let bytes: [UInt8]

  /// For bytes that were read as JSON before, such as those of a column. They are written as they stand.
  public init(trusted bytes: [UInt8]) { self.bytes = bytes }

  /// Without the space between tokens, for formats where the end of a line means something. Space inside strings
  /// stays, and there are no line ends in it.
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
