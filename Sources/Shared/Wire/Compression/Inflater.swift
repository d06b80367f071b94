/// Decompresses messages of permessage-deflate (RFC 7692 §7.2.2) up to a limit.
public final class Inflater {
  private let stream: ZlibStream
  /// A final block was the last input.
  private var hasEnded = false
  /// Approximate memory in bytes: zlib's state and, after the first message, its window.
  public let footprint: Int

  public init(windowBits: Int = 15) throws(CompressionFault) {
    stream = try ZlibStream(inflating: .raw, windowBits: windowBits)
    footprint = 7200 + (1 << windowBits)
  }

  /// Appends the decompressed input. Throws `tooLong` if `output` would exceed `limit`.
  public func inflate(_ input: Span<UInt8>, into output: inout [UInt8], limit: Int) throws(CompressionFault) {
    var offset = 0
    while offset < input.count {
      hasEnded = false
      offset += try turn(input.extracting(offset...), into: &output, limit: limit)
    }
  }

  /// Ends a message: appends the bytes that the sender removed (RFC 7692 §7.2.1).
  public func finishMessage(into output: inout [UInt8], limit: Int) throws(CompressionFault) {
    // RFC 7692 §7.2.3.4: a sender may end with a final block. Omitting the empty block after it is accepted, too.
    if hasEnded { return }
    let tail = Deflater.tail
    let end = output.count
    try inflate(tail.span, into: &output, limit: limit)
    // A truncated block would consume the tail as its own data.
    guard output.count == end, stream.isBetweenBlocks else { throw .malformed }
  }

  /// Clears the window.
  public func reset() {
    stream.reset()
    hasEnded = false
  }

  /// Starts a message that may refer to `window`, the end of earlier ones.
  func restart(after window: [UInt8]) {
    reset()
    stream.setWindow(window)
  }

  /// Processes input until its end or the end of the stream. Returns the number of consumed bytes.
  private func turn(
    _ input: Span<UInt8>, into output: inout [UInt8], limit: Int
  ) throws(CompressionFault) -> Int {
    var offset = 0
    while true {
      guard output.count <= limit else { throw .tooLong }
      let rest = input.extracting(offset...)
      // One byte above the limit detects excess output.
      let room = min(max(256, rest.count &* 4), 16384, limit - output.count) + 1
      output.makeRoom(for: room, limit: limit)
      let before = output.count
      let (consumed, outcome) = stream.turn(rest, .sync, into: &output, room: room)
      offset += consumed
      switch outcome {
      case .more:
        // With output space left, zlib has consumed all input.
        if output.count - before < room {
          if offset == input.count { return offset }
          guard consumed > 0 else { throw .malformed }
        }
      case .ended:
        guard output.count <= limit else { throw .tooLong }
        // RFC 7692 §7.2.3.4: another block may follow a final block, with the same window.
        stream.resetKeepingWindow()
        hasEnded = true
        return offset
      case .malformed: throw .malformed
      case .outOfMemory: throw .outOfMemory
      }
    }
  }
}

extension [UInt8] {
  /// Doubles the capacity, so that appending is linear, up to one byte above the limit.
  mutating func makeRoom(for more: Int, limit: Int) {
    let needed = count + more
    guard needed > capacity else { return }
    let doubled = Swift.min(Swift.max(capacity, 64) &* 2, limit &+ 1)
    reserveCapacity(Swift.max(needed, doubled))
  }
}
