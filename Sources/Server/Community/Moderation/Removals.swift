// Removes all messages of an author since a time, and restores them. One transaction's worth is removed at once, the
// rest by a stored job.

public import ParleyModel
import Storage

/// The result of creating a removal.
public struct CreatedRemoval: Sendable {
  public let removal: Removal
  /// False if an earlier request with the same `client_id` created it.
  public let isNew: Bool
}

extension Community {
  /// Removes the messages of a user, or of all users who joined by an invite, since a time, wherever the caller may
  /// remove messages.
  public func createRemoval(_ draft: RemovalDraft, by caller: Caller) async throws(Refusal) -> CreatedRemoval {
    let actor = try caller.requireUser(.write)
    let reason = try draft.reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    if let clientID = draft.clientID { try Texts.checkClientID(clientID, bounds) }
    guard draft.author != nil || draft.invite != nil else { throw .invalid("author", .missing) }
    guard draft.author == nil || draft.invite == nil else { throw .invalid("invite", .mismatch) }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if let clientID = draft.clientID, let previous = try tx.remembered(.removal, by: actor, clientID) {
        guard let earlier = try tx.removal(ID(previous.subject)) else { throw .gone }
        guard earlier.since == draft.since, earlier.forum == draft.forum else { throw .clientIDReused }
        return CreatedRemoval(removal: earlier, isNew: false)
      }
      var new = NewRemoval(since: draft.since, reason: reason)
      (new.author, new.invite) = try tx.authors(draft, by: caller)
      new.forum = draft.forum
      let id = try tx.add(new, by: actor)
      if let clientID = draft.clientID { try tx.remember(.removal, by: actor, clientID, subject: id.number) }
      try tx.audit(.removalMade, by: actor, subject: id.number, in: draft.forum, reason: reason)
      var progress = RemovalProgress(id)
      if try !tx.removeNextChunk(&progress) {
        _ = try tx.startJob(kind: JobKind.removal.name, subject: id.number, by: actor, state: progress)
      }
      guard let removal = try tx.removal(id) else { throw .unavailable }
      return CreatedRemoval(removal: removal, isNew: true)
    }
  }

  /// Restores the removed messages that were not changed since. Idempotent.
  public func undoRemoval(_ id: ID<Removal>, reason: String?, by caller: Caller) async throws(Refusal) -> Removal {
    let actor = try caller.requireUser(.write)
    let reason = try reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    return try await store.write { tx throws(Refusal) in
      let removal = try tx.removal(id, for: try tx.reloadCaller(caller))
      guard try tx.markUndone(id, by: actor) else { return removal }
      try tx.audit(.removalUndone, by: actor, subject: id.number, in: removal.forum, reason: reason)
      var progress = RestorationProgress(id, by: actor)
      if try !tx.restoreNextChunk(&progress, readableBy: tx.mayRead) {
        _ = try tx.startJob(kind: JobKind.restoration.name, subject: id.number, by: actor, state: progress)
      }
      guard let undone = try tx.removal(id) else { throw .unavailable }
      return undone
    }
  }
}

extension CommunityView {
  public func getRemoval(_ id: ID<Removal>, for caller: Caller) throws(Refusal) -> Removal {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in try tx.removal(id, for: caller) }
  }
}

extension ReadTransaction {
  /// Finds a removal, for moderators of the site or of its forum.
  fileprivate func removal(_ id: ID<Removal>, for caller: Caller) throws(Refusal) -> Removal {
    guard let removal = try removal(id) else { throw .notFound }
    guard caller.role?.isModerator != true else { return removal }
    guard let forum = removal.forum, let standing = try standing(of: caller, in: forum),
      Permissions.rights(of: caller.role, in: standing).contains(.moderate)
    else { throw .notFound }
    return removal
  }

