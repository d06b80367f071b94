public import ParleyJSON

/// Invite, visible to its creator and to moderators. Its code is a secret of the answer that created it.
public struct Invite: Sendable, Hashable {
  /// The id of the invite, which is not its code.
  public var id: ID<Invite>
  /// The user that created the invite.
  public var createdBy: ID<User>
  /// Role of new users.
  public var role: Role
  /// Forum that new users join.
  public var forum: ID<Forum>?
  /// Imported user that the invite claims.
  public var claims: ID<User>?
  /// The number of users that have redeemed the invite.
  public var uses: Int
  /// The maximum of `uses`, from 1; nil without a limit.
  public var maxUses: Int?
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The expiry in milliseconds since 1970; nil for an invite without end.
  public var expiresAt: Int64?
  /// The revocation in milliseconds since 1970; nil for an invite that was not revoked.
  public var revokedAt: Int64?
  /// Users that registered with it, newest first; in the single invite only.
  public var usedBy: [ID<User>]?

  /// Whether the invite can still be used.
  public func isOpen(at now: Int64) -> Bool {
    revokedAt == nil && expiresAt.map { $0 > now } ?? true && maxUses.map { uses < $0 } ?? true
  }
}

extension Invite: Record {
  /// An invite with default values, for visitors of names and types.
  public static let blank = Invite(id: ID(0), createdBy: ID(0), role: .member, uses: 0, createdAt: 0)

  /// Visits all fields of the invite but `usedBy`, to read, write and list its JSON members and columns.
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
  /// Encodes the members of the invite, without its code.
  public func writeMembers(to json: inout JSONWriter) {
    writeFields(to: &json)
    if let usedBy { json.field("used_by", usedBy) }
  }

  /// Decodes an invite from the members of its JSON object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self = .blank
    try readFields(from: &object)
    usedBy = try object.optional("used_by")
  }
}

/// Public information of an invite for the holder of its code.
public struct Welcome: Sendable, Hashable {
  /// The creator of the invite.
  public var inviter: UserSummary
  /// The role of the new user.
  public var role: Role
  /// The forum that the new user joins, besides the default forums unless it is a guest; nil for none.
  public var forum: ID<Forum>?
  /// The title of `forum`; nil without one.
  public var forumTitle: String?

  /// The facts of an invite that its code reveals.
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
  /// The reason in the audit log and of the bans, at most 1,000 characters; nil for none.
  public var reason: String?

  /// A revocation without bans and without a reason.
  public init() {}

  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    bans = try object.optional("ban") ?? false
    reason = try object.optional("reason")
  }
}

/// Request to create an invite.
public struct InviteDraft: Sendable {
  /// The role of new users: `member` if absent in the request.
  public var role: Role
  /// The forum that new users join, besides the default forums unless they are guests; nil for none.
  public var forum: ID<Forum>?
  /// The imported user that may claim the invite, which then has one use; nil for new users.
  public var claims: UserReference?
  /// The maximum of uses, from 1 to 10,000; nil without a limit.
  public var maxUses: Int?
  /// The expiry in milliseconds since 1970, in the future; nil for an invite without end.
  public var expiresAt: Int64?
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second invite.
  public var clientID: String?

  /// Decodes the body of the request.
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
