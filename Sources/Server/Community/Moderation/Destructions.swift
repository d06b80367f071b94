// Destroys a message, a file or a user for good, for owners: illegal content that must leave the server at once. The audit
// log has the id and the reason, never the content.

public import ParleyModel
import Storage

extension Community {
  /// Destroys content and removes its bytes from the files of the server. Idempotent: a repeated request purges again.
  public func destroyContent(_ draft: DestructionDraft, by caller: Caller) async throws(Refusal) -> Destruction {
    let actor = try caller.requireUser(.admin)
    let reason = try Texts.block(draft.reason, "reason", scalars: bounds.reasonScalars, atLeast: 1)
    let count = [draft.message != nil, draft.file != nil, draft.user != nil].count { $0 }
    guard count > 0 else { throw .invalid("message", .missing) }
    guard count == 1 else { throw .invalid(draft.message == nil ? "user" : "message", .mismatch) }
    let job = try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard caller.role == .owner else { throw .forbidden }
      try tx.requireProof(of: caller)
      if let message = draft.message { return try tx.destroyMessage(message, reason, by: actor) }
      if let file = draft.file { return try tx.destroyFile(file, reason, by: actor) }
      guard let user = draft.user else { throw .invalid("message", .missing) }
      return try tx.destroyUser(user, reason, by: caller)
    }
    let isPurged = try await store.purgeDestroyed(after: job)
    return Destruction(isPurged: isPurged, copies: try await store.copies())
  }
}

extension WriteTransaction {
  fileprivate func destroyMessage(
    _ id: ID<Message>, _ reason: String, by actor: ID<User>
  ) throws(Refusal) -> ID<Job>? {
    guard let message = try messages([id]).first else { throw .notFound }
    let job = try destroyMessage(id, by: actor)
    try audit(
      .messageDestroyed, by: actor, subject: id.number, in: try conversation(message.conversation)?.forum,
      reason: reason)
    return job
  }

  fileprivate func destroyFile(_ id: ID<File>, _ reason: String, by actor: ID<User>) throws(Refusal) -> ID<Job>? {
    // A destroyed file leaves nothing but its entry in the audit log. Other files with its content may still be left.
    if try keptFile(id) == nil, try wasAudited(.fileDestroyed, of: id.number) { return try unfinishedFileDestruction() }
    let job = try destroyFile(id, by: actor)
    try audit(.fileDestroyed, by: actor, subject: id.number, reason: reason)
    return job
  }

  fileprivate func destroyUser(
    _ reference: UserReference, _ reason: String, by caller: Caller
  ) throws(Refusal) -> ID<Job>? {
    let actor = try caller.requireUser()
    let (user, _) = try user(reference, for: caller)
    let id = user.summary.id
    if user.isActiveOwner {
      guard try hasOwner(except: id) else { throw .lastOwner }
    }
    let (_, job) = try depart(id, as: .erased, destroyingFiles: true, by: actor)
    try audit(.userDestroyed, by: actor, subject: id.number, reason: reason)
    return job
  }
}
