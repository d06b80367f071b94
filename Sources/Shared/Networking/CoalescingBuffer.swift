/// Joins adjacent broadcast buffers once for all connections of a loop. Broadcasts have the same order on every
/// connection, so the same two buffers are adjacent in all queues, and the queues share the joined buffer.
///
/// Only the last pair is cached, because a broadcast is written to all connections before the next one. Buffers are
/// compared by address. The cache retains them, so their addresses are not reused.
struct CoalescingBuffer {
  private var first: [UInt8] = []
  private var second: [UInt8] = []
  private var joined: [UInt8] = []

  mutating func join(_ front: [UInt8], _ back: [UInt8]) -> [UInt8] {
    if Self.isSame(back, second), Self.isSame(front, first) { return joined }
    var both: [UInt8] = []
    both.reserveCapacity(front.count + back.count)
    both.append(contentsOf: front)
    both.append(contentsOf: back)
    (first, second, joined) = (front, back, both)
    return both
  }

  private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return unsafe one.withUnsafeBufferPointer { one in
      unsafe other.withUnsafeBufferPointer { other in unsafe one.baseAddress == other.baseAddress }
    }
  }
}
