public import ParleyJSON

/// The JSON of a message for viewers without actions or a vote on it, encoded once for many responses.
public struct EncodedMessage: Sendable {
  private let json: JSONRaw

  /// Encodes a message as JSON.
  public init(_ message: Message) {
    var json = JSONWriter()
    json.value(MessageView(message))
    self.json = JSONRaw(trusted: json.bytes)
  }

  /// The size of the JSON in bytes.
  public var size: Int { json.bytes.count }
}

extension EncodedMessage: JSONWritable {
  public func write(to json: inout JSONWriter) { json.value(self.json) }
}

extension MessageView {
  /// Whether the JSON is that of an `EncodedMessage`: nothing depends on the viewer or on the options of a request.
  public var isShared: Bool { mine.isEmpty && vote.isEmpty && status == nil && html == nil && showsAnnotations }
}
