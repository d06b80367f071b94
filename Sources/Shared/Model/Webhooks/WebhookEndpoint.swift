public import ParleyJSON

/// Outgoing webhook: a URL that receives the events of some topics, as its owner may read them.
public struct WebhookEndpoint: Sendable, Hashable {
  /// The id of the outgoing webhook.
  public var id: ID<WebhookEndpoint>
  /// The name of the outgoing webhook, from 1 to 64 characters.
  public var name: String
  /// For other users than the owner, only the origin.
  public var url: String
  /// The topics of the events, from 1 to 20.
  public var topics: [LiveTopic]
  /// Names of event kinds; empty for all.
  public var events: [String]
  /// Whether events are sent.
  public var isEnabled: Bool
  /// The reason that ended the deliveries; nil while they are enabled.
  public var disabledReason: DisabledReason?
  /// The time at which it was disabled, in milliseconds since 1970; nil while it is enabled.
  public var disabledAt: Int64?
  /// The owner: events are read with the rights of this member of the staff.
  public var owner: ID<User>
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The last successful delivery, in milliseconds since 1970; nil before the first one.
  public var lastDeliveredAt: Int64?
  /// The first failed attempt since the last delivery.
  public var failingSince: Int64?
  /// After failed attempts.
  public var nextAttemptAt: Int64?
  /// The end of the secret before a rotation.
  public var previousSecretUntil: Int64?
  /// Increases with each change.
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

  /// An outgoing webhook without its secret, as the server lists it.
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
  /// Decodes an outgoing webhook from the members of its JSON object.
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

  /// Encodes the members of an outgoing webhook, without its secret.
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
  /// The name, from 1 to 64 characters.
  public var name: String
  /// An `https` URL with a public address and the port 443, 8443, 80 or 8080, at most 2,048 characters.
  public var url: String
  /// The topics of the events, from 1 to 20.
  public var topics: [LiveTopic]
  /// Names of event kinds; empty for all.
  public var events: [String]
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second outgoing webhook.
  public var clientID: String?

  /// An outgoing webhook for some topics, by default with all kinds of events.
  public init(name: String, url: String, topics: [LiveTopic], events: [String] = [], clientID: String? = nil) {
    self.name = name
    self.url = url
    self.topics = topics
    self.events = events
    self.clientID = clientID
  }
}

extension WebhookEndpointDraft: JSONMembers {
  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.string("name"), url: try object.string("url"), topics: try object.read("topics"),
      events: try object.optional("events") ?? [], clientID: try object.optional("client_id"))
  }

  /// Encodes the body of the request.
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
  /// The new name, from 1 to 64 characters; nil for no change.
  public var name: String?
  /// The new `https` URL; nil for no change.
  public var url: String?
  /// The new topics, which replace the previous ones; nil for no change.
  public var topics: [LiveTopic]?
  /// The new kinds of events, which replace the previous ones; empty for all, nil for no change.
  public var events: [String]?
  /// Whether events are sent; `true` goes on after the last delivered event, nil for no change.
  public var isEnabled: Bool?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// New values of some members; by default no change.
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
  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.optional("name"), url: try object.optional("url"), topics: try object.optional("topics"),
      events: try object.optional("events"), isEnabled: try object.optional("enabled"),
      ifRevision: try object.optional("if_revision"))
  }

  /// Encodes the members that change.
  public func writeMembers(to json: inout JSONWriter) {
    if let name { json.field("name", name) }
    if let url { json.field("url", url) }
    if let topics { json.field("topics", topics) }
    if let events { json.field("events", events) }
    if let isEnabled { json.field("enabled", isEnabled) }
    if let ifRevision { json.field("if_revision", ifRevision) }
  }
}
