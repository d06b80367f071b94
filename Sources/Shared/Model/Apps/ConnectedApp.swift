public import ParleyJSON

/// An app that the user has allowed, with all that it may do.
public struct ConnectedApp: Sendable, Hashable {
  /// The id of the app.
  public var id: ID<App>
  /// The name of the app.
  public var name: String
  /// The address of the app's site; nil without one.
  public var website: String?
  /// Whether an owner of the site vouches for the app.
  public var isVerified: Bool
  /// The highest scope of its grants.
  public var scope: Scope
  /// Nil for all forums that the user reads.
  public var forums: [ID<Forum>]?
  /// The number of grants: one for each device or installation.
  public var grantCount: Int
  /// The first grant, in milliseconds since 1970.
  public var connectedAt: Int64
  /// The last use of a grant, in milliseconds since 1970.
  public var lastUsedAt: Int64

  /// An app with the sum of its grants from one user.
  public init(
    id: ID<App>, name: String, website: String?, isVerified: Bool, scope: Scope, forums: [ID<Forum>]?, grantCount: Int,
    connectedAt: Int64, lastUsedAt: Int64
  ) {
    self.id = id
    self.name = name
    self.website = website
    self.isVerified = isVerified
    self.scope = scope
    self.forums = forums
    self.grantCount = grantCount
    self.connectedAt = connectedAt
    self.lastUsedAt = lastUsedAt
  }
}

extension ConnectedApp: JSONMembers {
  /// Decodes a connected app; unknown members are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let connectedAt: Timestamp = try object.read("connected_at")
    let lastUsedAt: Timestamp = try object.read("last_used_at")
    self.init(
      id: try object.read("id"), name: try object.string("name"), website: try object.optional("website"),
      isVerified: try object.bool("verified"), scope: try object.word("scope"), forums: try object.optional("forums"),
      grantCount: try object.int("grant_count"), connectedAt: Int64(connectedAt.milliseconds),
      lastUsedAt: Int64(lastUsedAt.milliseconds))
  }

  /// Writes the members into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
    json.field("website", website)
    json.field("verified", isVerified)
    json.field("scope", scope.rawValue)
    json.field("forums", forums)
    json.field("grant_count", grantCount)
    json.field("connected_at", Timestamp(connectedAt))
    json.field("last_used_at", Timestamp(lastUsedAt))
  }
}
