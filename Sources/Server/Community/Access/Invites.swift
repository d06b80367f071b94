public import ParleyModel
import Storage

/// An invite that was asked for.
public struct MadeInvite: Sendable {
  public let invite: Invite
  /// False when the same request had made it before.
  public let isNew: Bool
}

/// What an invite shows: all of it to its maker and to those who keep order, the welcome to everyone else.
public enum ShownInvite: Sendable {
  case whole(Invite)
  case welcome(Welcome)
}

extension Community {
  public func invite(_ draft: InviteDraft, by caller: Caller) async throws(Refusal) -> MadeInvite {
    let maker = try caller.person(for: .write)
    try draft.check(bounds)
    let secret = try Secret.make(byteCount: Secret.codeByteCount)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if let earlier = try tx.invite(draft, by: maker) { return MadeInvite(invite: earlier, isNew: false) }
      guard Permissions.mayInvite(as: draft.role, by: caller.role, try tx.settings().mayInvite) else {
        throw .forbidden
      }
      if let expiresAt = draft.expiresAt, expiresAt <= tx.now { throw .invalid("expires_at", .invalid) }
      if let forum = draft.forum { try tx.checkLanding(in: forum, caller) }
      let claimed = try draft.claims.map { claims throws(Refusal) in try tx.imported(claims, caller) }
      guard try tx.openInviteCount(of: maker) < bounds.invites else { throw .tooMany(limit: bounds.invites) }
      let id = try tx.add(
        NewInvite(
          code: secret.text, digest: secret.digest, createdBy: maker, role: draft.role, forum: draft.forum,
          claims: claimed, mostUses: claimed == nil ? draft.mostUses : 1, expiresAt: draft.expiresAt))
      if let clientID = draft.clientID { try tx.remember(.invite, by: maker, clientID, subject: id.number) }
      guard let made = try tx.invite(id) else { throw .unavailable }
      return MadeInvite(invite: made, isNew: true)
    }
  }

  /// Lets nobody in by it any more; with `descendants` nor by the invites of those who came by it, and so on. One that was
  /// revoked stays so.
  ///
  /// With `bans`, whoever came by those that are closed is banned, too, as far as they are below the caller: at once, or,
  /// where they are many, by a stored job.
  public func revoke(
    invite code: String, descendants: Bool, _ closing: InviteClosing = InviteClosing(), by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.person(for: closing.bans ? .admin : .write)
    let reason = try closing.reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    guard let secret = Secret(shown: code) else { throw .notFound }
    try await store.write { tx throws(Refusal) in
      let role = try tx.renewed(caller).role
      guard let invite = try tx.invite(withDigest: secret.digest) else { throw .notFound }
      let keepsOrder = role?.keepsOrder == true
      guard keepsOrder || invite.createdBy == actor, keepsOrder || !(descendants || closing.bans) else {
        throw .forbidden
      }
      if try tx.revoke(invite: invite.id, descendants: descendants) > 0, invite.createdBy != actor || descendants {
        try tx.audit(.inviteRevoked, by: actor, subject: invite.id.number, reason: reason)
      }
      guard closing.bans else { return }
      var ban = BranchBan(invite.id, descendants: descendants, reason: reason, by: actor)
      guard try !tx.banMore(&ban) else { return }
      _ = try tx.startJob(kind: JobKind.branchBan.name, subject: invite.id.number, by: actor, state: ban)
    }
  }
}

extension CommunityView {
  /// The caller's own; those who keep order see everyone's. One more than `limit`, where there are more.
  public func invites(before: ID<Invite>?, limit: Int, for caller: Caller) throws(Refusal) -> [Invite] {
    let account = try caller.person()
    let seesAll = caller.role?.keepsOrder == true
    return try read { tx throws(Refusal) in
      try tx.invites(by: seesAll ? nil : account, before: before, limit: limit + 1)
    }
  }

  /// For who holds the code. One that lets nobody in any more is `gone`, but for those who see all of it.
  public func invite(_ code: String, for caller: Caller) throws(Refusal) -> ShownInvite {
    guard let secret = Secret(shown: code) else { throw .notFound }
    return try read { tx throws(Refusal) in
      guard let invite = try tx.invite(withDigest: secret.digest) else { throw .notFound }
      let isOwn = caller.account == invite.createdBy
      guard !isOwn, caller.role?.keepsOrder != true else {
        var invite = invite
        invite.usedBy = try tx.people(invitedBy: invite.id, limit: Community.shownUses)
        return .whole(invite)
      }
      guard try tx.isGood(invite) else { throw .gone }
      return .welcome(try tx.welcome(to: invite))
    }
  }
}

