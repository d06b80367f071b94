// Deliveries to outgoing webhooks. An endpoint has a cursor; the event after it is sent until the server accepts it.
// Rights are those of the owner when the event is read.

import ParleyCrypto
import ParleyJSON
public import ParleyModel
public import PubSub
public import Storage

/// An enabled endpoint, ready to deliver.
public struct ReadyWebhookEndpoint: Sendable {
  public let endpoint: WebhookEndpoint
  /// The secret, and the one before while it is valid.
  public let secrets: [[UInt8]]
  public let cursor: String
  public let failures: Int
  /// The owner, as the reader of the events.
  public let caller: Caller
  /// A redelivery that waits.
  public let redelivery: WebhookDelivery?
}

/// The cause of a failed attempt.
public enum WebhookFailure: Sendable, Hashable {
  /// The time in milliseconds that the server asks for.
  case retry(after: Int64?)
  /// The server wants no more events: 410.
  case gone
}

extension Community {
  public func enabledWebhookEndpoints(
    after id: ID<WebhookEndpoint>, limit: Int
  ) async throws(Refusal) -> [ID<WebhookEndpoint>] {
    try await store.readInBackground { tx throws(Refusal) in try tx.enabledWebhookEndpoints(after: id, limit: limit) }
  }

  /// An endpoint for its next delivery; nil if it is disabled or deleted. Disables one that may not deliver.
  public func readyWebhookEndpoint(_ id: ID<WebhookEndpoint>) async throws(Refusal) -> ReadyWebhookEndpoint? {
    let found = try await store.readInBackground(.catchUp) { [secrets = store.secrets] tx throws(Refusal) in
      try tx.readiness(of: id, secrets)
    }
    switch found {
    case .ready(let endpoint): return endpoint
    case .disabled: return nil
    case .lapsed(let reason):
      try await store.write { tx throws(Refusal) in try tx.end(id, reason) }
      return nil
    }
  }

  /// An event of the log for its redelivery, with the rights of now. Nil if it is gone or not readable.
  public func webhookEvent(_ id: Int, for caller: Caller) async throws(Refusal) -> CatchUpPage.Item? {
    try await store.readInBackground(.catchUp, for: caller.turn) { tx throws(Refusal) in
      guard let event = try tx.events(after: id - 1, limit: 1).first, event.id == id else { return nil }
      do throws(Refusal) {
        let caller = try tx.revalidate(caller)
        let reader = StreamReader(caller.role, fromSeq: try tx.fromSeq(in: event.stream, for: caller))
        guard let seen = try tx.delivered([event]).first?.seen(by: reader), seen.content != .hidden else { return nil }
        return CatchUpPage.Item(event: event.id, stream: event.stream, offset: event.offset, text: seen.jsonBytes)
      } catch .notFound {
        return nil
      } catch .forbidden {
        return nil
      } catch .unauthenticated {
        return nil
      }
    }
  }

  /// The header `webhook-id` of an event: the same for all attempts, also after a restart, and another one for an event
  /// with the same number in a restored copy of the log.
  public func webhookID(of event: Int, for endpoint: ID<WebhookEndpoint>) -> String {
    "msg_\(endpoint)_\(store.starts.start(of: event) ?? "0")_\(event)"
  }

  /// The same of a reset after a cursor, which stays until the reset is delivered.
  public func webhookID(ofResetAfter cursor: String, for endpoint: ID<WebhookEndpoint>) -> String {
    "msg_\(endpoint)_\(cursor.replacing(".", with: "_"))_reset"
  }

  /// Moves an endpoint over events that it does not receive.
  public func moveWebhookEndpoint(_ id: ID<WebhookEndpoint>, to event: Int) async throws(Refusal) {
    let cursor = store.cursor(at: event)
    try await store.write { tx throws(Refusal) in try tx.move(id, to: cursor) }
  }

  /// Records that the server has accepted an event, and moves the endpoint behind it.
  ///
  /// - Parameter trimsLog: whether to delete the oldest attempts. Callers do it now and then.
  public func recordWebhookDelivery(
    _ delivery: NewWebhookDelivery, to id: ID<WebhookEndpoint>, through event: Int, trimsLog: Bool
  ) async throws(Refusal) {
    let cursor = store.cursor(at: event)
    try await store.write { tx throws(Refusal) in
      guard try tx.webhookEndpoint(id) != nil else { return }
      try tx.didDeliver(to: id, cursor: cursor)
      _ = try tx.add(delivery, of: id, .delivered)
      if trimsLog { try tx.trimWebhookDeliveries(of: id) }
    }
  }

