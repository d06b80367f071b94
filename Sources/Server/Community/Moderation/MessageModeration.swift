// What those who keep order do with what others said.

public import ParleyModel
import Storage

extension Community {
  /// Takes a message away from everyone; it can be restored for a while.
  public func remove(
    _ id: ID<Message>, reason: String?, by caller: Caller
  ) async throws(Refusal) -> SeenMessage {
    let actor = try caller.person(for: .write)
    if let reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars) }
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let found = try tx.message(id, for: caller)
      guard found.rights.contains(.moderate) else { throw .forbidden }
      let revision = try tx.remove(id, by: actor, reason: reason)
      if revision != found.message.revision {
        let forum = try tx.forum(of: found.message.conversation)
        try tx.audit(.messageRemoved, by: actor, subject: id.number, in: forum, reason: reason)
      }
      return try tx.seenNow(id, by: caller, bounds)
    }
  }

  /// Puts back what a moderator removed.
  public func restore(_ id: ID<Message>, reason: String?, by caller: Caller) async throws(Refusal) -> SeenMessage {
    let actor = try caller.person(for: .write)
    if let reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars) }
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let found = try tx.message(id, for: caller)
      guard found.rights.contains(.moderate) else { throw .forbidden }
      let revision = try tx.restore(id, by: actor)
      if revision != found.message.revision {
        let forum = try tx.forum(of: found.message.conversation)
        try tx.audit(.messageRestored, by: actor, subject: id.number, in: forum, reason: reason)
      }
      return try tx.seenNow(id, by: caller, bounds)
    }
  }
}
