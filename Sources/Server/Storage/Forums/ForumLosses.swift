public import ParleyJSON
public import ParleyModel

/// How far a forum's conversations have been gone through for those who may read them no longer. Who that is is said
/// above.
public struct ForumLosses: Sendable {
  public let forum: ID<Forum>
  public let actor: ID<Account>
  /// All conversations before this one are done, and in it all people up to `account`.
  public var conversation = ID<Conversation>(0)
  public var account = ID<Account>(0)

  public init(_ forum: ID<Forum>, by actor: ID<Account>) {
    self.forum = forum
    self.actor = actor
  }
}

extension ForumLosses: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    forum = try object.read("forum")
    actor = try object.read("actor")
    conversation = ID(try object.int("conversation"))
    account = ID(try object.int("account"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum", forum)
      json.field("actor", actor)
      json.field("conversation", conversation.number)
      json.field("account", account.number)
    }
  }
}
