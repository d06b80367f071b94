public import ParleyJSON

/// The number of replies to a message.
public struct ReplyCount: Sendable, Hashable {
  /// The message with the replies.
  public let message: ID<Message>
  /// At most `maxCounted`.
  public let count: Int

  /// A count stops here.
  public static let maxCounted = 100
  /// The messages of one request.
  public static let maxMessages = 100

  /// The number of replies to a message.
  public init(_ message: ID<Message>, count: Int) {
    self.message = message
    self.count = count
  }
}

extension ReplyCount: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("message_id", message)
      json.field("count", count)
    }
  }
}

extension ReplyCount: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.read("message_id"), count: try object.int("count", in: 0...Self.maxCounted))
  }
}
