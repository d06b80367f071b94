// Warnings, silences and bans. They do not remove messages.

public import ParleyModel
import Storage

extension Community {
  public func warnUser(
    _ reference: UserReference, _ draft: WarningDraft, by caller: Caller
  ) async throws(Refusal) -> (sanction: Sanction, isNew: Bool) {
    let actor = try caller.requireUser(.write)
    let reason = try draft.checked(bounds).reason
    return try await store.write { tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      guard rights.contains(.sanction) else { throw .forbidden }
      let userID = user.summary.id
      if let clientID = draft.clientID, let added = try tx.remembered(.warning, by: actor, clientID) {
        guard let earlier = try tx.sanction(ID(added.subject)) else { throw .gone }
        guard earlier.user == userID, earlier.reason == reason else { throw .clientIDReused }
        return (earlier, false)
      }
      let warning = try tx.impose(NewSanction(.warning, of: userID, reason: reason), by: actor)
      if let clientID = draft.clientID { try tx.remember(.warning, by: actor, clientID, subject: warning.id.number) }
      try tx.logPrivateChange(of: userID, by: actor)
      try tx.addNotification(.warning, of: userID, sanction: warning.id, by: actor)
      return (warning, true)
    }
  }

  /// Silences a user on the site or in one forum. A repeated silence replaces the previous one.
  public func silenceUser(
    _ reference: UserReference, _ draft: SilenceDraft, by caller: Caller
  ) async throws(Refusal) -> Sanction {
    let actor = try caller.requireUser(.write)
    let reason = try draft.reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    return try await store.write { tx throws(Refusal) in
      let user = try tx.userToSilence(reference, in: draft.forum, by: try tx.reloadCaller(caller))
      try tx.checkEnd(draft.until)
      let new = NewSanction(.silence, of: user, in: draft.forum, until: draft.until, reason: reason)
      if let present = try tx.sanction(.silence, of: user, in: draft.forum), present.matches(new) { return present }
      try tx.lift(.silence, of: user, in: draft.forum, by: actor)
      let silence = try tx.impose(new, by: actor)
      try tx.logPrivateChange(of: user, by: actor)
      return silence
    }
  }

  /// Ends a silence. No-op if there is none.
  public func unsilenceUser(
    _ reference: UserReference, in forum: ID<Forum>?, reason: String?, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    let reason = try reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    try await store.write { tx throws(Refusal) in
      let user = try tx.userToSilence(reference, in: forum, by: try tx.reloadCaller(caller))
      guard try tx.lift(.silence, of: user, in: forum, by: actor) else { return }
      try tx.audit(.silenceLifted, by: actor, subject: user.number, in: forum, reason: reason)
      try tx.logPrivateChange(of: user, by: actor)
    }
  }

  /// Bans a user: revokes all credentials and refuses sign-in until the ban ends. A repeated ban replaces the previous
  /// one.
  public func banUser(
    _ reference: UserReference, _ draft: BanDraft, by caller: Caller
  ) async throws(Refusal) -> Sanction {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    return try await store.write { tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      guard rights.contains(.sanction) else { throw .forbidden }
      if user.summary.role.isStaff { try tx.requireProof(of: caller) }
      try tx.checkEnd(draft.until)
      return try tx.ban(user, draft, by: actor)
    }
  }

  /// Ends a ban. No-op if there is none.
  public func unbanUser(
    _ reference: UserReference, reason: String?, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    let reason = try reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    try await store.write { tx throws(Refusal) in
      let (before, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      guard rights.contains(.sanction) else { throw .forbidden }
      guard try tx.lift(.ban, of: before.summary.id, by: actor) else { return }
      try tx.audit(.banLifted, by: actor, subject: before.summary.id.number, reason: reason)
      guard before.standing?.state == .disabled else { return }
      var after = before
      after.standing?.state = .active
      _ = try tx.change(before, to: after, by: actor)
    }
  }
}

extension CommunityView {
  /// The sanctions of a user, newest first, for the user and moderators.
  public func listSanctions(
    of reference: UserReference, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<Sanction> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: caller)
      guard rights.contains(.inspect) else { throw .forbidden }
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.sanctions(of: user.summary.id, slice)
      }
    }
  }
}

