/// What is sent, encoded once for all who get it. The bytes are shared, not copied.
public struct Frame: Sendable {
  /// JSON.
  public let text: [UInt8]
  /// The same as a message of a WebSocket.
  public let framed: [UInt8]
  /// The same compressed, where that makes it shorter.
  public let deflated: [UInt8]?

  public init(text: [UInt8], framed: [UInt8], deflated: [UInt8]?) {
    self.text = text
    self.framed = framed
    self.deflated = deflated
  }

  /// As a socket gets it that takes what is compressed.
  public var shortest: [UInt8] { deflated ?? framed }

  /// How much of memory it takes.
  var size: Int { text.count + framed.count + (deflated?.count ?? 0) }
}
