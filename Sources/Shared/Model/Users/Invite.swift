public import ParleyJSON

/// Invite, visible to its creator and to moderators. Its code is a secret of the answer that created it.
public struct Invite: Sendable, Hashable {
  public var id: ID<Invite>
  public var createdBy: ID<User>
  /// Role of new users.
  public var role: Role
  /// Forum that new users join.
  public var forum: ID<Forum>?
  /// Imported user that the invite claims.
  public var claims: ID<User>?
  public var uses: Int
  public var maxUses: Int?
  public var createdAt: Int64
  public var expiresAt: Int64?
  public var revokedAt: Int64?
  /// Users that registered with it, newest first; in the single invite only.
  public var usedBy: [ID<User>]?

  public init(
    id: ID<Invite>, createdBy: ID<User>, role: Role, forum: ID<Forum>?, claims: ID<User>?, uses: Int,
    maxUses: Int?, createdAt: Int64, expiresAt: Int64?, revokedAt: Int64?, usedBy: [ID<User>]? = nil
  ) {
    self.id = id
    self.createdBy = createdBy
    self.role = role
    self.forum = forum
    self.claims = claims
    self.uses = uses
    self.maxUses = maxUses
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.revokedAt = revokedAt
    self.usedBy = usedBy
  }

  /// Whether the invite can still be used.
  public func isOpen(at now: Int64) -> Bool {
    revokedAt == nil && expiresAt.map { $0 > now } ?? true && maxUses.map { uses < $0 } ?? true
  }
}

extension Invite: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeMembers(to: &json) }
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("created_by", createdBy)
    json.field("role", role.rawValue)
    json.field("forum_id", forum)
    json.field("user_id", claims)
    json.field("uses", uses)
    json.field("max_uses", maxUses)
    json.field("created_at", Timestamp(createdAt))
    json.field("expires_at", expiresAt.map { Timestamp($0) })
    json.field("revoked_at", revokedAt.map { Timestamp($0) })
    if let usedBy { json.field("used_by", usedBy) }
  }
}

/// Public information of an invite for the holder of its code.
public struct Welcome: Sendable, Hashable {
  public var inviter: UserSummary
  public var role: Role
  public var forum: ID<Forum>?
  public var forumTitle: String?

  public init(inviter: UserSummary, role: Role, forum: ID<Forum>?, forumTitle: String?) {
    self.inviter = inviter
    self.role = role
    self.forum = forum
    self.forumTitle = forumTitle
  }
}

extension Welcome: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("inviter", inviter)
      json.field("role", role.rawValue)
      json.field("forum_id", forum)
      json.field("forum_title", forumTitle)
    }
  }
}

/// Options for revoking an invite.
public struct InviteClosing: Sendable {
  /// Bans the users that registered with it.
  public var bans = false
  public var reason: String?

  public init() {}

  public init(_ object: inout JSONObject) throws(JSONError) {
    bans = try object.optional("ban") ?? false
    reason = try object.optional("reason")
  }
}
