public import ParleyJSON

/// Credential, visible to its user. The secret is excluded: it is returned once, on creation.
public struct Session: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable {
    /// Signed-in device.
    case session
    /// Created by a user for a program.
    case token
  }

  public var id: ID<Session>
  public var kind: Kind
  /// Device name, or purpose of the token.
  public var name: String
  public var scope: Scope
  public var createdAt: Int64
  public var lastUsedAt: Int64?
  public var expiresAt: Int64?
  /// The network of the last use, without the end of the address.
  public var address: String?
  /// The credential of this request.
  public var isCurrent: Bool
  public var limits: TokenLimits

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

  public static let rates = 1...100_000

  public init(forums: Set<ID<Forum>>? = nil, rate: Int? = nil) {
    self.forums = forums
    self.rate = rate
  }

  public var areNone: Bool { forums == nil && rate == nil }

  public init(_ object: inout JSONObject) throws(JSONError) {
    let forums: [ID<Forum>]? = try object.optional("forums")
    self.init(forums: forums.map { Set($0) }, rate: try object.optional("rate_limit"))
  }
}

public struct TokenDraft: Sendable {
  public var name: String
  public var scope: Scope
  public var limits = TokenLimits()
  public var expiresAt: Int64?
  /// Confirms a token of scope `admin`.
  public var password: String?
  public var clientID: String?

  public init(name: String, scope: Scope) {
    self.name = name
    self.scope = scope
  }

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
