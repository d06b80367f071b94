public import ParleyJSON

/// A topic that was made of a message and what answers it.
public struct TopicFromMessage: Sendable, Hashable {
  public var topic: ID<Conversation>
  /// The copy of the message that it was made of.
  public var message: ID<Message>

  public init(topic: ID<Conversation>, message: ID<Message>) {
    self.topic = topic
    self.message = message
  }

  /// Hangs on the system message that stays behind.
  public static let annotation = "app.parley.topic"

  /// As that annotation's JSON.
  public var annotations: String {
    var json = JSONWriter()
    json.array { json in
      json.object { json in
        json.field("type", Self.annotation)
        json.field("value", self)
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension TopicFromMessage: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeFields(to: &json) }
  }

  /// For an answer that says more beside them.
  public func writeFields(to json: inout JSONWriter) {
    json.field("conversation_id", topic)
    json.field("message_id", message)
  }
}
