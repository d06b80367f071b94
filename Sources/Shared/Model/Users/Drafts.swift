// Requests to create objects.

public import ParleyJSON

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

public struct TokenDraft: Sendable {
  public var name: String
  public var scope: Scope
  public var expiresAt: Int64?
  /// Confirms a token of scope `admin`.
  public var password: String?
  public var clientID: String?

  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.string("name")
    scope = try object.word("scope")
    password = try object.optional("password")
    let expiresAt: Timestamp? = try object.optional("expires_at")
    self.expiresAt = expiresAt.map { Int64($0.milliseconds) }
    clientID = try object.optional("client_id")
  }
}
