import ParleyWire

/// The bytes that a connection has read and not yet consumed. They keep their place while a consumer runs, so that it
/// knows of the bytes behind its own.
struct PendingInput {
  private var bytes: [UInt8] = []
  /// The index of the first unconsumed byte.
  private var start = 0

  /// The number of consumed bytes at which the rest is moved to the front.
  private static let maxConsumed = 65_536

  var isEmpty: Bool { start == bytes.count }
  var count: Int { bytes.count - start }
  /// The size of the buffer.
  var footprint: Int { bytes.count }
  /// The buffer and its first unconsumed byte. A copy keeps the buffer alive while it is consumed.
  var contents: (bytes: [UInt8], start: Int) { (bytes, start) }

  mutating func append(_ more: Span<UInt8>) { bytes.append(copying: more) }

  /// Removes consumed bytes, unless all were removed meanwhile.
  mutating func consume(_ count: Int) {
    guard !bytes.isEmpty else { return }
    start += count
    if start == bytes.count {
      removeAll()
    } else if start > Self.maxConsumed {
      bytes.removeFirst(start)
      start = 0
    }
  }

  mutating func removeAll() {
    bytes = []
    start = 0
  }
}
