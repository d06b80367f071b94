/// A broadcast message or batch of messages: framed once, compressed at most once, and sent to each session with
/// `bytes(for:)`. The bytes are shared, not copied, and may be passed between workers.
public struct SharedFrame: Sendable {
  public let plain: [UInt8]
  /// Compressed without context takeover, with the largest window. Nil if compression was disabled or did not pay off.
  public let deflated: [UInt8]?

  static let windowBits = 15

  /// The variant for a client with these parameters. With context takeover the client's window must contain only the
  /// output of its own session's deflater, so it gets the uncompressed variant.
  public func bytes(for agreed: PerMessageDeflate?) -> [UInt8] {
    guard let deflated, let agreed, !agreed.serverKeepsContext, agreed.serverWindowBits >= Self.windowBits else {
      return plain
    }
    return deflated
  }

  /// Concatenates frames that were created elsewhere.
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
