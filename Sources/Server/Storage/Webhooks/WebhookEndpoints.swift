// Outgoing webhooks: endpoints with their sealed secrets and their positions in the log.

public import ParleyModel
import ParleySQLite

/// A new endpoint. Its secret is sealed.
public struct NewStoredWebhookEndpoint: Sendable {
  public let draft: WebhookEndpointDraft
  public let owner: ID<User>
  public let secret: [UInt8]
  /// The token that makes the request.
  public let token: ID<Session>?
  /// The position in the log: later events are delivered.
  public let cursor: String

  public init(
    _ draft: WebhookEndpointDraft, owner: ID<User>, secret: [UInt8], token: ID<Session>?, cursor: String
  ) {
    self.draft = draft
    self.owner = owner
    self.secret = secret
    self.token = token
    self.cursor = cursor
  }
}

/// An enabled endpoint, as its deliveries need it.
public struct StoredWebhookEndpoint: Sendable, Hashable {
  public let endpoint: WebhookEndpoint
  /// Sealed: the secret, and the one before while it is valid.
  public let secrets: [[UInt8]]
  public let cursor: String
  /// Failed attempts since the last delivery.
  public let failures: Int
  public let role: Role
  public let state: UserState
}

extension ReadTransaction {
  public func webhookEndpoint(_ id: ID<WebhookEndpoint>) throws(Refusal) -> WebhookEndpoint? {
    try run { connection in
      try connection.first(
        SQL("select \(WebhookEndpoint.columns) from webhook_endpoint e where e.id = $1"), id.number
      ) { row in try WebhookEndpoint(row, now: now) }
    }
  }

