public import ParleyJSON

/// Purpose of a link, public to its holder.
public struct LinkPurpose: Sendable, Hashable {
  /// Kinds of links.
  public enum Kind: String, Sendable, Hashable {
    /// Creates the owner of the site.
    case setup
    /// Sets a new password.
    case reset
    /// Signs up a new user.
    case invite
  }

  /// The operation that the link permits.
  public var kind: Kind
  /// User of the new password, or imported user that the invite claims.
  public var user: UserSummary?
  /// The expiry in milliseconds since 1970; nil for a setup link and for an invite without end.
  public var expiresAt: Int64?
  /// Nil for other kinds.
  public var invite: Welcome?

  /// The facts that the server shows to the holder of a link before its use.
  public init(kind: Kind, user: UserSummary?, expiresAt: Int64?, invite: Welcome? = nil) {
    self.kind = kind
    self.user = user
    self.expiresAt = expiresAt
    self.invite = invite
  }
}

extension LinkPurpose: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("kind", kind.rawValue)
      json.field("user", user)
      json.field("expires_at", expiresAt.map { Timestamp($0) })
      json.field("invite", invite)
    }
  }
}
