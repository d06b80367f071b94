// Taking away all that somebody said since a time, and putting it back. What is much is done by a stored job; as much as
// fits a transaction is done before the answer.

public import ParleyModel
import Storage

/// A removal that was asked for.
public struct MadeRemoval: Sendable {
  public let removal: Removal
  /// False when the same request had made it before.
  public let isNew: Bool
}

extension Community {
  /// Takes away what one person, or everyone who came by an invite, has said since a time: wherever the caller could take
  /// it away one by one.
  public func remove(_ draft: RemovalDraft, by caller: Caller) async throws(Refusal) -> MadeRemoval {
    let actor = try caller.person(for: .write)
    let reason = try draft.reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    if let clientID = draft.clientID { try Texts.checkClientID(clientID, bounds) }
    guard draft.author != nil || draft.invite != nil else { throw .invalid("author", .missing) }
    guard draft.author == nil || draft.invite == nil else { throw .invalid("invite", .mismatch) }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if let clientID = draft.clientID, let made = try tx.remembered(.removal, by: actor, clientID) {
        guard let earlier = try tx.removal(ID(made.subject)) else { throw .gone }
        guard earlier.since == draft.since, earlier.forum == draft.forum else { throw .clientIDReused }
        return MadeRemoval(removal: earlier, isNew: false)
      }
      var new = NewRemoval(since: draft.since, reason: reason)
      (new.author, new.invite) = try tx.authors(draft, by: caller)
      new.forum = draft.forum
      let id = try tx.add(new, by: actor)
      if let clientID = draft.clientID { try tx.remember(.removal, by: actor, clientID, subject: id.number) }
      try tx.audit(.removalMade, by: actor, subject: id.number, in: draft.forum, reason: reason)
      var progress = RemovalProgress(id)
      if try !tx.removeMore(&progress) {
        _ = try tx.startJob(kind: JobKind.removal.name, subject: id.number, by: actor, state: progress)
      }
      guard let removal = try tx.removal(id) else { throw .unavailable }
      return MadeRemoval(removal: removal, isNew: true)
    }
  }

  /// Puts back what a removal took away, as far as nobody has dealt with it since. Once more changes nothing.
  public func undo(_ id: ID<Removal>, reason: String?, by caller: Caller) async throws(Refusal) -> Removal {
    let actor = try caller.person(for: .write)
    let reason = try reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    return try await store.write { tx throws(Refusal) in
      let removal = try tx.removal(id, for: try tx.renewed(caller))
      guard try tx.markUndone(id, by: actor) else { return removal }
      try tx.audit(.removalUndone, by: actor, subject: id.number, in: removal.forum, reason: reason)
      var progress = RestorationProgress(id, by: actor)
      if try !tx.restoreMore(&progress) {
        _ = try tx.startJob(kind: JobKind.restoration.name, subject: id.number, by: actor, state: progress)
      }
      guard let undone = try tx.removal(id) else { throw .unavailable }
      return undone
    }
  }
}

extension CommunityView {
  public func removal(_ id: ID<Removal>, for caller: Caller) throws(Refusal) -> Removal {
    _ = try caller.person()
    return try read { tx throws(Refusal) in try tx.removal(id, for: caller) }
  }
}

extension ReadTransaction {
  /// For those who keep order, at the place or in the forum that it was for.
  fileprivate func removal(_ id: ID<Removal>, for caller: Caller) throws(Refusal) -> Removal {
    guard let removal = try removal(id) else { throw .notFound }
    guard caller.role?.keepsOrder != true else { return removal }
    guard let forum = removal.forum, let standing = try standing(of: caller.account, in: forum),
      Permissions.rights(of: caller.role, in: standing).contains(.moderate)
    else { throw .notFound }
    return removal
  }

