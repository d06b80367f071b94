/// A server's message to many, or several that follow each other: framed once and compressed at most once, then handed to
/// each session's `bytes(for:)`. The bytes are shared, not copied, and may cross from worker to worker.
public struct SharedFrame: Sendable {
  public let plain: [UInt8]
  /// Without context takeover, in the largest window. Nil when compressing was not wanted or not worth it.
  public let deflated: [UInt8]?

  static let windowBits = 15

  /// The form that a client can read which agreed to this. With context takeover its window must hold what its own
  /// session's deflater saw, and nothing else.
  public func bytes(for agreed: PerMessageDeflate?) -> [UInt8] {
    guard let deflated, let agreed, !agreed.serverKeepsContext, agreed.serverWindowBits >= Self.windowBits else {
      return plain
    }
    return deflated
  }

  /// What was made elsewhere, by one of these.
  public init(plain: [UInt8], deflated: [UInt8]?) {
    self.plain = plain
    self.deflated = deflated
  }

  /// - Parameter text: UTF-8.
  public init(text: [UInt8], deflatedBy streams: DeflateStreams? = nil) {
    self.init(.text, text, streams)
  }

  public init(binary: [UInt8], deflatedBy streams: DeflateStreams? = nil) {
    self.init(.binary, binary, streams)
  }

  private init(_ opcode: WebSocketFrame.Opcode, _ message: [UInt8], _ streams: DeflateStreams?) {
    plain = WebSocketFrame.encode(opcode, message.span)
    if let streams, message.count >= WebSocketFrame.smallestDeflated,
      let payload = streams.deflateAlone(message.span, windowBits: Self.windowBits)
    {
      deflated = WebSocketFrame.encode(opcode, payload.span, isCompressed: true)
    } else {
      deflated = nil
    }
  }
}
