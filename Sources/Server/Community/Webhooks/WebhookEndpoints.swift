// Outgoing webhooks: the staff creates endpoints, and each receives the events that its owner may read.

import ParleyCrypto
public import ParleyModel
import PubSub
import Storage

/// The result of creating an endpoint or its new secret.
public struct CreatedWebhookEndpoint: Sendable {
  public let endpoint: WebhookEndpoint
  /// Nil for a repeated request: the secret is returned only once.
  public let secret: [UInt8]?
}

enum WebhookSecret {
  static let byteCount = 32

  static func context(of owner: ID<User>) -> String { "webhook endpoint of \(owner)" }
}

extension Community {
  /// Creates an endpoint. Events after this moment are delivered.
  public func createWebhookEndpoint(
    _ draft: WebhookEndpointDraft, by caller: Caller
  ) async throws(Refusal) -> CreatedWebhookEndpoint {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    let fingerprint = try draft.fingerprint()
    let cursor = try await position(before: draft.topics, for: caller)
    let (secret, sealed) = try makeSecret(for: WebhookSecret.context(of: actor))
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      if let clientID = draft.clientID, let earlier = try tx.remembered(.webhookEndpoint, by: actor, clientID) {
        guard earlier.fingerprint == fingerprint else { throw .clientIDReused }
        guard let endpoint = try tx.webhookEndpoint(ID(earlier.subject)) else { throw .gone }
        return CreatedWebhookEndpoint(endpoint: endpoint, secret: nil)
      }
      // An endpoint receives events after the end of the session, too.
      try tx.requireProof(of: caller)
      guard try tx.webhookEndpointCount() < bounds.webhookEndpoints else {
        throw .tooMany(limit: bounds.webhookEndpoints)
      }
      guard try tx.webhookEndpointCount(of: actor) < bounds.userWebhookEndpoints else {
        throw .tooMany(limit: bounds.userWebhookEndpoints)
      }
      let id = try tx.add(
        NewStoredWebhookEndpoint(
          draft, owner: actor, secret: sealed, token: try tx.token(of: caller, actor), cursor: cursor))
      if let clientID = draft.clientID {
        try tx.remember(.webhookEndpoint, by: actor, clientID, subject: id.number, fingerprint: fingerprint)
      }
      try tx.audit(.endpointCreated, by: actor, subject: id.number, reason: draft.name)
      return CreatedWebhookEndpoint(endpoint: try tx.knownEndpoint(id), secret: secret)
    }
  }

  /// Changes an endpoint of the caller. All staff may disable it.
  public func updateWebhookEndpoint(
    _ id: ID<WebhookEndpoint>, _ change: WebhookEndpointChange, by caller: Caller
  ) async throws(Refusal) -> WebhookEndpoint {
    let actor = try caller.requireUser(.admin)
    let change = try change.checked(bounds)
    if let topics = change.topics { _ = try await position(before: topics, for: caller) }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      let before = try tx.knownEndpoint(id)
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      var after = before
      (after.name, after.url) = (change.name ?? before.name, change.url ?? before.url)
      (after.topics, after.events) = (change.topics ?? before.topics, change.events ?? before.events)
      let enables = change.isEnabled == true && !before.isEnabled
      if after != before || enables {
        guard before.owner == actor else { throw .forbidden }
        if enables || (after.url, after.topics, after.events) != (before.url, before.topics, before.events) {
          try tx.requireProof(of: caller)
          try tx.setToken(try tx.token(of: caller, actor), of: id)
        }
      }
      if after != before {
        try tx.set(after)
        try tx.audit(.endpointChanged, by: actor, subject: id.number, reason: after.name)
      }
      if enables {
        try tx.enable(id)
        try tx.audit(.endpointEnabled, by: actor, subject: id.number, reason: after.name)
      }
      if change.isEnabled == false, try tx.disable(id, .request) {
        try tx.audit(.endpointDisabled, by: actor, subject: id.number, reason: after.name)
      }
      return try tx.knownEndpoint(id).shown(to: caller)
    }
  }

  /// Replaces the secret of an endpoint of the caller. The earlier one signs, too, for 24 hours.
  public func rotateWebhookEndpointSecret(
    _ id: ID<WebhookEndpoint>, by caller: Caller
  ) async throws(Refusal) -> CreatedWebhookEndpoint {
    let actor = try caller.requireUser(.admin)
    let (secret, sealed) = try makeSecret(for: WebhookSecret.context(of: actor))
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      let endpoint = try tx.knownEndpoint(id)
      guard endpoint.owner == actor else { throw .forbidden }
      try tx.requireProof(of: caller)
      try tx.renewSecret(of: id, sealed: sealed)
      try tx.setToken(try tx.token(of: caller, actor), of: id)
      try tx.audit(.endpointRenewed, by: actor, subject: id.number, reason: endpoint.name)
      return CreatedWebhookEndpoint(endpoint: try tx.knownEndpoint(id), secret: secret)
    }
  }

  /// Idempotent. All staff may delete an endpoint.
  public func deleteWebhookEndpoint(_ id: ID<WebhookEndpoint>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      _ = try tx.revalidateStaff(caller)
      guard let endpoint = try tx.webhookEndpoint(id) else { return }
      try tx.delete(id)
      try tx.audit(.endpointDeleted, by: actor, subject: id.number, reason: endpoint.name)
    }
  }

  /// Delivers an event again, once, beside the order of the others. Returns the waiting redelivery, if there is one.
  public func redeliverWebhook(
    _ delivery: ID<WebhookDelivery>, of endpoint: ID<WebhookEndpoint>, by caller: Caller
  ) async throws(Refusal) -> (delivery: WebhookDelivery, isNew: Bool) {
    let actor = try caller.requireUser(.admin)
    return try await store.write { tx throws(Refusal) in
      _ = try tx.revalidateStaff(caller)
      let known = try tx.knownEndpoint(endpoint)
      guard known.owner == actor else { throw .forbidden }
      guard let earlier = try tx.webhookDelivery(delivery, of: endpoint) else { throw .notFound }
      // A reset is attempted until it is delivered, and says nothing later.
      guard known.isEnabled, let event = earlier.event else { throw .conflict }
      let pending = try tx.pendingWebhookDeliveries(of: endpoint, limit: WebhookDeliveryLimits.pending)
      if let same = pending.first(where: { $0.webhookID == earlier.webhookID }) { return (same, false) }
      guard pending.count < WebhookDeliveryLimits.pending else {
        throw .tooMany(limit: WebhookDeliveryLimits.pending)
      }
      let new = NewWebhookDelivery(
        earlier.webhookID, type: earlier.type.rawValue, event: event, attempt: earlier.attempt + 1)
      guard let added = try tx.webhookDelivery(try tx.add(new, of: endpoint, .pending), of: endpoint) else {
        throw .unavailable
      }
      return (added, true)
    }
  }

  /// The end of the log. Throws unless the caller may read all of the topics.
  private func position(before topics: [LiveTopic], for caller: Caller) async throws(Refusal) -> String {
    switch try await catchUp(topics, from: .head, PageBounds(events: 1), for: caller) {
    case .page(let page):
      guard page.lost.isEmpty else { throw .invalid("topics", .unknown) }
      return store.cursor(at: page.through)
    case .reset(_, let head): return store.cursor(at: head)
    }
  }

  /// A secret of Standard Webhooks, which opens with the same context.
  func makeSecret(for context: String) throws(Refusal) -> (secret: [UInt8], sealed: [UInt8]) {
    do {
      let secret = try SecureRandom.bytes(WebhookSecret.byteCount)
      return (secret, try store.secrets.seal(secret, for: context))
    } catch {
      throw .unavailable
    }
  }
}

