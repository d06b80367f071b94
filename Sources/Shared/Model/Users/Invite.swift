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

  /// Whether the invite can still be used.
  public func isOpen(at now: Int64) -> Bool {
    revokedAt == nil && expiresAt.map { $0 > now } ?? true && maxUses.map { uses < $0 } ?? true
  }
}

extension Invite: Record {
  public static let blank = Invite(id: ID(0), createdBy: ID(0), role: .member, uses: 0, createdAt: 0)

  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<Invite>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("id", &id, \.id)
    try visitor.field("created_by", &createdBy, \.createdBy)
    try visitor.field("role", &role, \.role)
    try visitor.field("forum_id", &forum, \.forum)
    try visitor.field("user_id", &claims, \.claims, column: "claims_user_id")
    try visitor.field("uses", &uses, \.uses)
    try visitor.field("max_uses", &maxUses, \.maxUses)
    try visitor.field("created_at", &createdAt, \.createdAt)
    try visitor.field("expires_at", &expiresAt, \.expiresAt)
    try visitor.field("revoked_at", &revokedAt, \.revokedAt)
  }
}

extension Invite: JSONMembers {
  public func writeMembers(to json: inout JSONWriter) {
    writeFields(to: &json)
    if let usedBy { json.field("used_by", usedBy) }
  }

  public init(_ object: inout JSONObject) throws(JSONError) {
    self = .blank
    try readFields(from: &object)
    usedBy = try object.optional("used_by")
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

public struct InviteDraft: Sendable {
  public var role: Role
  public var forum: ID<Forum>?
  public var claims: UserReference?
  public var maxUses: Int?
  public var expiresAt: Int64?
  public var clientID: String?

  public init(_ object: inout JSONObject) throws(JSONError) {
    role = try object.optionalWord("role") ?? .member
    forum = try object.optional("forum_id")
    claims = try object.optional("user_id")
    maxUses = try object.optional("max_uses")
    let expiresAt: Timestamp? = try object.optional("expires_at")
    self.expiresAt = expiresAt.map { Int64($0.milliseconds) }
    clientID = try object.optional("client_id")
  }
}
