// Removing and restoring single messages.

public import ParleyModel
import Storage

extension Community {
  /// Removes a message. It can be restored for a while.
  public func removeMessage(
    _ id: ID<Message>, reason: String?, by caller: Caller
  ) async throws(Refusal) -> MessageView {
    try await moderate(id, .messageRemoved, reason, by: caller) { tx, actor throws(Refusal) in
      try tx.remove(id, by: actor, reason: reason)
    }
  }

  /// Restores a removed message.
  public func restoreMessage(_ id: ID<Message>, reason: String?, by caller: Caller) async throws(Refusal) -> MessageView
  {
    try await moderate(id, .messageRestored, reason, by: caller) { tx, actor throws(Refusal) in
      try tx.restore(id, by: actor, readableBy: tx.mayRead)
    }
  }

  /// - Parameter change: returns the revision after it; an unchanged message gets no audit entry.
  private func moderate(
    _ id: ID<Message>, _ action: AuditedAction, _ reason: String?, by caller: Caller,
    _ change: @escaping @Sendable (WriteTransaction, ID<User>) throws(Refusal) -> Int
  ) async throws(Refusal) -> MessageView {
    let actor = try caller.requireUser(.write)
    if let reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars) }
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      guard found.rights.contains(.moderate) else { throw .forbidden }
      let revision = try change(tx, actor)
      if revision != found.message.revision {
        let forum = try tx.forum(of: found.message.conversation)
        try tx.audit(action, by: actor, subject: id.number, in: forum, reason: reason)
      }
      return try tx.currentView(id, by: caller, bounds)
    }
  }
}
