public import ParleyJSON

/// Credential, visible to its user. The secret is excluded: it is returned once, on creation.
public struct Session: Sendable, Hashable {
  /// Kinds of credentials.
  public enum Kind: String, Sendable, Hashable {
    /// Signed-in device.
    case session
    /// Created by a user for a program.
    case token
  }

  /// The id of the credential, to end or revoke it.
  public var id: ID<Session>
  /// Whether the credential is a device's or a program's.
  public var kind: Kind
  /// Device name, or purpose of the token.
  public var name: String
  /// The operations that the credential permits; `admin` for a session.
  public var scope: Scope
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The last use in milliseconds since 1970, to five minutes; nil before the first one.
  public var lastUsedAt: Int64?
  /// The expiry in milliseconds since 1970, which each use of a session postpones; nil for a token without end.
  public var expiresAt: Int64?
  /// The network of the last use, without the end of the address.
  public var address: String?
  /// The credential of this request.
  public var isCurrent: Bool
  /// Limits of a token besides its scope; none for a session.
  public var limits: TokenLimits

  /// A session or a token, as the server lists it.
  public init(
    id: ID<Session>, kind: Kind, name: String, scope: Scope, createdAt: Int64, lastUsedAt: Int64?, expiresAt: Int64?,
    address: String? = nil, isCurrent: Bool, limits: TokenLimits = TokenLimits()
  ) {
    self.id = id
    self.kind = kind
    self.name = name
    self.scope = scope
    self.createdAt = createdAt
    self.lastUsedAt = lastUsedAt
    self.expiresAt = expiresAt
    self.address = address
    self.isCurrent = isCurrent
    self.limits = limits
  }
}

extension Session: JSONWritable {
  public func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }

  /// Encodes the members of a session or token, without its secret.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
    json.field("scope", scope.rawValue)
    json.field("created_at", Timestamp(createdAt))
    json.field("last_used_at", lastUsedAt.map { Timestamp($0) })
    json.field("expires_at", expiresAt.map { Timestamp($0) })
    json.field("address", address)
    json.field("current", isCurrent)
    json.field("forums", limits.forums?.sorted())
    json.field("rate_limit", limits.rate)
  }
}

/// The limits of a token, besides its scope.
public struct TokenLimits: Sendable, Hashable {
  /// The forums that it reaches; nil for all that its user reads, and for conversations outside of forums.
  public var forums: Set<ID<Forum>>?
  /// Messages, and apart from them other changes, per minute; nil for the limit of its user.
  public var rate: Int?

  /// The permitted values of `rate`.
  public static let rates = 1...100_000

  /// Limits of a token; nil for no limit of this kind.
  public init(forums: Set<ID<Forum>>? = nil, rate: Int? = nil) {
    self.forums = forums
    self.rate = rate
  }

  /// Whether the token has neither of the limits.
  public var areNone: Bool { forums == nil && rate == nil }

  /// Decodes the members `forums` and `rate_limit`.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let forums: [ID<Forum>]? = try object.optional("forums")
    self.init(forums: forums.map { Set($0) }, rate: try object.optional("rate_limit"))
  }
}

/// Request to create a token of the caller, or of a bot.
public struct TokenDraft: Sendable {
  /// The purpose of the token, from 1 to 100 characters.
  public var name: String
  /// The operations that the token permits, never more than its user may do.
  public var scope: Scope
  /// Limits besides the scope; by default none. A token limited to forums can't have the scope `admin`.
  public var limits = TokenLimits()
  /// The expiry in milliseconds since 1970, in the future; nil for a token without end.
  public var expiresAt: Int64?
  /// Confirms a token of scope `admin`.
  public var password: String?
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second token.
  public var clientID: String?

  /// A token without expiry and limits.
  public init(name: String, scope: Scope) {
    self.name = name
    self.scope = scope
  }

  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.string("name")
    scope = try object.word("scope")
    password = try object.optional("password")
    let expiresAt: Timestamp? = try object.optional("expires_at")
    self.expiresAt = expiresAt.map { Int64($0.milliseconds) }
    limits = try TokenLimits(&object)
    clientID = try object.optional("client_id")
  }
}