extension CommunityView {
  /// All endpoints, for staff.
  public func listWebhookEndpoints(
    _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<WebhookEndpoint> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.webhookEndpoints(slice).map { $0.shown(to: caller) }
      }
    }
  }

  public func getWebhookEndpoint(
    _ id: ID<WebhookEndpoint>, for caller: Caller
  ) throws(Refusal) -> WebhookEndpoint {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      return try tx.knownEndpoint(id).shown(to: caller)
    }
  }

  /// The log of an endpoint, for its owner: it names events that other staff may not read.
  public func listWebhookDeliveries(
    of endpoint: ID<WebhookEndpoint>, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<WebhookDelivery> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      guard try tx.knownEndpoint(endpoint).owner == user else { throw .forbidden }
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.webhookDeliveries(of: endpoint, slice)
      }
    }
  }
}

extension ReadTransaction {
  fileprivate func knownEndpoint(_ id: ID<WebhookEndpoint>) throws(Refusal) -> WebhookEndpoint {
    guard let endpoint = try webhookEndpoint(id) else { throw .notFound }
    return endpoint
  }
}

/// A program of a user that receives requests at a URL.
protocol CalledProgram {
  var owner: ID<User> { get }
  var url: String { get set }
}

extension WebhookEndpoint: CalledProgram {}

