public import ParleyJSON
public import ParleyModel

/// Progress of removing participants from the conversations of a forum that they can no longer read. The Community
/// layer decides about the permission.
public struct ParticipationCleanup: Sendable {
  public let forum: ID<Forum>
  public let actor: ID<User>
  /// Conversations below this id are done, and in this one all participants up to `user`.
  public var conversation = ID<Conversation>(0)
  public var user = ID<User>(0)

  public init(_ forum: ID<Forum>, by actor: ID<User>) {
    self.forum = forum
    self.actor = actor
  }
}

extension ParticipationCleanup: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    forum = try object.read("forum")
    actor = try object.read("actor")
    conversation = ID(try object.int("conversation"))
    user = ID(try object.int("account"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum", forum)
      json.field("actor", actor)
      json.field("conversation", conversation.number)
      json.field("account", user.number)
    }
  }
}
