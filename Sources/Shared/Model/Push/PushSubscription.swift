public import ParleyJSON

/// A device that receives notifications while the app is closed (Web Push). Its URL and keys are in no response.
public struct PushSubscription: Sendable, Hashable {
  /// The id of the subscription.
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

  /// A device with push messages; all times are in milliseconds since 1970.
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
  /// Reads a subscription from a JSON object of a response.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    let lastSentAt: Timestamp? = try object.optional("last_sent_at")
    self.init(
      id: try object.read("id"), name: try object.string("name"), service: try object.string("service"),
      createdAt: Int64(createdAt.milliseconds), lastSentAt: lastSentAt.map { Int64($0.milliseconds) },
      isCurrent: try object.bool("current"))
  }

  /// Writes the members of the subscription into an open JSON object.
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
  /// The URL of the device at its push service: https, at most 2,048 characters.
  public var endpoint: String
  /// The keys of the device that encrypt its push messages.
  public var keys: Keys
  /// The name of the device: 1 to 100 Unicode scalars.
  public var name: String
  /// A code such as `de`; for texts that the server writes.
  public var language: String?

  /// Base64 for URLs.
  public struct Keys: Sendable, Equatable {
    /// The public key of the device: a point of P-256, 65 bytes without compression.
    public var p256dh: String
    /// The authentication secret of the device: 16 bytes.
    public var auth: String

    /// The keys of a device, both as Base64 for URLs.
    public init(p256dh: String, auth: String) {
      self.p256dh = p256dh
      self.auth = auth
    }
  }

  /// A request to send push messages to a device; `endpoint` and `keys` are those of the browser.
  public init(endpoint: String, keys: Keys, name: String, language: String? = nil) {
    self.endpoint = endpoint
    self.keys = keys
    self.name = name
    self.language = language
  }
}

extension PushSubscriptionDraft.Keys: JSONMembers {
  /// Reads the keys from a JSON object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(p256dh: try object.string("p256dh"), auth: try object.string("auth"))
    try object.finish()
  }

  /// Writes the keys into an open JSON object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("p256dh", p256dh)
    json.field("auth", auth)
  }
}

extension PushSubscriptionDraft: JSONMembers {
  /// Reads a draft of a subscription from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      endpoint: try object.string("endpoint"), keys: try object.read("keys"), name: try object.string("name"),
      language: try object.optional("language"))
  }

  /// Writes the members of the draft into an open JSON object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("endpoint", endpoint)
    json.field("keys", keys)
    json.field("name", name)
    if let language { json.field("language", language) }
  }
}

/// The result of a test message.
public struct PushTest: Sendable, Hashable {
  /// Outcome of a test message, by the answer of the push service.
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

  /// The outcome of the test.
  public var outcome: Outcome
  /// The status of the push service, if it answered with a refusal.
  public var status: Int?
  /// The start of its answer.
  public var detail: String?

  /// The result of a test; `status` and `detail` are those of a refusal.
  public init(_ outcome: Outcome, status: Int? = nil, detail: String? = nil) {
    self.outcome = outcome
    self.status = status
    self.detail = detail
  }
}

extension PushTest: JSONMembers {
  /// Reads the result from a JSON object of a response.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      try object.word("outcome"), status: try object.optional("status"), detail: try object.optional("detail"))
  }

  /// Writes the result into an open JSON object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("outcome", outcome.rawValue)
    json.field("status", status)
    json.field("detail", detail)
  }
}
