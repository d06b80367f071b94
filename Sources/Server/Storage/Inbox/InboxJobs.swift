public import ParleyJSON
import ParleyModel

/// A message that is taken out of inboxes.
public struct InboxRemoval: Sendable {
  let message: ID<Message>
  let actor: ID<Account>
}

extension InboxRemoval: JSONReadable, JSONWritable {
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

/// How far the members of a forum have been rung whom a message has called.
public struct RoomRinging: Sendable {
  let message: ID<Message>
  let conversation: ID<Conversation>
  let forum: ID<Forum>
  let author: ID<Account>
  /// The last who was.
  var last: ID<Account>?
}

extension RoomRinging: JSONReadable, JSONWritable {
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
