public import ParleyJSON

/// A way for others to come in, as those see it who may: its maker, and those who keep order.
public struct Invite: Sendable, Hashable {
  public var id: ID<Invite>
  /// What stands in its address: who knows it may come in.
  public var code: String
  public var createdBy: ID<Account>
  /// What who comes by it will be.
  public var role: Role
  /// Where they land, as a member.
  public var forum: ID<Forum>?
  /// The imported person whom it lets in.
  public var claims: ID<Account>?
  public var uses: Int
  public var mostUses: Int?
  public var createdAt: Int64
  public var expiresAt: Int64?
  public var revokedAt: Int64?
  /// Who came by it, the latest first; in the single thing only.
  public var usedBy: [ID<Account>]?

  public init(
    id: ID<Invite>, code: String, createdBy: ID<Account>, role: Role, forum: ID<Forum>?, claims: ID<Account>?,
    uses: Int, mostUses: Int?, createdAt: Int64, expiresAt: Int64?, revokedAt: Int64?, usedBy: [ID<Account>]? = nil
  ) {
    self.id = id
    self.code = code
    self.createdBy = createdBy
    self.role = role
    self.forum = forum
    self.claims = claims
    self.uses = uses
    self.mostUses = mostUses
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.revokedAt = revokedAt
    self.usedBy = usedBy
  }

  /// Whether it still lets somebody in.
  public func isOpen(at now: Int64) -> Bool {
    revokedAt == nil && expiresAt.map { $0 > now } ?? true && mostUses.map { uses < $0 } ?? true
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
      json.field("max_uses", mostUses)
      json.field("created_at", Timestamp(createdAt))
      json.field("expires_at", expiresAt.map { Timestamp($0) })
      json.field("revoked_at", revokedAt.map { Timestamp($0) })
      if let usedBy { json.field("used_by", usedBy) }
    }
  }
}

/// What an invite says to who holds it and is not in yet.
public struct Welcome: Sendable, Hashable {
  public var inviter: Account
  public var role: Role
  public var forum: ID<Forum>?
  public var forumTitle: String?
  /// The imported person whom it lets in.
  public var claims: Account?
  public var expiresAt: Int64?

  public init(
    inviter: Account, role: Role, forum: ID<Forum>?, forumTitle: String?, claims: Account?, expiresAt: Int64?
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