extension WriteTransaction {
  fileprivate func checkEnd(_ until: Int64?) throws(Refusal) {
    if let until, until <= now { throw .invalid("until", .invalid) }
  }

  /// Finds a user that the caller may silence.
  fileprivate func userToSilence(
    _ reference: UserReference, in forum: ID<Forum>?, by caller: Caller
  ) throws(Refusal) -> ID<User> {
    let (user, rights) = try user(reference, for: caller)
    let userID = user.summary.id
    guard userID != caller.user else { throw .forbidden }
    guard let forum else {
      guard rights.contains(.sanction) else { throw .forbidden }
      return userID
    }
    let standing: ForumStanding
    do throws(Refusal) {
      standing = try require(.moderate, caller, in: forum)
    } catch .notFound {
      throw .invalid("forum", .unknown)
    }
    let leads = try role(of: userID, in: forum).map { $0 != .member } ?? false
    let mayManage = Permissions.rights(of: caller.role, in: standing).contains(.manage)
    let isBelow = !user.summary.role.isModerator && (!leads || mayManage)
    guard rights.contains(.sanction) || isBelow else { throw .forbidden }
    return userID
  }

  fileprivate func impose(_ sanction: NewSanction, by actor: ID<User>) throws(Refusal) -> Sanction {
    guard let added = try self.sanction(try add(sanction, by: actor)) else { throw .unavailable }
    try audit(
      sanction.kind.audited, by: actor, subject: sanction.user.number, in: sanction.forum, reason: sanction.reason)
    return added
  }

  /// Bans a user after the rights were checked.
  func ban(_ before: User, _ draft: BanDraft, by actor: ID<User>) throws(Refusal) -> Sanction {
    let user = before.summary.id
    let new = NewSanction(.ban, of: user, until: draft.until, reason: draft.reason)
    let present = try sanction(.ban, of: user)
    switch before.standing?.state ?? .active {
    case .active, .deactivated: break
    // A disabled user without a ban stays disabled.
    case .disabled: guard present != nil else { throw .conflict }
    case .pending, .left, .erased: throw .conflict
    }
    if draft.closesInvite { try closeInvite(of: user, draft.reason, by: actor) }
    if let present, present.matches(new) { return present }
    if before.isActiveOwner {
      guard try hasOwner(except: user) else { throw .lastOwner }
    }
    try lift(.ban, of: user, by: actor)
    let ban = try impose(new, by: actor)
    try endAllSessions(of: user)
    try revokeWebhooks(of: user)
    var after = before
    after.standing?.state = .disabled
    _ = try change(before, to: after, by: actor)
    return ban
  }

  private func closeInvite(of user: ID<User>, _ reason: String?, by actor: ID<User>) throws(Refusal) {
    guard let invite = try invite(signUpOf: user), try revoke(invite: invite, descendants: false) > 0 else {
      return
    }
    try audit(.inviteRevoked, by: actor, subject: invite.number, reason: reason)
  }
}

extension Sanction {
  fileprivate func matches(_ new: NewSanction) -> Bool { until == new.until && reason == new.reason }
}

extension Sanction.Kind {
  fileprivate var audited: AuditedAction {
    switch self {
    case .ban: .userBanned
    case .silence: .userSilenced
    case .warning: .userWarned
    }
  }
}

extension WarningDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> WarningDraft {
    var check = FieldChecks()
    check { () throws(Refusal) in
      _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars, atLeast: 1)
    }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return self
  }
}

extension BanDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> BanDraft {
    var checked = self
    checked.reason = try reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    return checked
  }
}

extension Texts {
  static func reason(_ text: String, _ bounds: Bounds) throws(Refusal) -> String {
    try block(text, "reason", scalars: bounds.reasonScalars)
  }
}
