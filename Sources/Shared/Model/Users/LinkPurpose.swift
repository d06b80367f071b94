public import ParleyJSON

/// Purpose of a one-time link, public to its holder.
public struct LinkPurpose: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable {
    /// Creates the owner of the site.
    case setup
    /// Sets a new password.
    case reset
  }

  public var kind: Kind
  /// User of the new password.
  public var user: UserSummary?
  public var expiresAt: Int64?

  public init(kind: Kind, user: UserSummary?, expiresAt: Int64?) {
    self.kind = kind
    self.user = user
    self.expiresAt = expiresAt
  }
}

extension LinkPurpose: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("kind", kind.rawValue)
      json.field("user", user)
      json.field("expires_at", expiresAt.map { Timestamp($0) })
    }
  }
}
