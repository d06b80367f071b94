/// gzip (RFC 1952), the content coding of responses (RFC 9110 §8.4.1.3).
public enum Gzip {
  public static func compress(_ bytes: [UInt8], level: Int = 6) throws(CompressionFault) -> [UInt8] {
    let encoder = try Encoder(level: level)
    var output: [UInt8] = []
    try encoder.stream.deflate(bytes.span, .finish, into: &output)
    return output
  }

  /// A streaming encoder. Each call returns the available output, which may be empty.
  public final class Encoder {
    fileprivate let stream: ZlibStream

    public init(level: Int = 6) throws(CompressionFault) {
      stream = try ZlibStream(deflating: .gzip, level: level, windowBits: 15, memoryLevel: 8)
    }

    public func append(_ bytes: [UInt8]) throws(CompressionFault) -> [UInt8] { try encode(bytes, .none) }

    /// Returns all output so far, decodable by the peer. Each flush costs a few bytes.
    public func flush() throws(CompressionFault) -> [UInt8] { try encode([], .sync) }

    /// Ends the stream. The encoder can't be used afterwards.
    public func finish() throws(CompressionFault) -> [UInt8] { try encode([], .finish) }

    private func encode(_ bytes: [UInt8], _ flush: ZlibStream.Flush) throws(CompressionFault) -> [UInt8] {
      var output: [UInt8] = []
      try stream.deflate(bytes.span, flush, into: &output)
      return output
    }
  }
}
