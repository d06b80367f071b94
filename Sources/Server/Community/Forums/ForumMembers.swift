// Forum membership: joining, adding, removing and the effects on conversations.

public import ParleyModel
import Storage

extension Community {
  /// Adds a member or changes its role. Readers may add themselves, except guests.
  public func setForumMember(
    _ reference: UserReference, _ role: ForumRole?, of id: ID<Forum>, by caller: Caller
  ) async throws(Refusal) -> ForumMember {
    let actor = try caller.requireUser(.write)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let standing = try tx.require(.see, caller, in: id)
      let rights = Permissions.rights(of: caller.role, in: standing)
      let member = try tx.user(reference, for: caller).user.summary
      let user = member.id
      let old = try tx.role(of: user, in: id)
      let role = role ?? old ?? .member
      let joins = user == actor && role == .member && rights.contains(.join)
      guard joins || rights.contains(.manage) || old == role && user == actor else { throw .forbidden }
      guard try tx.isActive(user) else { throw .notFound }
      let start = rights.contains(.manage) ? nil : try tx.historyStart(of: id, for: caller)
      if try tx.setMember(user, role, of: id, after: start, by: actor) {
        if old == .admin { try tx.promoteNextAdmin(of: id, excluding: user) }
        // Staff without read access may still join, or read with the token of a bot; the audit log records it.
        let isOutside = !rights.contains(.read) || standing.visibility == .private && standing.role == nil
        if user == actor || member.role == .bot, isOutside {
          try tx.audit(.forumEntered, by: actor, subject: id.number, in: id)
        }
        if user != actor, role != old ?? .member {
          try tx.audit(.memberChanged, by: actor, subject: user.number, in: id, changes: [role.change(from: old)])
        }
      }
      guard let stored = try tx.member(user, of: id) else { throw .unavailable }
      return stored
    }
  }

  /// Members may leave. Removing others needs the right to manage. No-op if not a member.
  public func removeForumMember(
    _ reference: UserReference, of id: ID<Forum>, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let user = try tx.user(reference, for: caller).user.summary.id
      let role = try tx.role(of: user, in: id)
      // A former member may no longer see the forum, so a repeated request succeeds here.
      if user == actor, role == nil { return }
      try tx.require(user == actor ? .see : .manage, caller, in: id)
      guard try tx.removeMember(user, of: id, by: actor) else { return }
      if role == .admin { try tx.promoteNextAdmin(of: id, excluding: user) }
      try tx.removeUnreadable(of: id, user, by: actor)
      if user != actor { try tx.audit(.memberRemoved, by: actor, subject: user.number, in: id) }
    }
  }
}

extension CommunityView {
  /// The members by id, for readers and managers.
  public func listForumMembers(
    of id: ID<Forum>, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<ForumMember> {
    try read { tx throws(Refusal) in
      let standing = try tx.require(.see, caller, in: id)
      guard !Permissions.rights(of: caller.role, in: standing).isDisjoint(with: [.read, .manage]) else {
        throw .forbidden
      }
      return try ListPage(page, by: { ListKey($0.user.id) }) { slice throws(Refusal) in
        try tx.members(of: id, slice)
      }
    }
  }
}

extension ReadTransaction {
  /// The first readable message after joining without being added.
  fileprivate func historyStart(of id: ID<Forum>, for caller: Caller) throws(Refusal) -> ID<Message>? {
    guard let starts = try historyStarts(of: id) else { throw .notFound }
    return Permissions.includes(.users, caller.role) ? starts.users : starts.anyone
  }
}

// MARK: Losing read access

extension JobKind {
  static let forumLosses = JobKind(
    "forum.losses",
    progress: { (tx, losses: ParticipationCleanup) throws(Refusal) in
      try tx.share(of: losses.forum, upTo: losses.conversation, inside: losses.user.number > 0 ? 0 : nil)
    }
  ) { (tx, losses: inout ParticipationCleanup) throws(Refusal) in
    try tx.removeNextChunk(&losses)
  }
}

extension WriteTransaction {
  /// Participants, and conversations without any, per job chunk.
  private static let chunkSize = 200

  /// Removes participants without read access to the forum, in a stored job.
  @discardableResult
  func startAccessCleanup(of forum: ID<Forum>, by actor: ID<User>) throws(Refusal) -> ID<Job> {
    try startJob(
      kind: JobKind.forumLosses.name, subject: forum.number, by: actor, state: ParticipationCleanup(forum, by: actor))
  }

  /// The same for one user, in this transaction if few conversations are affected.
  func removeUnreadable(
    of forum: ID<Forum>, _ user: ID<User>, by actor: ID<User>
  ) throws(Refusal) {
    guard try !mayRead(forum, user, role: try self.user(user)?.summary.role) else { return }
    let removed = try removeFromConversations(of: forum, user, limit: Self.chunkSize, by: actor)
    guard removed == Self.chunkSize else { return }
    try startAccessCleanup(of: forum, by: actor)
  }

  func mayRead(_ forum: ID<Forum>, _ user: ID<User>, role: Role?) throws(Refusal) -> Bool {
    guard let standing = try standing(of: user, in: forum) else { return false }
    return Permissions.rights(of: role, in: standing).contains(.read)
  }

  /// Runs one chunk. Returns whether the job is finished.
  fileprivate func removeNextChunk(_ losses: inout ParticipationCleanup) throws(Refusal) -> Bool {
    let isDeleted = try forum(losses.forum) == nil
    var left = Self.chunkSize
    while left > 0 {
      if losses.user.number == 0 {
        guard let next = try conversation(of: losses.forum, after: losses.conversation) else { return true }
        losses.conversation = next
      }
      let participants = try participations(in: losses.conversation, after: losses.user, limit: left)
      for participant in participants where try !mayRead(losses.forum, participant.user, role: participant.role) {
        try removeParticipation(losses.conversation, participant.user, by: losses.actor)
        if isDeleted { try removeDeletedForumMember(participant.user, of: losses.forum, by: losses.actor) }
      }
      losses.user = participants.count == left ? participants.last?.user ?? ID(0) : ID(0)
      left -= max(participants.count, 1)
    }
    return false
  }
}
