public import ParleyModel
import Storage

/// The result of creating an invite.
public struct CreatedInvite: Sendable {
  public let invite: Invite
  /// False if an earlier request with the same `client_id` created it.
  public let isNew: Bool
}

/// An invite as the caller may see it: complete for its creator and moderators, the welcome for everyone else.
public enum InviteView: Sendable {
  case whole(Invite)
  case welcome(Welcome)
}

extension Community {
  public func createInvite(_ draft: InviteDraft, by caller: Caller) async throws(Refusal) -> CreatedInvite {
    let creator = try caller.requireUser(.write)
    try draft.check(bounds)
    let secret = try Secret.make(byteCount: Secret.codeByteCount)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if let earlier = try tx.invite(draft, by: creator) { return CreatedInvite(invite: earlier, isNew: false) }
      guard Permissions.mayInvite(as: draft.role, by: caller.role, try tx.settings().mayInvite) else {
        throw .forbidden
      }
      if let expiresAt = draft.expiresAt, expiresAt <= tx.now { throw .invalid("expires_at", .invalid) }
      if let forum = draft.forum { try tx.checkInviteForum(in: forum, caller) }
      let claimed = try draft.claims.map { claims throws(Refusal) in try tx.imported(claims, caller) }
      guard try tx.openInviteCount(of: creator) < bounds.invites else { throw .tooMany(limit: bounds.invites) }
      let id = try tx.add(
        NewInvite(
          code: secret.text, digest: secret.digest, createdBy: creator, role: draft.role, forum: draft.forum,
          claims: claimed, maxUses: claimed == nil ? draft.maxUses : 1, expiresAt: draft.expiresAt))
      if let clientID = draft.clientID { try tx.remember(.invite, by: creator, clientID, subject: id.number) }
      guard let created = try tx.invite(id) else { throw .unavailable }
      return CreatedInvite(invite: created, isNew: true)
    }
  }

  /// Revokes an invite. With `descendants`, also the invites of users who joined through it, recursively. No-op if
  /// already revoked.
  ///
  /// With `bans`, users who joined through the revoked invites are banned as far as they rank below the caller, many of
  /// them by a stored job.
  public func revokeInvite(
    _ code: String, descendants: Bool, _ closing: InviteClosing = InviteClosing(), by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(closing.bans ? .admin : .write)
    let reason = try closing.reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    guard let secret = Secret(parsing: code) else { throw .notFound }
    try await store.write { tx throws(Refusal) in
      let role = try tx.reloadCaller(caller).role
      guard let invite = try tx.invite(withDigest: secret.digest) else { throw .notFound }
      let isModerator = role?.isModerator == true
      guard isModerator || invite.createdBy == actor, isModerator || !(descendants || closing.bans) else {
        throw .forbidden
      }
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
  /// The caller's invites, or everyone's for a moderator. Returns one more than `limit` if there are more.
  public func listInvites(before: ID<Invite>?, limit: Int, for caller: Caller) throws(Refusal) -> [Invite] {
    let user = try caller.requireUser()
    let seesAll = caller.role?.isModerator == true
    return try read { tx throws(Refusal) in
      try tx.invites(by: seesAll ? nil : user, before: before, limit: limit + 1)
    }
  }

  /// Looks up an invite by its code. An invite that is not open is `gone`, except for its creator and moderators.
  public func getInvite(_ code: String, for caller: Caller) throws(Refusal) -> InviteView {
    guard let secret = Secret(parsing: code) else { throw .notFound }
    return try read { tx throws(Refusal) in
      guard let invite = try tx.invite(withDigest: secret.digest) else { throw .notFound }
      let isOwn = caller.user == invite.createdBy
      guard !isOwn, caller.role?.isModerator != true else {
        var invite = invite
        invite.usedBy = try tx.users(invitedBy: invite.id, limit: Community.maxListedUses)
        return .whole(invite)
      }
      guard try tx.isUsable(invite) else { throw .gone }
      return .welcome(try tx.welcome(to: invite))
    }
  }
}

extension Community {
  /// The maximum number of users listed in an invite.
  fileprivate static let maxListedUses = 200
}

extension InviteDraft {
  fileprivate func check(_ bounds: Bounds) throws(Refusal) {
    if let maxUses, !(1...bounds.inviteUses).contains(maxUses) {
      throw .invalid("max_uses", .outOfRange(1...bounds.inviteUses))
    }
    if role == .owner || role == .bot { throw .invalid("role", .invalid) }
    if let clientID { try Texts.checkClientID(clientID, bounds) }
  }
}

extension ReadTransaction {
  /// Whether the invite is open and its creator could still create it. The invite of a banned or demoted user is void.
  func isUsable(_ invite: Invite) throws(Refusal) -> Bool {
    guard invite.isOpen(at: now), let creator = try user(invite.createdBy), creator.standing?.state == .active else {
      return false
    }
    return Permissions.mayInvite(as: invite.role, by: creator.summary.role, try settings().mayInvite)
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

  /// Adding members to a private forum needs the right to manage it.
  fileprivate func checkInviteForum(in forum: ID<Forum>, _ caller: Caller) throws(Refusal) {
    do throws(Refusal) {
      let standing = try require(.see, caller, in: forum)
      if standing.visibility == .private { try require(.manage, caller, in: forum) }
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

  fileprivate func welcome(to invite: Invite) throws(Refusal) -> Welcome {
    guard let inviter = try user(invite.createdBy)?.summary else { throw .gone }
    return Welcome(
      inviter: inviter, role: invite.role, forum: invite.forum,
      forumTitle: try invite.forum.flatMap { forum throws(Refusal) in try title(of: forum) },
      claims: try invite.claims.flatMap { id throws(Refusal) in try user(id)?.summary }, expiresAt: invite.expiresAt)
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
