/// Decompresses raw DEFLATE or gzip of any length, in pieces of a bounded size.
public final class Decompressor {
  public enum Format: Sendable {
    /// RFC 1951, as in zip archives.
    case raw
    /// RFC 1952. Members may follow each other.
    case gzip
  }

  private let stream: ZlibStream
  private let format: Format
  /// Whether the input so far is complete.
  public private(set) var isComplete = false

  public init(_ format: Format) throws(CompressionFault) {
    self.format = format
    stream = try ZlibStream(inflating: format == .raw ? .raw : .gzip, windowBits: 15)
  }

  /// Appends at most `room` bytes. Returns the number of consumed bytes. Without output and with all input consumed it needs more.
  public func decompress(
    _ input: Span<UInt8>, into output: inout [UInt8], room: Int
  ) throws(CompressionFault) -> Int {
    guard input.count > 0 || !isComplete else { return 0 }
    if isComplete {
      // Bytes after raw DEFLATE belong to no stream; after gzip they are another member.
      guard format == .gzip else { throw .malformed }
      stream.reset()
      isComplete = false
    }
    let (consumed, outcome) = stream.turn(input, .none, into: &output, room: room)
    switch outcome {
    case .more: break
    case .ended: isComplete = true
    case .malformed: throw .malformed
    case .outOfMemory: throw .outOfMemory
    }
    return consumed
  }
}
