/// A set of ASCII bytes, as a bitmap.
struct ByteSet {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// The bytes of `text`, optionally with all controls except tab and line end.
  init(_ text: String, andControls: Bool = false) {
    if andControls {
      low = 0xffff_ffff & ~(1 << 0x09 | 1 << 0x0a)
      high = 1 << (0x7f - 64)
    }
    for byte in text.utf8 where byte < 0x80 {
      if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }
  }

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    let bits = byte < 64 ? low : high
    return byte < 0x80 && bits >> UInt64(byte & 63) & 1 != 0
  }

  /// The first position from `start` with a byte of the set, or `end`.
  @inline(__always)
  func first(in text: Span<UInt8>, from start: Int, to end: Int) -> Int {
    var position = start
    while position < end, !contains(text[position]) { position += 1 }
    return position
  }
}
