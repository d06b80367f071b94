/// A 64-bit FNV-1a hash, for values without adversarial collisions.
public struct Fingerprint: Sendable {
  public var sum: UInt64 = 0xcbf2_9ce4_8422_2325

  @inlinable
  public init() {}

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

  @inlinable
  public mutating func take(_ value: UInt64) {
    sum = (sum ^ value) &* 0x100_0000_01b3
  }

  public var hexadecimal: String { String(sum, radix: 16) }
}
