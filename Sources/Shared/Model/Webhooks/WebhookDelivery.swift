public import ParleyJSON

/// An attempt to deliver an event to an outgoing webhook. It holds no content.
public struct WebhookDelivery: Sendable, Hashable {
  /// The id of the attempt, which is not `webhookID`.
  public var id: ID<WebhookDelivery>
  /// The header `webhook-id`: the same for all attempts of an event.
  public var webhookID: String
  /// The kind of the event, or `reset`.
  public var type: EventType
  /// Nil for a reset.
  public var event: Int?
  /// The outcome of the attempt.
  public var state: State
  /// Whether the owner requested to send the event again.
  public var isRedelivery: Bool
  /// From 1.
  public var attempt: Int
  /// Status of the response.
  public var status: Int?
  /// The reason for a missing response; nil with a response, and while a redelivery is pending.
  public var fault: Fault?
  /// Milliseconds since 1970.
  public var at: Int64
  /// In milliseconds.
  public var duration: Int?

  /// Kinds of events. A newer server may have more.
  public struct EventType: OpenWord {
    /// The word in JSON.
    public let rawValue: String

    /// Any kind.
    @inlinable public init(rawValue: String) { self.rawValue = rawValue }

    /// The log no longer has the events after the last delivered one.
    public static let reset: EventType = "reset"

    /// The kind of the event; nil for a reset, and for a kind that this version does not know.
    public var kind: Event.Kind? { Event.Kind.allCases.first { $0.name == rawValue } }
  }

  /// Outcomes of an attempt.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// A redelivery that was asked for.
    case pending
    /// The last attempt was accepted, or none was.
    case delivered, failed
  }

  /// Why there is no response.
  public enum Fault: String, Sendable, Hashable, CaseIterable {
    /// No connection, no HTTP, no trusted certificate, or no public address.
    case unreachable
    /// The receiver did not answer in time.
    case timedOut = "timed_out"
    /// The event is no longer in the log, or its owner may no longer read it.
    case unreadable
  }

  /// An attempt, as the log of deliveries lists it.
  public init(
    id: ID<WebhookDelivery>, webhookID: String, type: EventType, event: Int?, state: State, isRedelivery: Bool,
    attempt: Int, status: Int? = nil, fault: Fault? = nil, at: Int64, duration: Int? = nil
  ) {
    self.id = id
    self.webhookID = webhookID
    self.type = type
    self.event = event
    self.state = state
    self.isRedelivery = isRedelivery
    self.attempt = attempt
    self.status = status
    self.fault = fault
    self.at = at
    self.duration = duration
  }
}

extension WebhookDelivery: JSONMembers {
  /// Decodes an attempt from the members of its JSON object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let event: String? = try object.optional("event_id")
    let at: Timestamp = try object.read("at")
    self.init(
      id: try object.read("id"), webhookID: try object.string("webhook_id"), type: try object.read("type"),
      event: event.flatMap { Int($0) }, state: try object.word("state"), isRedelivery: try object.bool("redelivery"),
      attempt: try object.int("attempt"), status: try object.optional("status"),
      fault: try object.optionalWord("error"), at: Int64(at.milliseconds),
      duration: try object.optional("duration_ms"))
  }

  /// Encodes the members of an attempt.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("webhook_id", webhookID)
    json.field("type", type.rawValue)
    json.field("event_id", event.map { String($0) })
    json.field("state", state.rawValue)
    json.field("redelivery", isRedelivery)
    json.field("attempt", attempt)
    json.field("status", status)
    json.field("error", fault?.rawValue)
    json.field("at", Timestamp(at))
    json.field("duration_ms", duration)
  }
}