extension Community {
  /// How many of those who came by an invite it names.
  fileprivate static let shownUses = 200
}

extension InviteDraft {
  fileprivate func check(_ bounds: Bounds) throws(Refusal) {
    if let mostUses, !(1...bounds.inviteUses).contains(mostUses) {
      throw .invalid("max_uses", .outOfRange(1...bounds.inviteUses))
    }
    if role == .owner || role == .bot { throw .invalid("role", .invalid) }
    if let clientID { try Texts.checkClientID(clientID, bounds) }
  }
}

extension ReadTransaction {
  /// An invite lets in for as long as its maker could make it: who was kept out, or lost a role, brings nobody.
  func isGood(_ invite: Invite) throws(Refusal) -> Bool {
    guard invite.isOpen(at: now), let maker = try person(invite.createdBy), maker.standing?.state == .active else {
      return false
    }
    return Permissions.mayInvite(as: invite.role, by: maker.account.role, try settings().mayInvite)
  }

  /// What the same request made before.
  fileprivate func invite(_ draft: InviteDraft, by maker: ID<Account>) throws(Refusal) -> Invite? {
    guard let clientID = draft.clientID, let made = try remembered(.invite, by: maker, clientID) else { return nil }
    guard let earlier = try invite(ID(made.subject)) else { throw .gone }
    guard earlier.role == draft.role, earlier.forum == draft.forum else { throw .clientIDReused }
    return earlier
  }

  /// Into a private forum only who says who is in it brings somebody.
  fileprivate func checkLanding(in forum: ID<Forum>, _ caller: Caller) throws(Refusal) {
    do throws(Refusal) {
      let standing = try require(.see, caller, in: forum)
      if standing.visibility == .private { try require(.manage, caller, in: forum) }
    } catch .notFound {
      throw .invalid("forum_id", .unknown)
    }
  }

  /// The person whom an invite shall let in: one who came with an import, and whom the caller looks after.
  fileprivate func imported(_ reference: AccountReference, _ caller: Caller) throws(Refusal) -> ID<Account> {
    let found: (person: Person, rights: AccountRights)
    do throws(Refusal) { found = try person(reference, for: caller) } catch .notFound {
      throw .invalid("user_id", .unknown)
    }
    guard found.rights.contains(.govern) else { throw .forbidden }
    guard found.person.standing?.isImported == true else { throw .invalid("user_id", .mismatch) }
    return found.person.account.id
  }

  fileprivate func welcome(to invite: Invite) throws(Refusal) -> Welcome {
    guard let inviter = try person(invite.createdBy)?.account else { throw .gone }
    return Welcome(
      inviter: inviter, role: invite.role, forum: invite.forum,
      forumTitle: try invite.forum.flatMap { forum throws(Refusal) in try title(of: forum) },
      claims: try invite.claims.flatMap { id throws(Refusal) in try person(id)?.account }, expiresAt: invite.expiresAt)
  }
}

// MARK: Cutting off a branch

extension JobKind {
  static let branchBan = JobKind("invite.ban") { (tx, ban: inout BranchBan) throws(Refusal) in try tx.banMore(&ban) }
}

extension WriteTransaction {
  /// How many people a chunk looks at.
  private static let bannedAtOnce = 100

  /// One chunk; whether nobody is left.
  fileprivate func banMore(_ ban: inout BranchBan) throws(Refusal) -> Bool {
    guard let actor = try person(ban.actor), actor.standing?.state == .active else { return true }
    let people = try people(
      broughtBy: ban.invite, descendants: ban.includesDescendants, after: ban.account, limit: Self.bannedAtOnce)
    for account in people {
      ban.account = account
      guard account != ban.actor, let person = try person(account), let state = person.standing?.state,
        state == .active || state == .deactivated
      else { continue }
      let standing = AccountStanding(role: person.account.role, state: state)
      guard Permissions.rights(of: actor.account.role, over: standing).contains(.restrain) else { continue }
      if person.looksAfter, try !hasOwner(but: account) { continue }
      _ = try self.ban(person, BanDraft(reason: ban.reason), by: ban.actor)
    }
    return people.count < Self.bannedAtOnce
  }
}
