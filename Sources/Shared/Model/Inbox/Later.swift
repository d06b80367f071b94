public import ParleyJSON

/// A conversation that a user has put off.
public struct Later: Sendable, Hashable {
  /// The id of the conversation.
  public var conversation: ID<Conversation>
  /// Milliseconds since 1970; nil after the end.
  public var until: Int64?

  /// The longest time, in milliseconds: one year.
  public static let maxDuration: Int64 = 366 * 24 * 3_600 * 1_000

  /// A conversation put off until a time, in milliseconds since 1970.
  public init(_ conversation: ID<Conversation>, until: Int64?) {
    self.conversation = conversation
    self.until = until
  }
}

extension Later: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("conversation_id", conversation)
      json.field("until", until.map { Timestamp($0) })
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.read("conversation_id"), until: try object.time("until"))
  }
}