  /// Endpoints in the order of their creation.
  public func webhookEndpoints(_ slice: ListSlice) throws(Refusal) -> [WebhookEndpoint] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(WebhookEndpoint.columns)
          from webhook_endpoint e
          where e.id \(page.comparison) $1
          order by e.id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try WebhookEndpoint(row, now: now) }
    }
  }

  /// The enabled endpoints after `id`, in order.
  public func enabledWebhookEndpoints(
    after id: ID<WebhookEndpoint>, limit: Int
  ) throws(Refusal) -> [ID<WebhookEndpoint>] {
    try run { connection in
      try connection.all(
        """
        select id
        from webhook_endpoint
        where enabled = 1 and id > $1
        order by id
        limit $2
        """, id.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// An endpoint for its deliveries; nil if it is disabled.
  public func storedWebhookEndpoint(_ id: ID<WebhookEndpoint>) throws(Refusal) -> StoredWebhookEndpoint? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(WebhookEndpoint.columns), e.secret, e.previous_secret, e.cursor, e.failures, a.role, a.state
          from webhook_endpoint e
          join account a on a.id = e.owner_id
          where e.id = $1 and e.enabled = 1
          """), id.number
      ) { row in
        let endpoint = try WebhookEndpoint(row, now: now)
        return StoredWebhookEndpoint(
          endpoint: endpoint, secrets: try row.secrets(hasPrevious: endpoint.previousSecretUntil != nil),
          cursor: try row.text("cursor"), failures: try row.int("failures"), role: try row.word("role"),
          state: try row.word("state"))
      }
    }
  }

  public func webhookEndpointCount() throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from webhook_endpoint") { row in try row.int(0) } ?? 0
    }
  }

  public func webhookEndpointCount(of owner: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from webhook_endpoint where owner_id = $1", owner.number) { row in
        try row.int(0)
      } ?? 0
    }
  }
}

extension WriteTransaction {
  /// The time for which the secret before a rotation signs, too, in milliseconds.
  static let previousSecretTime: Int64 = 24 * 3_600_000

  public func add(_ new: NewStoredWebhookEndpoint) throws(Refusal) -> ID<WebhookEndpoint> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into webhook_endpoint (id, owner_id, name, url, topics, events, secret, token_id, enabled, cursor,
          created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10)
        """, id, new.owner.number, new.draft.name, new.draft.url, WebhookEndpoint.text(new.draft.topics),
        new.draft.events.joined(separator: ","), new.secret, new.token?.number, new.cursor, Int(now))
    }
    return ID(id)
  }

  /// Stores name, URL, topics and events.
  public func set(_ endpoint: WebhookEndpoint) throws(Refusal) {
    try run { connection in
      // Failures of another URL do not count.
      try connection.execute(
        """
        update webhook_endpoint
        set name = $1, url = $2, topics = $3, events = $4, revision = revision + 1,
          failing_since = case when url = $2 then failing_since end, failures = case when url = $2 then failures else 0 end,
          next_attempt_at = case when url = $2 then next_attempt_at end
        where id = $5
        """, endpoint.name, endpoint.url, WebhookEndpoint.text(endpoint.topics),
        endpoint.events.joined(separator: ","), endpoint.id.number)
    }
  }

  /// Records the token of a change that makes the endpoint send elsewhere or more. It ends with this token.
  public func setToken(_ token: ID<Session>?, of endpoint: ID<WebhookEndpoint>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update webhook_endpoint set token_id = $1 where id = $2", token?.number, endpoint.number)
    }
  }

  /// Enables an endpoint. It goes on where it stopped.
  public func enable(_ endpoint: ID<WebhookEndpoint>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update webhook_endpoint
        set enabled = 1, disabled_reason = null, disabled_at = null, failing_since = null, failures = 0,
          next_attempt_at = null, revision = revision + 1
        where id = $1 and enabled = 0
        """, endpoint.number)
    }
  }

  /// Disables an endpoint. Returns whether it was enabled.
  @discardableResult
  public func disable(
    _ endpoint: ID<WebhookEndpoint>, _ reason: WebhookEndpoint.DisabledReason
  ) throws(Refusal) -> Bool {
    let count = try run { connection in
      try connection.execute(
        """
        update webhook_endpoint
        set enabled = 0, disabled_reason = $1, disabled_at = $2, next_attempt_at = null, revision = revision + 1
        where id = $3 and enabled = 1
        """, reason.rawValue, Int(now), endpoint.number)
    }
    guard count > 0 else { return false }
    try dropPendingDeliveries(of: endpoint)
    return true
  }

  /// Disables the endpoints of a user that no longer may have any.
  func disableWebhookEndpoints(of owner: ID<User>) throws(Refusal) {
    let endpoints = try run { connection in
      try connection.all(
        "select id from webhook_endpoint where owner_id = $1 and enabled = 1 order by id", owner.number
      ) { row in ID<WebhookEndpoint>(try row.int(0)) }
    }
    for endpoint in endpoints { try disable(endpoint, .ownerInactive) }
  }

  /// Disables the endpoints that ended tokens have made.
  func disableWebhookEndpoints(ofTokens tokens: [ID<Session>]) throws(Refusal) {
    for token in tokens {
      let endpoints = try run { connection in
        try connection.all(
          "update webhook_endpoint set token_id = null where token_id = $1 returning id", token.number
        ) { row in ID<WebhookEndpoint>(try row.int(0)) }
      }
      for endpoint in endpoints { try disable(endpoint, .tokenRevoked) }
    }
  }

  /// Replaces the secret. The earlier one signs, too, for 24 hours.
  public func renewSecret(of endpoint: ID<WebhookEndpoint>, sealed secret: [UInt8]) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update webhook_endpoint
        set previous_secret = secret, previous_until = $1, secret = $2, revision = revision + 1, failing_since = null,
          failures = 0, next_attempt_at = null
        where id = $3
        """, Int(now + Self.previousSecretTime), secret, endpoint.number)
    }
  }

  /// Removes secrets after their time. Returns whether more may remain.
  func removePreviousSecrets(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        update webhook_endpoint
        set previous_secret = null, previous_until = null
        where id in (
          select id
          from webhook_endpoint
          where previous_until <= $1
          order by previous_until
          limit $2
        )
        """, Int(now), limit) == limit
    }
  }

  /// Deletes an endpoint and the log of its deliveries.
  public func delete(_ endpoint: ID<WebhookEndpoint>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from webhook_endpoint where id = $1", endpoint.number)
    }
  }

  /// Moves the position in the log, where no event was to be delivered.
  public func move(_ endpoint: ID<WebhookEndpoint>, to cursor: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update webhook_endpoint set cursor = $1 where id = $2", cursor, endpoint.number)
    }
  }

  /// Records a delivery and the position after it.
  public func didDeliver(to endpoint: ID<WebhookEndpoint>, cursor: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update webhook_endpoint
        set cursor = $1, failing_since = null, failures = 0, next_attempt_at = null, last_delivered_at = $2
        where id = $3
        """, cursor, Int(now), endpoint.number)
    }
  }

  /// Records a failed attempt and the time of the next one.
  public func didFail(_ endpoint: ID<WebhookEndpoint>, nextAttemptAt: Int64) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update webhook_endpoint
        set failing_since = coalesce(failing_since, $1), failures = failures + 1, next_attempt_at = $2
        where id = $3
        """, Int(now), Int(nextAttemptAt), endpoint.number)
    }
  }
}

extension Row {
  /// The sealed secret, and the one before while it is valid.
  func secrets(hasPrevious: Bool) throws -> [[UInt8]] {
    let previous = hasPrevious ? try optionalBytes("previous_secret") : nil
    return [try bytes("secret")] + (previous.map { [$0] } ?? [])
  }
}

extension WebhookEndpoint {
  fileprivate static let columns = """
    e.id, e.name, e.url, e.topics, e.events, e.enabled, e.disabled_reason, e.disabled_at, e.owner_id, e.created_at,
    e.last_delivered_at, e.failing_since, e.next_attempt_at, e.previous_until, e.revision
    """

  /// The stored form. No topic has a comma.
  fileprivate static func text(_ topics: [LiveTopic]) -> String {
    topics.map(\.description).joined(separator: ",")
  }

  fileprivate init(_ row: borrowing Row, now: Int64) throws {
    var topics: [LiveTopic] = []
    for text in try row.text("topics").split(separator: ",") {
      guard let topic = LiveTopic(String(text)) else { throw row.unexpected(try row.position("topics")) }
      topics.append(topic)
    }
    let reason = try row.optionalText("disabled_reason")
    let previous = try row.optionalInt("previous_until").map { Int64($0) }
    self.init(
      id: ID(try row.int("id")), name: try row.text("name"), url: try row.text("url"), topics: topics,
      events: try row.text("events").split(separator: ",").map(String.init), isEnabled: try row.bool("enabled"),
      disabledReason: reason.flatMap { DisabledReason(rawValue: $0) },
      disabledAt: try row.optionalInt("disabled_at").map { Int64($0) }, owner: ID(try row.int("owner_id")),
      createdAt: Int64(try row.int("created_at")),
      lastDeliveredAt: try row.optionalInt("last_delivered_at").map { Int64($0) },
      failingSince: try row.optionalInt("failing_since").map { Int64($0) },
      nextAttemptAt: try row.optionalInt("next_attempt_at").map { Int64($0) },
      previousSecretUntil: previous.flatMap { $0 > now ? $0 : nil }, revision: try row.int("revision"))
  }
}