  /// The authors whose messages are removed. A forum's removal needs a moderator of the forum, others need one of the
  /// site.
  fileprivate func authors(
    _ draft: RemovalDraft, by caller: Caller
  ) throws(Refusal) -> (ID<User>?, ID<Invite>?) {
    if let forum = draft.forum {
      do throws(Refusal) { try require(.moderate, caller, in: forum) } catch .notFound {
        throw .invalid("forum", .unknown)
      }
    }
    if let id = draft.invite {
      guard caller.role?.isModerator == true else { throw .forbidden }
      guard try invite(id) != nil else { throw .invalid("invite", .unknown) }
      return (nil, id)
    }
    guard let reference = draft.author else { throw .invalid("author", .missing) }
    let found: (user: User, rights: UserRights)
    do throws(Refusal) { found = try user(reference, for: caller) } catch .notFound {
      throw .invalid("author", .unknown)
    }
    // The messages of a former user may still exist.
    let author = found.user.summary.id
    let isBelow = found.rights.contains(.sanction) || found.user.standing?.state.hasGone == true
    guard draft.forum != nil || caller.role?.isModerator == true && (isBelow || author == caller.user) else {
      throw .forbidden
    }
    return (author, nil)
  }
}

// MARK: The job

extension JobKind {
  static let removal = JobKind("removal") { (tx, progress: inout RemovalProgress) throws(Refusal) in
    try tx.removeNextChunk(&progress)
  }

  static let restoration = JobKind("restoration") { (tx, progress: inout RestorationProgress) throws(Refusal) in
    try tx.restoreNextChunk(&progress, readableBy: tx.mayRead)
  }
}

extension WriteTransaction {
  /// Messages, and authors without any, per job chunk.
  private static let chunkSize = 100

  /// Runs one chunk. Returns whether the job is finished.
  fileprivate func removeNextChunk(_ progress: inout RemovalProgress) throws(Refusal) -> Bool {
    guard let removal = try removal(progress.removal), removal.undoneAt == nil else { return true }
    // Stops if the moderator no longer has the rights.
    guard let actor = try user(removal.createdBy), actor.standing?.state == .active else {
      try recordProgress(0, removedBy: removal.id, isFinished: true)
      return true
    }
    var scope = RemovalScope(removal, by: actor.summary)
    let start = changeCount
    var left = Self.chunkSize
    var count = 0
    var isFinished = false
    while left > 0, changeCount - start < Self.changesPerChunk {
      guard let author = try nextAuthor(of: removal, after: progress.author) else {
        isFinished = true
        break
      }
      let found = try scope.includes(author, self) ? candidates(by: author, before: progress.message, limit: left) : []
      var seen = 0
      for candidate in found where changeCount - start < Self.changesPerChunk {
        seen += 1
        progress.message = candidate.id
        guard candidate.isLive, try scope.includes(candidate, self) else { continue }
        try remove(candidate.id, by: removal.createdBy, reason: removal.reason, partOf: removal.id)
        count += 1
      }
      if seen == found.count, found.count < left {
        progress.author = author
        progress.message = nil
      }
      left -= max(found.count, 1)
    }
    try recordProgress(count, removedBy: removal.id, isFinished: isFinished)
    return isFinished
  }

  private func nextAuthor(of removal: Removal, after last: ID<User>) throws(Refusal) -> ID<User>? {
    guard let invite = removal.invite else { return last.number == 0 ? removal.author : nil }
    return try users(inBranchOf: invite, descendants: true, after: last, limit: 1).first
  }
}

/// The authors and conversations that a removal may touch.
private struct RemovalScope {
  private let removal: Removal
  private let actor: UserSummary
  private var reachable: [ID<Conversation>: Bool] = [:]

  init(_ removal: Removal, by actor: UserSummary) {
    self.removal = removal
    self.actor = actor
  }

  /// Users of an invite branch are included only if they rank below the caller.
  func includes(_ author: ID<User>, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    guard removal.invite != nil, actor.role != .owner else { return true }
    return try tx.user(author)?.summary.role.isBelow(actor.role) ?? false
  }

  mutating func includes(_ candidate: RemovalCandidate, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    guard candidate.createdAt >= removal.since else { return false }
    if let known = reachable[candidate.conversation] { return known }
    let isReached = try reaches(candidate.conversation, tx)
    reachable[candidate.conversation] = isReached
    return isReached
  }

  private func reaches(_ conversation: ID<Conversation>, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    if let forum = removal.forum, try tx.forum(of: conversation) != forum { return false }
    guard let standing = try tx.standing(of: actor.id, in: conversation) else { return false }
    return Permissions.rights(of: actor.role, in: standing).contains(.moderate)
  }
}
