public import ParleyJSON

/// Sanction of a user by moderators.
public struct Sanction: Sendable, Hashable {
  /// Kind of a sanction.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Can't sign in.
    case ban
    /// Reads, but can't write.
    case silence
    /// A text of the moderators, without another effect.
    case warning
  }

  /// The id of the sanction.
  public var id: ID<Sanction>
  /// The sanctioned user.
  public var user: ID<User>
  /// The kind of the sanction: a ban, a silence or a warning.
  public var kind: Kind
  /// Scope of a silence; nil for the whole site.
  public var forum: ID<Forum>?
  /// Time of expiry.
  public var until: Int64?
  /// The moderator's reason, which the user sees; nil without one.
  public var reason: String?
  /// The moderator that set the sanction.
  public var createdBy: ID<User>
  /// The time of the sanction, in milliseconds since 1970.
  public var createdAt: Int64
  /// Time of an early end.
  public var liftedAt: Int64?

  /// A sanction of a user; all times are in milliseconds since 1970.
  public init(
    id: ID<Sanction>, user: ID<User>, kind: Kind, forum: ID<Forum>?, until: Int64?, reason: String?,
    createdBy: ID<User>, createdAt: Int64, liftedAt: Int64?
  ) {
    self.id = id
    self.user = user
    self.kind = kind
    self.forum = forum
    self.until = until
    self.reason = reason
    self.createdBy = createdBy
    self.createdAt = createdAt
    self.liftedAt = liftedAt
  }
}

extension Sanction: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("user_id", user)
      json.field("kind", kind.rawValue)
      json.field("forum_id", forum)
      json.field("until", until.map { Timestamp($0) })
      json.field("reason", reason)
      json.field("created_by", createdBy)
      json.field("created_at", Timestamp(createdAt))
      json.field("lifted_at", liftedAt.map { Timestamp($0) })
    }
  }
}

/// A silence as its user sees it. One whose `until` is past has ended.
public struct Silence: Sendable, Hashable {
  /// Nil for the whole site.
  public let forum: ID<Forum>?
  /// The end of the silence, in milliseconds since 1970; nil without an end.
  public let until: Int64?
  /// The moderator's reason; nil without one.
  public let reason: String?

  /// A silence of a user; `until` is in milliseconds since 1970, nil without an end.
  public init(forum: ID<Forum>?, until: Int64?, reason: String?) {
    self.forum = forum
    self.until = until
    self.reason = reason
  }
}

extension Silence: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum_id", forum)
      json.field("until", until.map { Timestamp($0) })
      json.field("reason", reason)
    }
  }
}

extension Silence: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      forum: try object.optional("forum_id"), until: try object.time("until"), reason: try object.optional("reason"))
  }
}

/// Request to ban a user.
public struct BanDraft: Sendable {
  /// The end of the ban, in milliseconds since 1970; nil for a permanent ban.
  public var until: Int64?
  /// The reason, of at most 1,000 Unicode scalars; nil without one.
  public var reason: String?
  /// Revokes the invite by which the user signed up, so that it can't be used again.
  public var closesInvite: Bool

  /// Reads a ban from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    until = try object.time("until")
    reason = try object.optional("reason")
    closesInvite = try object.optional("revoke_invite") ?? false
  }

  /// A permanent ban without other actions.
  public init(reason: String?) {
    self.reason = reason
    closesInvite = false
  }
}

/// Request to silence a user.
public struct SilenceDraft: Sendable {
  /// Nil for the whole site.
  public var forum: ID<Forum>?
  /// The end of the silence, in milliseconds since 1970; nil without an end.
  public var until: Int64?
  /// The reason, of at most 1,000 Unicode scalars; nil without one.
  public var reason: String?

  /// Reads a silence from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    forum = try object.optional("forum")
    until = try object.time("until")
    reason = try object.optional("reason")
  }
}

/// Request to warn a user.
public struct WarningDraft: Sendable {
  /// The text of the warning, for the user: 1 to 1,000 Unicode scalars.
  public var reason: String
  /// Idempotency key of at most 64 bytes: a repeated request makes no second warning.
  public var clientID: String?

  /// Reads a warning from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    reason = try object.string("reason")
    clientID = try object.optional("client_id")
  }
}

extension JSONObject {
  /// A time in milliseconds since 1970.
  mutating func time(_ name: String) throws(JSONError) -> Int64? {
    let time: Timestamp? = try optional(name)
    return time.map { Int64($0.milliseconds) }
  }
}
