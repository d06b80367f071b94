/// A 64-bit FNV-1a hash, for values without adversarial collisions.
public struct Fingerprint: Sendable {
  /// The hash of the values so far.
  public var sum: UInt64 = 0xcbf2_9ce4_8422_2325

  /// A hash without values, for `take`.
  @inlinable
  public init() {}

  /// The hash of the bytes in their order.
  @inlinable
  public init(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { take(UInt64(byte)) }
  }

  /// The hash of the value's JSON.
  public init(of value: some JSONWritable) {
    var json = JSONWriter()
    json.value(value)
    self.init(json.bytes)
  }

  /// Adds a value to the hash.
  @inlinable
  public mutating func take(_ value: UInt64) {
    sum = (sum ^ value) &* 0x100_0000_01b3
  }

  /// A hash of many bytes, eight at a time in two lanes. It differs from the hash of the same bytes as a sequence.
  public init(ofMany bytes: Span<UInt8>) {
    // The lanes differ, so that exchanged words change the sum.
    var second = Fingerprint()
    second.take(1)
    var offset = 0
    while offset + 16 <= bytes.count {
      takeWord(bytes.word(at: offset))
      second.takeWord(bytes.word(at: offset + 8))
      offset += 16
    }
    for offset in offset..<bytes.count { take(UInt64(bytes[offset])) }
    takeWord(UInt64(bytes.count))
    takeWord(second.sum)
  }

  /// A multiplication moves bits only upwards.
  private mutating func takeWord(_ word: UInt64) {
    take(word)
    sum ^= sum >> 32
  }

  /// The sum in lower-case hexadecimal digits without leading zeros, for entity tags.
  public var hexadecimal: String { String(sum, radix: 16) }
}
