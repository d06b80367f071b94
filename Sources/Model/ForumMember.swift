public import JSON

/// Somebody who belongs to a forum.
public struct ForumMember: Sendable, Hashable {
  public let account: ID<Account>
  public let role: ForumRole
  public let since: Int64

  public init(account: ID<Account>, role: ForumRole, since: Int64) {
    self.account = account
    self.role = role
    self.since = since
  }
}

extension ForumMember: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user_id", account)
      json.field("role", role.rawValue)
      json.field("since", Timestamp(since))
    }
  }
}
