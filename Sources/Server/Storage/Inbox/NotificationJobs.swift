public import ParleyJSON
import ParleyModel

/// Job: removes the notifications for a message.
public struct NotificationRemoval: Sendable {
  let message: ID<Message>
  let actor: ID<User>
}

extension NotificationRemoval: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    message = try object.read("message")
    actor = try object.read("actor")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("message", message)
      json.field("actor", actor)
    }
  }
}

/// Progress of the notification of a forum's members of an `@room` mention.
public struct RoomMentionProgress: Sendable {
  let message: ID<Message>
  let conversation: ID<Conversation>
  let forum: ID<Forum>
  let author: ID<User>
  /// The last member notified.
  var last: ID<User>?
}

extension RoomMentionProgress: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    message = try object.read("message")
    conversation = try object.read("conversation")
    forum = try object.read("forum")
    author = try object.read("author")
    last = try object.optional("last")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("message", message)
      json.field("conversation", conversation)
      json.field("forum", forum)
      json.field("author", author)
      json.field("last", last)
    }
  }
}
