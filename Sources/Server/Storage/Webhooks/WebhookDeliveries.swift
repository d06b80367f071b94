// The log of deliveries to outgoing webhooks, and redeliveries that wait. It is bounded by count and age.

public import ParleyModel
import ParleySQLite

/// An attempt to deliver an event.
public struct NewWebhookDelivery: Sendable, Hashable {
  public var webhookID: String
  public var type: String
  /// Nil for a reset.
  public var event: Int?
  public var attempt: Int
  public var status: Int?
  public var fault: WebhookDelivery.Fault?
  /// In milliseconds.
  public var duration: Int?

  public init(
    _ webhookID: String, type: String, event: Int?, attempt: Int, status: Int? = nil,
    fault: WebhookDelivery.Fault? = nil, duration: Int? = nil
  ) {
    self.webhookID = webhookID
    self.type = type
    self.event = event
    self.attempt = attempt
    self.status = status
    self.fault = fault
    self.duration = duration
  }
}

public enum WebhookDeliveryLimits {
  /// Attempts of an endpoint in the log.
  public static let perEndpoint = 1_000
  /// In milliseconds: 30 days.
  public static let maxAge: Int64 = 30 * 86_400_000
  /// Redeliveries of an endpoint that wait.
  public static let pending = 100
}

extension ReadTransaction {
  /// Deliveries of an endpoint, newest first.
  public func webhookDeliveries(
    of endpoint: ID<WebhookEndpoint>, _ slice: ListSlice
  ) throws(Refusal) -> [WebhookDelivery] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(WebhookDelivery.columns)
          from webhook_delivery
          where endpoint_id = $1 and id \(page.comparison) $2
          order by id \(page.order)
          limit $3
          """), endpoint.number, page.number(), slice.limit
      ) { row in try WebhookDelivery(row) }
    }
  }

  public func webhookDelivery(
    _ id: ID<WebhookDelivery>, of endpoint: ID<WebhookEndpoint>
  ) throws(Refusal) -> WebhookDelivery? {
    try run { connection in
      try connection.first(
        SQL("select \(WebhookDelivery.columns) from webhook_delivery where id = $1 and endpoint_id = $2"),
        id.number, endpoint.number
      ) { row in try WebhookDelivery(row) }
    }
  }

  /// Redeliveries that wait, oldest first.
  public func pendingWebhookDeliveries(
    of endpoint: ID<WebhookEndpoint>, limit: Int
  ) throws(Refusal) -> [WebhookDelivery] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(WebhookDelivery.columns)
          from webhook_delivery
          where endpoint_id = $1 and state = 'pending'
          order by id
          limit $2
          """), endpoint.number, limit
      ) { row in try WebhookDelivery(row) }
    }
  }
}

extension WriteTransaction {
  /// Adds an attempt to the log.
  public func add(
    _ delivery: NewWebhookDelivery, of endpoint: ID<WebhookEndpoint>, _ state: WebhookDelivery.State
  ) throws(Refusal) -> ID<WebhookDelivery> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into webhook_delivery (id, endpoint_id, webhook_id, type, event_id, state, redelivery, attempt, status,
          error, at, duration)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        """, id, endpoint.number, delivery.webhookID, delivery.type, delivery.event, state.rawValue,
        state == .pending, delivery.attempt, delivery.status, delivery.fault?.rawValue, Int(now), delivery.duration)
    }
    return ID(id)
  }

  /// Records the outcome of a redelivery.
  public func finish(
    _ delivery: ID<WebhookDelivery>, _ state: WebhookDelivery.State, status: Int?, fault: WebhookDelivery.Fault?,
    duration: Int?
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update webhook_delivery
        set state = $1, status = $2, error = $3, at = $4, duration = $5
        where id = $6 and state = 'pending'
        """, state.rawValue, status, fault?.rawValue, Int(now), duration, delivery.number)
    }
  }

  /// Deletes the oldest deliveries of an endpoint beyond the limit. Returns whether more may remain.
  @discardableResult
  public func trimWebhookDeliveries(
    of endpoint: ID<WebhookEndpoint>, keeping count: Int = WebhookDeliveryLimits.perEndpoint, limit: Int = 1_000
  ) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from webhook_delivery
        where id in (
          select id
          from webhook_delivery
          where endpoint_id = $1 and id <= (
            select id
            from webhook_delivery
            where endpoint_id = $1
            order by id desc
            limit 1 offset $2
          )
          order by id
          limit $3
        )
        """, endpoint.number, count, limit) == limit
    }
  }

  /// Deletes deliveries after their time. Returns whether more may remain.
  func removeOldWebhookDeliveries(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from webhook_delivery
        where id in (
          select id
          from webhook_delivery
          where at <= $1
          order by at, id
          limit $2
        )
        """, Int(now - WebhookDeliveryLimits.maxAge), limit) == limit
    }
  }

  /// Ends the redeliveries of an endpoint that is disabled.
  func dropPendingDeliveries(of endpoint: ID<WebhookEndpoint>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "delete from webhook_delivery where endpoint_id = $1 and state = 'pending'", endpoint.number)
    }
  }
}

extension WebhookDelivery {
  fileprivate static let columns =
    "id, webhook_id, type, event_id, state, redelivery, attempt, status, error, at, duration"

  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int("id")), webhookID: try row.text("webhook_id"), type: .init(rawValue: try row.text("type")),
      event: try row.optionalInt("event_id"), state: try row.word("state"), isRedelivery: try row.bool("redelivery"),
      attempt: try row.int("attempt"), status: try row.optionalInt("status"),
      fault: try row.optionalText("error").flatMap { Fault(rawValue: $0) }, at: Int64(try row.int("at")),
      duration: try row.optionalInt("duration"))
  }
}