  /// Whose messages are to go. In a forum who keeps order there decides, everywhere who keeps order at the place.
  fileprivate func authors(
    _ draft: RemovalDraft, by caller: Caller
  ) throws(Refusal) -> (ID<Account>?, ID<Invite>?) {
    if let forum = draft.forum {
      do throws(Refusal) { try require(.moderate, caller, in: forum) } catch .notFound {
        throw .invalid("forum", .unknown)
      }
    }
    if let code = draft.invite {
      guard caller.role?.keepsOrder == true else { throw .forbidden }
      guard let secret = Secret(shown: code), let invite = try invite(withDigest: secret.digest) else {
        throw .invalid("invite", .unknown)
      }
      return (nil, invite.id)
    }
    guard let reference = draft.author else { throw .invalid("author", .missing) }
    let found: (person: Person, rights: AccountRights)
    do throws(Refusal) { found = try person(reference, for: caller) } catch .notFound {
      throw .invalid("author", .unknown)
    }
    // Of who has gone the words may still be there.
    let author = found.person.account.id
    let isBelow = found.rights.contains(.restrain) || found.person.standing?.state.hasGone == true
    guard draft.forum != nil || caller.role?.keepsOrder == true && (isBelow || author == caller.account) else {
      throw .forbidden
    }
    return (author, nil)
  }
}

// MARK: The work

extension JobKind {
  static let removal = JobKind("removal") { (tx, progress: inout RemovalProgress) throws(Refusal) in
    try tx.removeMore(&progress)
  }

  static let restoration = JobKind("restoration") { (tx, progress: inout RestorationProgress) throws(Refusal) in
    try tx.restoreMore(&progress)
  }
}

extension WriteTransaction {
  /// How many messages, and how many people without any, a chunk looks at.
  private static let lookedAtOnce = 100

  /// One chunk; whether nothing is left.
  fileprivate func removeMore(_ progress: inout RemovalProgress) throws(Refusal) -> Bool {
    guard let removal = try removal(progress.removal), removal.undoneAt == nil else { return true }
    // Who began it may do it no longer: then it ends where it is.
    guard let actor = try person(removal.createdBy), actor.standing?.state == .active else {
      try note(0, removedBy: removal.id, isFinished: true)
      return true
    }
    var reach = RemovalReach(removal, by: actor.account)
    let start = changeCount
    var left = Self.lookedAtOnce
    var count = 0
    var isFinished = false
    while left > 0, changeCount - start < Self.changesOfAChunk {
      guard let author = try nextAuthor(of: removal, after: progress.author) else {
        isFinished = true
        break
      }
      let found = try reach.includes(author, self) ? candidates(by: author, before: progress.message, limit: left) : []
      var seen = 0
      for candidate in found where changeCount - start < Self.changesOfAChunk {
        seen += 1
        progress.message = candidate.id
        guard candidate.isLive, try reach.includes(candidate, self) else { continue }
        try remove(candidate.id, by: removal.createdBy, reason: removal.reason, partOf: removal.id)
        count += 1
      }
      if seen == found.count, found.count < left {
        progress.author = author
        progress.message = nil
      }
      left -= max(found.count, 1)
    }
    try note(count, removedBy: removal.id, isFinished: isFinished)
    return isFinished
  }

  private func nextAuthor(of removal: Removal, after last: ID<Account>) throws(Refusal) -> ID<Account>? {
    guard let invite = removal.invite else { return last.number == 0 ? removal.author : nil }
    return try people(broughtBy: invite, descendants: true, after: last, limit: 1).first
  }
}

/// Whose messages, and where, a removal may take away.
private struct RemovalReach {
  private let removal: Removal
  private let actor: Account
  private var places: [ID<Conversation>: Bool] = [:]

  init(_ removal: Removal, by actor: Account) {
    self.removal = removal
    self.actor = actor
  }

  /// Of a branch, nobody who keeps order as much as who asked.
  func includes(_ author: ID<Account>, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    guard removal.invite != nil, actor.role != .owner else { return true }
    return try tx.person(author)?.account.role.isBelow(actor.role) ?? false
  }

  mutating func includes(_ candidate: RemovalCandidate, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    guard candidate.createdAt >= removal.since else { return false }
    if let known = places[candidate.conversation] { return known }
    let isReached = try reaches(candidate.conversation, tx)
    places[candidate.conversation] = isReached
    return isReached
  }

  private func reaches(_ conversation: ID<Conversation>, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    if let forum = removal.forum, try tx.forum(of: conversation) != forum { return false }
    guard let standing = try tx.standing(of: actor.id, in: conversation) else { return false }
    return Permissions.rights(of: actor.role, in: standing).contains(.moderate)
  }
}
