/// An outgoing message, encoded once for all recipients. The bytes are shared, not copied; a class, so that each recipient
/// retains one object instead of three buffers.
public final class Frame: Sendable {
  /// JSON.
  public let text: [UInt8]
  /// The text as an uncompressed WebSocket message.
  public let framed: [UInt8]
  /// The text as a compressed WebSocket message. Nil if compression does not make it shorter, or no subscriber had it.
  public let deflated: [UInt8]?

  public init(text: [UInt8], framed: [UInt8], deflated: [UInt8]?) {
    self.text = text
    self.framed = framed
    self.deflated = deflated
  }

  /// The frame for sockets that negotiated permessage-deflate.
  public var shortest: [UInt8] { deflated ?? framed }

  /// Memory use in bytes.
  var size: Int { text.count + framed.count + (deflated?.count ?? 0) }
}
