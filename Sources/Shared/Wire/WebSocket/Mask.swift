/// A masking key (RFC 6455 §5.3), rotated so that its first byte applies to the next payload byte.
struct Mask: Equatable {
  /// The four key bytes twice, in memory order.
  private(set) var word: UInt64

  init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
    let key = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16 | UInt32(fourth) << 24
    word = (UInt64(key) << 32 | UInt64(key)).littleEndian
  }

  /// The lowest byte of the number is the first key byte.
  init(_ key: UInt32) {
    self.init(
      UInt8(truncatingIfNeeded: key), UInt8(truncatingIfNeeded: key >> 8),
      UInt8(truncatingIfNeeded: key >> 16), UInt8(truncatingIfNeeded: key >> 24))
  }

  var first: UInt8 { UInt8(truncatingIfNeeded: word.littleEndian) }

  /// The key, its first byte lowest.
  var key: UInt32 { UInt32(truncatingIfNeeded: word.littleEndian) }

  mutating func advance(by count: Int) {
    let turn = UInt64(count & 3) &* 8
    guard turn != 0 else { return }
    let ordered = word.littleEndian
    word = (ordered >> turn | ordered << (64 &- turn)).littleEndian
  }
}
