public import ParleyJSON
public import ParleyModel

/// Progress of informing the members of a private forum, and the members of groups with access, of a change of the forum.
public struct ForumNotice: Sendable {
  public let forum: ID<Forum>
  public let actor: ID<User>
  /// Whether the members of the forum are done. Those of the groups follow.
  public var hasMembers = false
  /// The groups that are not done.
  public var groups: [ID<UserGroup>]
  /// The last informed member: users are informed in the order of ids.
  public var user = ID<User>(0)

  public init(of forum: ID<Forum>, to groups: [ID<UserGroup>], by actor: ID<User>) {
    self.forum = forum
    self.groups = groups
    self.actor = actor
  }
}

extension ForumNotice: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(of: try object.read("forum"), to: try object.read("groups"), by: try object.read("actor"))
    hasMembers = try object.bool("has_members")
    user = ID(try object.int("user"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum", forum)
      json.field("groups", groups)
      json.field("has_members", hasMembers)
      json.field("user", user.number)
      json.field("actor", actor)
    }
  }
}
