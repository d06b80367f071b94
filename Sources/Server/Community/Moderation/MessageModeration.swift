// Removing and restoring single messages.

public import ParleyModel
import Storage

extension Community {
  /// Removes a message. It can be restored for a while.
  public func removeMessage(
    _ id: ID<Message>, reason: String?, by caller: Caller
  ) async throws(Refusal) -> MessageView {
    let actor = try caller.requireUser(.write)
    if let reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars) }
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      guard found.rights.contains(.moderate) else { throw .forbidden }
      let revision = try tx.remove(id, by: actor, reason: reason)
      if revision != found.message.revision {
        let forum = try tx.forum(of: found.message.conversation)
        try tx.audit(.messageRemoved, by: actor, subject: id.number, in: forum, reason: reason)
      }
      return try tx.currentView(id, by: caller, bounds)
    }
  }

  /// Restores a removed message.
  public func restoreMessage(_ id: ID<Message>, reason: String?, by caller: Caller) async throws(Refusal) -> MessageView
  {
    let actor = try caller.requireUser(.write)
    if let reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars) }
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      guard found.rights.contains(.moderate) else { throw .forbidden }
      let revision = try tx.restore(id, by: actor)
      if revision != found.message.revision {
        let forum = try tx.forum(of: found.message.conversation)
        try tx.audit(.messageRestored, by: actor, subject: id.number, in: forum, reason: reason)
      }
      return try tx.currentView(id, by: caller, bounds)
    }
  }
}
