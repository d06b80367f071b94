public import ParleyModel
import Storage

/// The result of creating an invite.
public struct CreatedInvite: Sendable {
  public let invite: Invite
  /// Nil for a repeated request: the code is returned only once.
  public let code: String?
  /// False if an earlier request with the same `client_id` created it.
  public let isNew: Bool
}

extension Community {
  public func createInvite(_ draft: InviteDraft, by caller: Caller) async throws(Refusal) -> CreatedInvite {
    try draft.check(bounds)
    let creator = try caller.requireUser(draft.scope)
    let secret = try Secret.make(byteCount: Secret.codeByteCount)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if let earlier = try tx.invite(draft, by: creator) {
        return CreatedInvite(invite: earlier, code: nil, isNew: false)
      }
      guard Permissions.mayInvite(as: draft.role, by: caller.role, try tx.settings().mayInvite) else {
        throw .forbidden
      }
      if draft.role.isModerator || draft.claims != nil { try tx.requireProof(of: caller) }
      if let expiresAt = draft.expiresAt, expiresAt <= tx.now { throw .invalid("expires_at", .invalid) }
      if let forum = draft.forum { try tx.checkInviteForum(in: forum, caller) }
      let claimed = try draft.claims.map { claims throws(Refusal) in try tx.imported(claims, caller) }
      guard try tx.openInviteCount(of: creator) < bounds.invites else { throw .tooMany(limit: bounds.invites) }
      let id = try tx.add(
        NewInvite(
          digest: secret.digest, createdBy: creator, role: draft.role, forum: draft.forum, claims: claimed,
          maxUses: claimed == nil ? draft.maxUses : 1, expiresAt: draft.expiresAt))
      if let clientID = draft.clientID { try tx.remember(.invite, by: creator, clientID, subject: id.number) }
      guard let created = try tx.invite(id) else { throw .unavailable }
      return CreatedInvite(invite: created, code: secret.text, isNew: true)
    }
  }

  /// Revokes an invite. With `descendants`, also the invites of users who joined through it, recursively. No-op if
  /// already revoked.
  ///
  /// With `bans`, users who joined through the revoked invites are banned as far as they rank below the caller, many of
  /// them by a stored job.
  public func revokeInvite(
    _ id: ID<Invite>, descendants: Bool, _ closing: InviteClosing = InviteClosing(), by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(closing.bans ? .admin : .write)
    let reason = try closing.reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let invite = try tx.invite(id, for: caller)
      guard caller.role?.isModerator == true || !(descendants || closing.bans) else { throw .forbidden }
      if try tx.revoke(invite: invite.id, descendants: descendants) > 0, invite.createdBy != actor || descendants {
        try tx.audit(.inviteRevoked, by: actor, subject: invite.id.number, reason: reason)
      }
      guard closing.bans else { return }
      var ban = BranchBan(invite.id, descendants: descendants, reason: reason, by: actor)
      guard try !tx.banNextChunk(&ban) else { return }
      _ = try tx.startJob(kind: JobKind.branchBan.name, subject: invite.id.number, by: actor, state: ban)
    }
  }
}

extension CommunityView {
  /// The caller's invites, or everyone's for a moderator.
  public func listInvites(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<Invite> {
    let user = try caller.requireUser()
    let seesAll = caller.role?.isModerator == true
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.invites(by: seesAll ? nil : user, slice)
      }
    }
  }

  /// An invite with the users that signed up with it.
  public func getInvite(_ id: ID<Invite>, for caller: Caller) throws(Refusal) -> Invite {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      var invite = try tx.invite(id, for: caller)
      invite.usedBy = try tx.users(invitedBy: id, limit: Community.maxListedUses)
      return invite
    }
  }
}

extension Community {
  /// The maximum number of users listed in an invite.
  fileprivate static let maxListedUses = 200
}

extension InviteDraft {
  /// Inviting staff or a user that exists takes the scope that changing a role takes.
  fileprivate var scope: Scope {
    guard claims == nil else { return .admin }
    switch role {
    case .owner, .admin, .moderator: return .admin
    case .member, .guest, .bot: return .write
    }
  }

  fileprivate func check(_ bounds: Bounds) throws(Refusal) {
    if let maxUses, !(1...bounds.inviteUses).contains(maxUses) {
      throw .invalid("max_uses", .outOfRange(1...bounds.inviteUses))
    }
    if role == .owner || role == .bot {
      let allowed = Role.allCases.filter { $0 != .owner && $0 != .bot }
      throw .invalid("role", .notAllowed(allowed.map(\.rawValue)))
    }
    if let clientID { try Texts.checkClientID(clientID, bounds) }
  }
}

