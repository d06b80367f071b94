public import ParleyJSON

/// A way for others to come in, as those see it who may: its maker, and those who keep order.
public struct Invite: Sendable, Hashable {
  public var id: ID<Invite>
  /// What stands in its address: who knows it may come in.
  public var code: String
  public var createdBy: ID<User>
  /// What who comes by it will be.
  public var role: Role
  /// Where they land, as a member.
  public var forum: ID<Forum>?
  /// The imported user whom it lets in.
  public var claims: ID<User>?
  public var uses: Int
  public var maxUses: Int?
  public var createdAt: Int64
  public var expiresAt: Int64?
  public var revokedAt: Int64?
  /// Who came by it, the latest first; in the single thing only.
  public var usedBy: [ID<User>]?

  public init(
    id: ID<Invite>, code: String, createdBy: ID<User>, role: Role, forum: ID<Forum>?, claims: ID<User>?,
    uses: Int, maxUses: Int?, createdAt: Int64, expiresAt: Int64?, revokedAt: Int64?, usedBy: [ID<User>]? = nil
  ) {
    self.id = id
    self.code = code
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

  /// Whether it still lets somebody in.
  public func isOpen(at now: Int64) -> Bool {
    revokedAt == nil && expiresAt.map { $0 > now } ?? true && maxUses.map { uses < $0 } ?? true
  }
}

extension Invite: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("code", code)
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
}

/// What an invite says to who holds it and is not in yet.
public struct Welcome: Sendable, Hashable {
  public var inviter: UserSummary
  public var role: Role
  public var forum: ID<Forum>?
  public var forumTitle: String?
  /// The imported user whom it lets in.
  public var claims: UserSummary?
  public var expiresAt: Int64?

  public init(
    inviter: UserSummary, role: Role, forum: ID<Forum>?, forumTitle: String?, claims: UserSummary?, expiresAt: Int64?
  ) {
    self.inviter = inviter
    self.role = role
    self.forum = forum
    self.forumTitle = forumTitle
    self.claims = claims
    self.expiresAt = expiresAt
  }
}

extension Welcome: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("inviter", inviter)
      json.field("role", role.rawValue)
      json.field("forum_id", forum)
      json.field("forum_title", forumTitle)
      json.field("user", claims)
      json.field("expires_at", expiresAt.map { Timestamp($0) })
    }
  }
}

/// What else is said when an invite is closed.
public struct InviteClosing: Sendable {
  /// Whether those who came by it are banned, too.
  public var bans = false
  public var reason: String?

  public init() {}

  public init(_ object: inout JSONObject) throws(JSONError) {
    bans = try object.optional("ban") ?? false
    reason = try object.optional("reason")
  }
}
