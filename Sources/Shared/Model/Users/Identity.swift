public import ParleyJSON

/// An account at an OpenID provider that signs its user in.
public struct Identity: Sendable, Hashable {
  /// Maximum number of accounts of a user.
  public static let maxCount = 10

  /// The id of the linked account.
  public var id: ID<Identity>
  /// The provider in the settings of the server; nil for one that the operator has removed.
  public var issuer: String?
  /// The name of the provider, or else its URL.
  public var issuerName: String
  /// The user there in words.
  public var name: String
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The last use of the account, in milliseconds since 1970; nil before the first one.
  public var lastUsedAt: Int64?

  /// A linked account, as the server lists it.
  public init(
    id: ID<Identity>, issuer: String?, issuerName: String, name: String, createdAt: Int64, lastUsedAt: Int64? = nil
  ) {
    self.id = id
    self.issuer = issuer
    self.issuerName = issuerName
    self.name = name
    self.createdAt = createdAt
    self.lastUsedAt = lastUsedAt
  }
}

extension Identity: JSONMembers {
  /// Decodes a linked account from the members of its JSON object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    let lastUsedAt: Timestamp? = try object.optional("last_used_at")
    self.init(
      id: try object.read("id"), issuer: try object.optional("issuer"), issuerName: try object.string("issuer_name"),
      name: try object.string("name"), createdAt: Int64(createdAt.milliseconds),
      lastUsedAt: lastUsedAt.map { Int64($0.milliseconds) })
  }

  /// Encodes the members of a linked account.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("issuer", issuer)
    json.field("issuer_name", issuerName)
    json.field("name", name)
    json.field("created_at", Timestamp(createdAt))
    json.field("last_used_at", lastUsedAt.map { Timestamp($0) })
  }
}

/// The page of an OpenID provider on which a user continues.
public struct IssuerPage: Sendable, Hashable {
  /// The address of the page, for the browser in which the user is signed in here.
  public var url: String

  /// A page at the address that the provider expects.
  public init(url: String) { self.url = url }
}

extension IssuerPage: JSONMembers {
  /// Decodes the member `url`.
  public init(_ object: inout JSONObject) throws(JSONError) { url = try object.string("url") }

  /// Encodes the member `url`.
  public func writeMembers(to json: inout JSONWriter) { json.field("url", url) }
}
