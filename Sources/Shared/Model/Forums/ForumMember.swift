public import ParleyJSON

/// Member of a forum.
public struct ForumMember: Sendable, Hashable {
  /// The public members of the user.
  public var user: UserSummary
  /// The role in the forum, independent of the role on the site.
  public var role: ForumRole
  /// The time of joining, in milliseconds since 1970.
  public var since: Int64

  /// A member of a forum, with the role there.
  public init(_ user: UserSummary, role: ForumRole, since: Int64) {
    self.user = user
    self.role = role
    self.since = since
  }
}

extension ForumMember: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user", user)
      json.field("role", role.rawValue)
      json.field("since", Timestamp(since))
    }
  }
}

extension ForumMember: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let since: Timestamp = try object.read("since")
    self.init(try object.read("user"), role: try object.word("role"), since: Int64(since.milliseconds))
  }
}
