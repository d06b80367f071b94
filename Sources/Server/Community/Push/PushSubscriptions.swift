// Subscriptions of Web Push: devices that receive notifications while the app is closed.

import ParleyCrypto
public import ParleyModel
import Storage
import WebPush

extension Community {
  /// Subscribes the device of the caller's session. A device that subscribes again keeps its subscription.
  public func createPushSubscription(
    _ draft: PushSubscriptionDraft, over service: PushService, by caller: Caller
  ) async throws(Refusal) -> (subscription: PushSubscription, isNew: Bool) {
    let user = try caller.requireUser(.write)
    let draft = try draft.checked(bounds)
    let keys = try draft.checkedKeys(over: service)
    guard let session = caller.session else { throw .unauthenticated }
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.revalidate(caller)
      let new = NewPushSubscription(
        user: user, session: session, name: draft.name, endpoint: draft.endpoint, point: keys.point, auth: keys.auth,
        language: draft.language)
      let id: ID<PushSubscription>
      let earlier = try tx.pushSubscription(at: draft.endpoint)
      if let earlier, earlier.user == user {
        id = earlier.id
        try tx.change(id, to: new)
      } else {
        // Another user has signed in on the device.
        if let earlier { try tx.deletePushSubscription(earlier.id) }
        guard try tx.pushSubscriptionCount(of: user) < bounds.pushSubscriptions else {
          throw .tooMany(limit: bounds.pushSubscriptions)
        }
        id = try tx.add(new)
      }
      guard let created = try tx.pushSubscription(id, of: user, current: caller.session) else { throw .unavailable }
      return (subscription: created, isNew: earlier?.user != user)
    }
  }

  /// No-op if already deleted.
  public func deletePushSubscription(_ id: ID<PushSubscription>, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      guard try tx.pushSubscription(id, of: user, current: nil) != nil else { return }
      try tx.deletePushSubscription(id)
    }
  }

  /// Sends a message to a device at once. Returns the answer of its push service.
  public func testPushSubscription(
    _ id: ID<PushSubscription>, over service: PushService, by caller: Caller
  ) async throws(Refusal) -> PushTest {
    let user = try caller.requireUser(.write)
    let found = try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      (subscription: try tx.storedPushSubscription(id, of: user), site: try tx.settings().name, now: tx.now)
    }
    guard let subscription = found.subscription else { throw .notFound }
    let payload = PushPayload(
      title: found.site, body: service.texts.say(.test, subscription.language), navigate: "\(service.origin)/",
      tag: "test", badge: 0)
    let request: PushRequest
    do throws(CryptoError) {
      request = try PushRequest(
        payload, to: subscription.endpoint, PushKeys(point: subscription.point, auth: subscription.auth),
        signedBy: service.vapid, topic: nil, urgency: .high, timeToLive: 300, now: found.now / 1_000)
    } catch { throw .unavailable }
    switch await service.send(request) {
    case .accepted:
      try await store.write { tx throws(Refusal) in try tx.noteSent(id) }
      return PushTest(.accepted)
    case .gone:
      try await store.write { tx throws(Refusal) in try tx.deletePushSubscription(id) }
      return PushTest(.gone)
    case .tooLarge: return PushTest(.refused, status: 413)
    case .busy, .unreachable: return PushTest(.unavailable)
    case .refused(let status, let words):
      return PushTest(.refused, status: status, detail: words.isEmpty ? nil : words)
    }
  }
}

extension CommunityView {
  public func listPushSubscriptions(
    _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<PushSubscription> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.pushSubscriptions(of: user, slice, current: caller.session)
      }
    }
  }
}

extension PushSubscriptionDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> PushSubscriptionDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.name = try Texts.line(name, "name", scalars: bounds.labelScalars) }
    check { () throws(Refusal) in
      guard endpoint.unicodeScalars.count <= bounds.addressScalars else {
        throw .invalid("endpoint", .tooLong(limit: bounds.addressScalars))
      }
    }
    check { () throws(Refusal) in
      guard let language else { return }
      guard language.utf8.count <= 35, language.utf8.allSatisfy({ $0 > 44 && $0 < 123 }) else {
        throw .invalid("language", .invalid)
      }
    }
    check { () throws(Refusal) in
      guard PushKeys.point(keys.p256dh) != nil else { throw .invalid("keys.p256dh", .invalid) }
    }
    check { () throws(Refusal) in
      guard PushKeys.secret(keys.auth) != nil else { throw .invalid("keys.auth", .invalid) }
    }
    try check.finish()
    return checked
  }

  fileprivate func checkedKeys(over service: PushService) throws(Refusal) -> PushKeys {
    switch service.examine(endpoint) {
    case .accepted: break
    case .invalid: throw .invalid("endpoint", .invalid)
    case .refused: throw .invalid("endpoint", .unreachable)
    }
    guard let point = PushKeys.point(keys.p256dh), let auth = PushKeys.secret(keys.auth) else {
      throw .invalid("keys", .invalid)
    }
    return PushKeys(point: point, auth: auth)
  }
}
