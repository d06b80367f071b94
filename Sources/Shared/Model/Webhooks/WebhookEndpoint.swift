public import ParleyJSON

/// Outgoing webhook: a URL that receives the events of some topics, as its owner may read them.
public struct WebhookEndpoint: Sendable, Hashable {
  public var id: ID<WebhookEndpoint>
  public var name: String
  /// For other users than the owner, only the origin.
  public var url: String
  public var topics: [LiveTopic]
  /// Names of event kinds; empty for all.
  public var events: [String]
  public var isEnabled: Bool
  public var disabledReason: DisabledReason?
  public var disabledAt: Int64?
  public var owner: ID<User>
  /// Milliseconds since 1970.
  public var createdAt: Int64
  public var lastDeliveredAt: Int64?
  /// The first failed attempt since the last delivery.
  public var failingSince: Int64?
  /// After failed attempts.
  public var nextAttemptAt: Int64?
  /// The end of the secret before a rotation.
  public var previousSecretUntil: Int64?
  public var revision: Int

  /// Why no events are sent.
  public enum DisabledReason: String, Sendable, Hashable, CaseIterable {
    /// By the owner or other staff.
    case request
    /// All attempts of three days have failed.
    case failing
    /// The URL has answered 410.
    case gone
    /// The owner was banned, disabled or deleted, has left the staff, or was recovered.
    case ownerInactive = "owner_inactive"
    /// The token that made it has ended.
    case tokenRevoked = "token_revoked"
    /// The key that sealed the secret is missing.
    case secretLost = "secret_lost"
    /// A restored backup had it enabled; it was disabled, deleted or changed since.
    case restored
  }

  public init(
    id: ID<WebhookEndpoint>, name: String, url: String, topics: [LiveTopic], events: [String], isEnabled: Bool = true,
    disabledReason: DisabledReason? = nil, disabledAt: Int64? = nil, owner: ID<User>, createdAt: Int64,
    lastDeliveredAt: Int64? = nil, failingSince: Int64? = nil, nextAttemptAt: Int64? = nil,
    previousSecretUntil: Int64? = nil, revision: Int = 1
  ) {
    self.id = id
    self.name = name
    self.url = url
    self.topics = topics
    self.events = events
    self.isEnabled = isEnabled
    self.disabledReason = disabledReason
    self.disabledAt = disabledAt
    self.owner = owner
    self.createdAt = createdAt
    self.lastDeliveredAt = lastDeliveredAt
    self.failingSince = failingSince
    self.nextAttemptAt = nextAttemptAt
    self.previousSecretUntil = previousSecretUntil
    self.revision = revision
  }
}

extension WebhookEndpoint: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), name: try object.string("name"), url: try object.string("url"),
      topics: try object.read("topics"), events: try object.read("events"), isEnabled: try object.bool("enabled"),
      disabledReason: try object.optionalWord("disabled_reason"), disabledAt: try object.time("disabled_at"),
      owner: try object.read("owner_id"), createdAt: Int64(createdAt.milliseconds),
      lastDeliveredAt: try object.time("last_delivered_at"), failingSince: try object.time("failing_since"),
      nextAttemptAt: try object.time("next_attempt_at"), previousSecretUntil: try object.time("previous_secret_until"),
      revision: try object.int("revision"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
    json.field("url", url)
    json.field("topics", topics)
    json.field("events", events)
    json.field("enabled", isEnabled)
    json.field("disabled_reason", disabledReason?.rawValue)
    json.field("disabled_at", disabledAt.map { Timestamp($0) })
    json.field("owner_id", owner)
    json.field("created_at", Timestamp(createdAt))
    json.field("last_delivered_at", lastDeliveredAt.map { Timestamp($0) })
    json.field("failing_since", failingSince.map { Timestamp($0) })
    json.field("next_attempt_at", nextAttemptAt.map { Timestamp($0) })
    json.field("previous_secret_until", previousSecretUntil.map { Timestamp($0) })
    json.field("revision", revision)
  }
}

/// Request to create an outgoing webhook.
public struct WebhookEndpointDraft: RepeatableDraft, Equatable {
  public var name: String
  public var url: String
  public var topics: [LiveTopic]
  /// Names of event kinds; empty for all.
  public var events: [String]
  public var clientID: String?

  public init(name: String, url: String, topics: [LiveTopic], events: [String] = [], clientID: String? = nil) {
    self.name = name
    self.url = url
    self.topics = topics
    self.events = events
    self.clientID = clientID
  }
}

extension WebhookEndpointDraft: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.string("name"), url: try object.string("url"), topics: try object.read("topics"),
      events: try object.optional("events") ?? [], clientID: try object.optional("client_id"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("name", name)
    json.field("url", url)
    json.field("topics", topics)
    json.field("events", events)
    if let clientID { json.field("client_id", clientID) }
  }
}

/// PATCH of an outgoing webhook. Absent members stay unchanged.
public struct WebhookEndpointChange: Sendable, Equatable {
  public var name: String?
  public var url: String?
  public var topics: [LiveTopic]?
  public var events: [String]?
  public var isEnabled: Bool?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  public init(
    name: String? = nil, url: String? = nil, topics: [LiveTopic]? = nil, events: [String]? = nil,
    isEnabled: Bool? = nil, ifRevision: Int? = nil
  ) {
    self.name = name
    self.url = url
    self.topics = topics
    self.events = events
    self.isEnabled = isEnabled
    self.ifRevision = ifRevision
  }
}

extension WebhookEndpointChange: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.optional("name"), url: try object.optional("url"), topics: try object.optional("topics"),
      events: try object.optional("events"), isEnabled: try object.optional("enabled"),
      ifRevision: try object.optional("if_revision"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    if let name { json.field("name", name) }
    if let url { json.field("url", url) }
    if let topics { json.field("topics", topics) }
    if let events { json.field("events", events) }
    if let isEnabled { json.field("enabled", isEnabled) }
    if let ifRevision { json.field("if_revision", ifRevision) }
  }
}