  /// Records a failed attempt. Disables the endpoint after `Bounds.webhookPatience`.
  public func recordWebhookFailure(
    _ delivery: NewWebhookDelivery, of id: ID<WebhookEndpoint>, _ failure: WebhookFailure, trimsLog: Bool
  ) async throws(Refusal) {
    let jitter = Double.random(in: 0.75...1.25)
    try await store.write { [bounds] tx throws(Refusal) in
      guard let before = try tx.storedWebhookEndpoint(id) else { return }
      _ = try tx.add(delivery, of: id, .failed)
      if trimsLog { try tx.trimWebhookDeliveries(of: id) }
      guard case .retry(let time) = failure else { return try tx.end(id, .gone) }
      let failures = before.failures + 1
      let since = before.endpoint.failingSince ?? tx.now
      let end = since + bounds.webhookPatience
      if tx.now >= end, failures >= bounds.webhookMinFailures { return try tx.end(id, .failing) }
      let delay = WebhookSchedule.delay(after: failures, asked: time, jitter: jitter, bounds)
      // The last attempt is made at the end of the time.
      let next = tx.now + delay
      try tx.didFail(id, nextAttemptAt: tx.now < end ? min(next, max(end, tx.now + bounds.webhookRetryDelay)) : next)
    }
  }

  /// Records the outcome of a redelivery, which is attempted once.
  public func recordWebhookRedelivery(
    _ delivery: WebhookDelivery, _ state: WebhookDelivery.State, status: Int?, fault: WebhookDelivery.Fault?,
    duration: Int?
  ) async throws(Refusal) {
    try await store.write { tx throws(Refusal) in
      try tx.finish(delivery.id, state, status: status, fault: fault, duration: duration)
    }
  }
}

enum WebhookSchedule {
  /// The delay in milliseconds after this number of failures.
  ///
  /// - Parameter time: the time that the server has asked for.
  static func delay(after failures: Int, asked time: Int64?, jitter: Double, _ bounds: Bounds) -> Int64 {
    let doublings = min(max(failures - 1, 0), 40)
    let doubled = Double(bounds.webhookRetryDelay) * Double(1 << doublings)
    let delay = Int64(min(doubled, Double(bounds.webhookMaxRetryDelay)) * jitter)
    return max(delay, min(max(time ?? 0, 0), bounds.webhookMaxRetryAfter))
  }
}

private enum WebhookReadiness: Sendable {
  case ready(ReadyWebhookEndpoint)
  case disabled
  case lapsed(WebhookEndpoint.DisabledReason)
}

extension ReadTransaction {
  fileprivate func readiness(
    of id: ID<WebhookEndpoint>, _ box: SealedBox
  ) throws(Refusal) -> WebhookReadiness {
    guard let stored = try storedWebhookEndpoint(id) else { return .disabled }
    let owner = stored.endpoint.owner
    guard stored.state == .active, stored.role.isStaff else { return .lapsed(.ownerInactive) }
    var secrets: [[UInt8]] = []
    for (index, sealed) in stored.secrets.enumerated() {
      let secret: [UInt8]?
      do { secret = try box.open(sealed, for: WebhookSecret.context(of: owner)) } catch { throw .unavailable }
      if let secret { secrets.append(secret) } else if index == 0 { return .lapsed(.secretLost) }
    }
    return .ready(
      ReadyWebhookEndpoint(
        endpoint: stored.endpoint, secrets: secrets, cursor: stored.cursor, failures: stored.failures,
        caller: Caller(user: owner, role: stored.role, scope: .read, session: nil),
        redelivery: try pendingWebhookDeliveries(of: id, limit: 1).first))
  }
}

extension WriteTransaction {
  /// Disables an endpoint and tells its owner, unless the owner has caused it.
  fileprivate func end(_ id: ID<WebhookEndpoint>, _ reason: WebhookEndpoint.DisabledReason) throws(Refusal) {
    guard let endpoint = try webhookEndpoint(id), try disable(id, reason) else { return }
    switch reason {
    case .failing, .gone, .secretLost: try addNotification(.endpointDisabled, of: endpoint.owner, by: nil)
    case .request, .ownerInactive, .tokenRevoked, .restored: break
    }
  }
}
