/// Compresses messages for permessage-deflate (RFC 7692 §7.2.1).
public final class Deflater {
  /// The end of a sync flush, which a sender omits: LEN and NLEN of an empty stored block.
  static let tail: [UInt8] = [0x00, 0x00, 0xff, 0xff]

  private let stream: ZlibStream
  /// Approximate memory in bytes.
  public let footprint: Int

  /// `memoryLevel` is zlib's, 1 to 9. A reset clears the hash table of 2^(memoryLevel + 8) bytes, so a low level makes
  /// short messages cheap.
  public init(level: Int = 6, windowBits: Int = 15, memoryLevel: Int = 8) throws(CompressionFault) {
    stream = try ZlibStream(deflating: .raw, level: level, windowBits: windowBits, memoryLevel: memoryLevel)
    footprint = 6000 + (4 << windowBits) + (512 << memoryLevel)
  }

  /// Compresses the payload of a message. Earlier messages stay in the window until `reset`.
  public func deflate(message: Span<UInt8>) throws(CompressionFault) -> [UInt8] {
    var output: [UInt8] = []
    try stream.deflate(message, .sync, into: &output)
    // RFC 7692 §7.2.3.6: an empty message is one zero byte.
    guard output.count > Self.tail.count else { return [0x00] }
    output.removeLast(Self.tail.count)
    return output
  }

  public func reset() { stream.reset() }
}

extension ZlibStream {
  /// Consumes all input. It fails only if zlib's state is corrupt; the stream can't be used afterwards.
  func deflate(_ input: Span<UInt8>, _ flush: Flush, into output: inout [UInt8]) throws(CompressionFault) {
    var offset = 0
    while true {
      let rest = input.extracting(offset...)
      let room = max(256, min(rest.count / 2, 1 << 20))
      let before = output.count
      let (consumed, outcome) = turn(rest, flush, into: &output, room: room)
      offset += consumed
      switch outcome {
      // zlib.h, deflate: a flush is complete if output space is left.
      case .more: if output.count - before < room, offset == input.count { return }
      case .ended: return
      case .malformed: throw .malformed
      case .outOfMemory: throw .outOfMemory
      }
    }
  }
}
