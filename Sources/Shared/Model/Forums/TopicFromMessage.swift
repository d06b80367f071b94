public import ParleyJSON

/// Topic made of a message and its replies.
public struct TopicFromMessage: Sendable, Hashable {
  /// The id of the new topic.
  public var topic: ID<Conversation>
  /// Copy of the original message in the new topic.
  public var message: ID<Message>

  /// A new topic, and the copy of the original message in it.
  public init(topic: ID<Conversation>, message: ID<Message>) {
    self.topic = topic
    self.message = message
  }

  /// Annotation type on the system message that stays in the original conversation.
  public static let annotation = "app.parley.topic"

  /// The annotation as JSON.
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

  /// Writes the members into an open object of a larger response.
  public func writeFields(to json: inout JSONWriter) {
    json.field("conversation_id", topic)
    json.field("message_id", message)
  }
}