extension CalledProgram {
  /// Other staff, and tokens that may not change it, see the origin of the URL alone: its path may be a secret.
  func shown(to caller: Caller) -> Self {
    guard caller.user != owner || caller.scope < .admin else { return self }
    var shown = self
    shown.url = WebhookFields.origin(of: url)
    return shown
  }
}

extension WebhookEndpointDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> WebhookEndpointDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.name = try Texts.webhookName(name, bounds) }
    check { () throws(Refusal) in try WebhookFields.checkURL(url, bounds) }
    check { () throws(Refusal) in checked.topics = try WebhookFields.topics(topics, bounds) }
    check { () throws(Refusal) in checked.events = try WebhookFields.events(events) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension WebhookEndpointChange: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> WebhookEndpointChange {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in if let name { checked.name = try Texts.webhookName(name, bounds) } }
    check { () throws(Refusal) in if let url { try WebhookFields.checkURL(url, bounds) } }
    check { () throws(Refusal) in if let topics { checked.topics = try WebhookFields.topics(topics, bounds) } }
    check { () throws(Refusal) in if let events { checked.events = try WebhookFields.events(events) } }
    try check.finish()
    return checked
  }
}

enum WebhookFields {
  static func origin(of url: String) -> String {
    url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
  }

  /// The form of the URL. The policy of outgoing requests decides which servers it may name.
  static func checkURL(_ url: String, _ bounds: Bounds) throws(Refusal) {
    guard !url.isEmpty else { throw .invalid("url", .tooShort(min: 1)) }
    guard url.utf8.count <= bounds.endpointAddressBytes else {
      throw .invalid("url", .tooLong(limit: bounds.endpointAddressBytes))
    }
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw .invalid("url", .invalid) }
  }

  /// Topics without repetitions. Signals such as presence are not in the log.
  static func topics(_ topics: [LiveTopic], _ bounds: Bounds) throws(Refusal) -> [LiveTopic] {
    guard !topics.isEmpty else { throw .invalid("topics", .tooShort(min: 1)) }
    guard topics.count <= bounds.endpointTopics else {
      throw .invalid("topics", .tooMany(limit: bounds.endpointTopics))
    }
    guard topics.allSatisfy(\.isLogged) else { throw .invalid("topics", .invalid) }
    var seen: Set<LiveTopic> = []
    return topics.filter { seen.insert($0).inserted }
  }

  /// Names of event kinds, without repetitions.
  static func events(_ events: [String]) throws(Refusal) -> [String] {
    let known = Event.Kind.allCases.map(\.name)
    guard events.allSatisfy(known.contains) else { throw .invalid("events", .notAllowed(known)) }
    var seen: Set<String> = []
    return events.filter { seen.insert($0).inserted }
  }
}
