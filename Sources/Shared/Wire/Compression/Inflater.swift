/// Inflates the messages of permessage-deflate (RFC 7692 §7.2.2), never to more than the caller allows.
public final class Inflater {
  private let stream: ZlibStream
  /// A final block came, and nothing after it.
  private var hasEnded = false
  /// About what it holds, in bytes: zlib's state and, once something was inflated, its window.
  public let footprint: Int

  public init(windowBits: Int = 15) throws(CompressionFault) {
    stream = try ZlibStream(inflating: .raw, windowBits: windowBits)
    footprint = 7200 + (1 << windowBits)
  }

  /// Appends what the input inflates to. `output` may grow to `limit`: one byte more and it is `tooLong`.
  public func inflate(_ input: Span<UInt8>, into output: inout [UInt8], limit: Int) throws(CompressionFault) {
    var place = 0
    while place < input.count {
      hasEnded = false
      place += try turn(input.extracting(place...), into: &output, limit: limit)
    }
  }

  /// The end of a message: what the sender took off (RFC 7692 §7.2.1) is put on again.
  public func finishMessage(into output: inout [UInt8], limit: Int) throws(CompressionFault) {
    // RFC 7692 §7.2.3.4: a sender may end with a final block. One that then leaves out the empty block is understood.
    if hasEnded { return }
    let tail = Deflater.tail
    let end = output.count
    try inflate(tail.span, into: &output, limit: limit)
    // A block that was cut short would take the tail for its own bytes.
    guard output.count == end, stream.isBetweenBlocks else { throw .malformed }
  }

  /// Forgets what came before.
  public func reset() {
    stream.reset()
    hasEnded = false
  }

  /// Eats until the input or the stream is at its end.
  private func turn(
    _ input: Span<UInt8>, into output: inout [UInt8], limit: Int
  ) throws(CompressionFault) -> Int {
    var place = 0
    while true {
      guard output.count <= limit else { throw .tooLong }
      let rest = input.extracting(place...)
      // One byte of room over the limit shows whether there is more.
      let room = min(max(256, rest.count &* 4), 16384, limit - output.count) + 1
      output.makeRoom(for: room, limit: limit)
      let before = output.count
      let (eaten, outcome) = stream.turn(rest, .sync, into: &output, room: room)
      place += eaten
      switch outcome {
      case .more:
        // With room left over, zlib ate all that it was given.
        if output.count - before < room {
          if place == input.count { return place }
          guard eaten > 0 else { throw .malformed }
        }
      case .ended:
        guard output.count <= limit else { throw .tooLong }
        // RFC 7692 §7.2.3.4: after a final block another may follow, in the same window.
        stream.resetKeepingWindow()
        hasEnded = true
        return place
      case .malformed: throw .malformed
      case .outOfMemory: throw .outOfMemory
      }
    }
  }
}

extension [UInt8] {
  /// Grows by doubling, so that appending stays linear, but not beyond the limit (and the byte that shows it passed).
  mutating func makeRoom(for more: Int, limit: Int) {
    let needed = count + more
    guard needed > capacity else { return }
    let doubled = Swift.min(Swift.max(capacity, 64) &* 2, limit &+ 1)
    reserveCapacity(Swift.max(needed, doubled))
  }
}
