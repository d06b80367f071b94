// Conversations that the caller has put off.

public import ParleyModel
import Storage

extension Community {
  /// Omits a conversation from the inbox until a time. A notification about the conversation, or reading it, lists it again.
  public func setLater(
    until: Int64, in id: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) -> Later {
    let user = try caller.requireUser(.write)
    return try await store.write { tx throws(Refusal) in
      try tx.require(.read, try tx.reloadCaller(caller), in: id)
      guard until > tx.now, until - tx.now <= Later.maxDuration else { throw .invalid("until", .invalid) }
      try tx.setLater(until: until, id, of: user)
      return Later(id, until: until)
    }
  }

  /// Lists a conversation in the inbox again.
  public func endLater(in id: ID<Conversation>, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      try tx.require(.read, try tx.reloadCaller(caller), in: id)
      try tx.setLater(until: nil, id, of: user)
    }
  }
}
