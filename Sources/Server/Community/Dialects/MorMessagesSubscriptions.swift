// Subscriptions of MorMessages: each permits its user a WebSocket with the messages of one room, for an hour.

public import ParleyModel
public import Storage

extension Community {
  /// - Parameter id: a new UUID.
  public func subscribe(
    to forum: ID<Forum>, named topic: String, id: String, by caller: Caller
  ) async throws(Refusal) -> MorMessagesSubscription {
    let user = try caller.requireUser(.read)
    let limit = bounds.dialectSubscriptions
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      try tx.require([.see, .read], caller, in: forum)
      guard try tx.forum(forum) != nil else { throw .notFound }
      guard try tx.morMessagesSubscriptions(of: user).count < limit else { throw .tooMany(limit: limit) }
      let subscription = MorMessagesSubscription(
        id: id, user: user, forum: forum, topic: topic, expiresAt: tx.now + MorMessagesSubscription.lifetime)
      try tx.add(subscription)
      return subscription
    }
  }

  /// Lets a subscription of the caller last for an hour from now.
  public func renewSubscription(_ id: String, by caller: Caller) async throws(Refusal) -> MorMessagesSubscription {
    let user = try caller.requireUser(.read)
    return try await store.write { tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      guard var subscription = try tx.morMessagesSubscription(id), subscription.user == user else { throw .notFound }
      subscription.expiresAt = tx.now + MorMessagesSubscription.lifetime
      try tx.renew(subscription)
      return subscription
    }
  }

  /// Idempotent. Subscriptions of others stay.
  public func deleteSubscription(_ id: String, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.read)
    try await store.write { tx throws(Refusal) in try tx.deleteMorMessagesSubscription(id, of: user) }
  }
}

extension CommunityView {
  /// The subscriptions of the caller that have not expired.
  public func listSubscriptions(for caller: Caller) throws(Refusal) -> [MorMessagesSubscription] {
    let user = try caller.requireUser(.read)
    return try read { tx throws(Refusal) in try tx.morMessagesSubscriptions(of: user) }
  }

  /// A subscription of the caller that has not expired.
  public func getSubscription(_ id: String, for caller: Caller) throws(Refusal) -> MorMessagesSubscription {
    let user = try caller.requireUser(.read)
    return try read { tx throws(Refusal) in
      guard let subscription = try tx.morMessagesSubscription(id), subscription.user == user else { throw .notFound }
      return subscription
    }
  }
}
