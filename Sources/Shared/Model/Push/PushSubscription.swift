public import ParleyJSON

/// A device that receives notifications while the app is closed (Web Push). Its URL and keys are in no response.
public struct PushSubscription: Sendable, Hashable {
  public var id: ID<PushSubscription>
  /// The name of the device.
  public var name: String
  /// The host of the push service.
  public var service: String
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The time at which the push service last accepted a message.
  public var lastSentAt: Int64?
  /// Whether the session of this request made it.
  public var isCurrent: Bool

  public init(
    id: ID<PushSubscription>, name: String, service: String, createdAt: Int64, lastSentAt: Int64? = nil,
    isCurrent: Bool = false
  ) {
    self.id = id
    self.name = name
    self.service = service
    self.createdAt = createdAt
    self.lastSentAt = lastSentAt
    self.isCurrent = isCurrent
  }
}

extension PushSubscription: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    let lastSentAt: Timestamp? = try object.optional("last_sent_at")
    self.init(
      id: try object.read("id"), name: try object.string("name"), service: try object.string("service"),
      createdAt: Int64(createdAt.milliseconds), lastSentAt: lastSentAt.map { Int64($0.milliseconds) },
      isCurrent: try object.bool("current"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
    json.field("service", service)
    json.field("created_at", Timestamp(createdAt))
    json.field("last_sent_at", lastSentAt.map { Timestamp($0) })
    json.field("current", isCurrent)
  }
}

/// Request to create a subscription: the members of the browser's `PushSubscription.toJSON()`, and the name of the device.
public struct PushSubscriptionDraft: Sendable, Equatable {
  public var endpoint: String
  public var keys: Keys
  public var name: String
  /// A code such as `de`; for texts that the server writes.
  public var language: String?

  /// Base64 for URLs.
  public struct Keys: Sendable, Equatable {
    public var p256dh: String
    public var auth: String

    public init(p256dh: String, auth: String) {
      self.p256dh = p256dh
      self.auth = auth
    }
  }

  public init(endpoint: String, keys: Keys, name: String, language: String? = nil) {
    self.endpoint = endpoint
    self.keys = keys
    self.name = name
    self.language = language
  }
}

extension PushSubscriptionDraft.Keys: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(p256dh: try object.string("p256dh"), auth: try object.string("auth"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("p256dh", p256dh)
    json.field("auth", auth)
  }
}

extension PushSubscriptionDraft: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      endpoint: try object.string("endpoint"), keys: try object.read("keys"), name: try object.string("name"),
      language: try object.optional("language"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("endpoint", endpoint)
    json.field("keys", keys)
    json.field("name", name)
    if let language { json.field("language", language) }
  }
}

/// The result of a test message.
public struct PushTest: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// The push service took the message.
    case accepted
    /// The device has ended the subscription, which is now deleted.
    case gone
    /// The push service refused the message.
    case refused
    /// No answer, or the push service takes no messages now.
    case unavailable
  }

  public var outcome: Outcome
  /// The status of the push service, if it answered with a refusal.
  public var status: Int?
  /// The start of its answer.
  public var detail: String?

  public init(_ outcome: Outcome, status: Int? = nil, detail: String? = nil) {
    self.outcome = outcome
    self.status = status
    self.detail = detail
  }
}

extension PushTest: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      try object.word("outcome"), status: try object.optional("status"), detail: try object.optional("detail"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("outcome", outcome.rawValue)
    json.field("status", status)
    json.field("detail", detail)
  }
}
