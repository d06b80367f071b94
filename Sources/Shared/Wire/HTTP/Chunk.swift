/// The framing of a chunked body (RFC 9112 §7.1): `prefix`, the bytes, `suffix`; `last` at the end.
public enum Chunk {
  public static let suffix: [UInt8] = [13, 10]
  /// The last chunk, without trailers.
  public static let last: [UInt8] = Array("0\r\n\r\n".utf8)

  /// The size line. `length` must be above 0, because an empty chunk ends the body.
  public static func prefix(_ length: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    appendPrefix(length, to: &bytes)
    return bytes
  }

  public static func appendPrefix(_ length: Int, to output: inout [UInt8]) {
    precondition(length > 0)
    var shift = (Int.bitWidth - 1 - length.leadingZeroBitCount) / 4 * 4
    while shift >= 0 {
      let digit = UInt8(truncatingIfNeeded: length >> shift & 15)
      output.append(digit < 10 ? digit &+ 0x30 : digit &+ 0x57)
      shift -= 4
    }
    output.append(13)
    output.append(10)
  }
}