extension ReadTransaction {
  /// Whether the invite is open and its creator could still create it. The invite of a banned or demoted user is void, and
  /// one into a forum whose members its creator no longer manages.
  func isUsable(_ invite: Invite) throws(Refusal) -> Bool {
    guard invite.isOpen(at: now), let creator = try user(invite.createdBy), creator.standing?.state == .active else {
      return false
    }
    let role = creator.summary.role
    guard Permissions.mayInvite(as: invite.role, by: role, try settings().mayInvite) else { return false }
    guard let forum = invite.forum, let standing = try standing(of: invite.createdBy, in: forum) else { return true }
    return Permissions.mayInvite(into: standing, by: role)
  }

  /// An invite as its creator and moderators see it.
  fileprivate func invite(_ id: ID<Invite>, for caller: Caller) throws(Refusal) -> Invite {
    guard let invite = try invite(id), invite.createdBy == caller.user || caller.role?.isModerator == true else {
      throw .notFound
    }
    return invite
  }

  /// The invite that an earlier request with the same `client_id` created.
  fileprivate func invite(_ draft: InviteDraft, by creator: ID<User>) throws(Refusal) -> Invite? {
    guard let clientID = draft.clientID, let previous = try remembered(.invite, by: creator, clientID) else {
      return nil
    }
    guard let earlier = try invite(ID(previous.subject)) else { throw .gone }
    guard earlier.role == draft.role, earlier.forum == draft.forum else { throw .clientIDReused }
    return earlier
  }

  /// Adding members to a private forum needs the right to manage it, and the scope `admin`.
  fileprivate func checkInviteForum(in forum: ID<Forum>, _ caller: Caller) throws(Refusal) {
    do throws(Refusal) {
      let standing = try require(.see, caller, in: forum)
      guard Permissions.mayInvite(into: standing, by: caller.role) else { throw .forbidden }
      if standing.visibility == .private { _ = try caller.requireUser(.admin) }
    } catch .notFound {
      throw .invalid("forum_id", .unknown)
    }
  }

  /// The imported user that the invite is for. The caller must have the right to govern it.
  fileprivate func imported(_ reference: UserReference, _ caller: Caller) throws(Refusal) -> ID<User> {
    let found: (user: User, rights: UserRights)
    do throws(Refusal) { found = try user(reference, for: caller) } catch .notFound {
      throw .invalid("user_id", .unknown)
    }
    guard found.rights.contains(.govern) else { throw .forbidden }
    guard found.user.standing?.isImported == true else { throw .invalid("user_id", .mismatch) }
    return found.user.summary.id
  }

  /// The facts of an invite that its code reveals. Nil if no invite has the code.
  func purpose(ofInvite code: Secret) throws(Refusal) -> LinkPurpose? {
    guard let invite = try invite(withDigest: code.digest) else { return nil }
    guard try isUsable(invite), let inviter = try user(invite.createdBy)?.summary else { throw .gone }
    return LinkPurpose(
      kind: .invite, user: try invite.claims.flatMap { id throws(Refusal) in try user(id)?.summary },
      expiresAt: invite.expiresAt,
      invite: Welcome(
        inviter: inviter, role: invite.role, forum: invite.forum,
        forumTitle: try invite.forum.flatMap { forum throws(Refusal) in try title(of: forum) }))
  }
}

// MARK: Banning an invite's descendants

extension JobKind {
  static let branchBan = JobKind("invite.ban") { (tx, ban: inout BranchBan) throws(Refusal) in try tx.banNextChunk(&ban)
  }
}

extension WriteTransaction {
  /// Users per job chunk.
  private static let bansPerChunk = 100

  /// Runs one chunk. Returns whether the job is finished.
  fileprivate func banNextChunk(_ ban: inout BranchBan) throws(Refusal) -> Bool {
    guard let actor = try user(ban.actor), actor.standing?.state == .active else { return true }
    let users = try users(
      inBranchOf: ban.invite, descendants: ban.includesDescendants, after: ban.user, limit: Self.bansPerChunk)
    for userID in users {
      ban.user = userID
      guard userID != ban.actor, let user = try user(userID), let state = user.standing?.state,
        state == .active || state == .deactivated
      else { continue }
      let standing = UserStanding(role: user.summary.role, state: state)
      guard Permissions.rights(of: actor.summary.role, over: standing).contains(.sanction) else { continue }
      if user.isActiveOwner, try !hasOwner(except: userID) { continue }
      _ = try self.ban(user, BanDraft(reason: ban.reason), by: ban.actor)
    }
    return users.count < Self.bansPerChunk
  }
}
