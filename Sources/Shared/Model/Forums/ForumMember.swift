public import ParleyJSON

/// Somebody who belongs to a forum.
public struct ForumMember: Sendable, Hashable {
  public var account: Account
  public var role: ForumRole
  public var since: Int64

  public init(_ account: Account, role: ForumRole, since: Int64) {
    self.account = account
    self.role = role
    self.since = since
  }
}

extension ForumMember: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user", account)
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
