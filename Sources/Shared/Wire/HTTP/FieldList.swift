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
