// Warning, silencing and keeping out. Nothing of it takes away what was said: that is removed apart.

public import ParleyModel
import Storage

extension Community {
  public func warn(
    _ reference: AccountReference, _ draft: WarningDraft, by caller: Caller
  ) async throws(Refusal) -> (sanction: Sanction, isNew: Bool) {
    let actor = try caller.person(for: .write)
    let reason = try Texts.block(draft.reason, "reason", scalars: bounds.reasonScalars, least: 1)
    if let clientID = draft.clientID { try Texts.checkClientID(clientID, bounds) }
    return try await store.write { tx throws(Refusal) in
      let (person, rights) = try tx.person(reference, for: try tx.renewed(caller))
      guard rights.contains(.restrain) else { throw .forbidden }
      let account = person.account.id
      if let clientID = draft.clientID, let made = try tx.remembered(.warning, by: actor, clientID) {
        guard let earlier = try tx.sanction(ID(made.subject)) else { throw .gone }
        guard earlier.account == account, earlier.reason == reason else { throw .clientIDReused }
        return (earlier, false)
      }
      let warning = try tx.impose(NewSanction(.warning, of: account, reason: reason), by: actor)
      if let clientID = draft.clientID { try tx.remember(.warning, by: actor, clientID, subject: warning.id.number) }
      try tx.tell(account, by: actor)
      try tx.addToInbox(.warning, of: account, sanction: warning.id, by: actor)
      return (warning, true)
    }
  }

  /// Somebody reads on and says nothing, everywhere or in one forum. Once more with other words replaces it.
  public func silence(
    _ reference: AccountReference, _ draft: SilenceDraft, by caller: Caller
  ) async throws(Refusal) -> Sanction {
    let actor = try caller.person(for: .write)
    let reason = try draft.reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    return try await store.write { tx throws(Refusal) in
      let account = try tx.silenceable(reference, in: draft.forum, by: try tx.renewed(caller))
      try tx.checkEnd(draft.until)
      let new = NewSanction(.silence, of: account, in: draft.forum, until: draft.until, reason: reason)
      if let present = try tx.sanction(.silence, of: account, in: draft.forum), present.says(new) { return present }
      try tx.lift(.silence, of: account, in: draft.forum, by: actor)
      let silence = try tx.impose(new, by: actor)
      try tx.tell(account, by: actor)
      return silence
    }
  }

  /// Who is not silenced stays so.
  public func liftSilence(
    _ reference: AccountReference, in forum: ID<Forum>?, reason: String?, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    let reason = try reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    try await store.write { tx throws(Refusal) in
      let account = try tx.silenceable(reference, in: forum, by: try tx.renewed(caller))
      guard try tx.lift(.silence, of: account, in: forum, by: actor) else { return }
      try tx.audit(.silenceLifted, by: actor, subject: account.number, in: forum, reason: reason)
      try tx.tell(account, by: actor)
    }
  }

  /// Ends every way in of somebody, and lets them in by none until it is lifted or over. Once more with other words
  /// replaces it.
  public func ban(
    _ reference: AccountReference, _ draft: BanDraft, by caller: Caller
  ) async throws(Refusal) -> Sanction {
    let actor = try caller.person(for: .admin)
    let draft = try draft.checked(bounds)
    return try await store.write { tx throws(Refusal) in
      let (person, rights) = try tx.person(reference, for: try tx.renewed(caller))
      guard rights.contains(.restrain) else { throw .forbidden }
      try tx.checkEnd(draft.until)
      return try tx.ban(person, draft, by: actor)
    }
  }

  /// Who is not banned stays so.
  public func liftBan(
    _ reference: AccountReference, reason: String?, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.person(for: .admin)
    let reason = try reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    try await store.write { tx throws(Refusal) in
      let (before, rights) = try tx.person(reference, for: try tx.renewed(caller))
      guard rights.contains(.restrain) else { throw .forbidden }
      guard try tx.lift(.ban, of: before.account.id, by: actor) else { return }
      try tx.audit(.banLifted, by: actor, subject: before.account.id.number, reason: reason)
      guard before.standing?.state == .disabled else { return }
      var after = before
      after.standing?.state = .active
      _ = try tx.change(before, to: after, by: actor)
    }
  }
}

extension CommunityView {
  /// What was decided about somebody, the newest first: for the person and those who keep order. One more than `limit`,
  /// where there are more.
  public func sanctions(
    of reference: AccountReference, before: ID<Sanction>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Sanction] {
    _ = try caller.person()
    return try read { tx throws(Refusal) in
      let (person, rights) = try tx.person(reference, for: caller)
      guard rights.contains(.inspect) else { throw .forbidden }
      return try tx.sanctions(of: person.account.id, before: before, limit: limit + 1)
    }
  }
}

extension WriteTransaction {
  fileprivate func checkEnd(_ until: Int64?) throws(Refusal) {
    if let until, until <= now { throw .invalid("until", .invalid) }
  }

  /// Whom the caller may silence there.
  fileprivate func silenceable(
    _ reference: AccountReference, in forum: ID<Forum>?, by caller: Caller
  ) throws(Refusal) -> ID<Account> {
    let (person, rights) = try person(reference, for: caller)
    let account = person.account.id
    guard account != caller.account else { throw .forbidden }
    guard let forum else {
      guard rights.contains(.restrain) else { throw .forbidden }
      return account
    }
    let standing: ForumStanding
    do throws(Refusal) {
      standing = try require(.moderate, caller, in: forum)
    } catch .notFound {
      throw .invalid("forum", .unknown)
    }
    let leads = try role(of: account, in: forum).map { $0 != .member } ?? false
    let mayManage = Permissions.rights(of: caller.role, in: standing).contains(.manage)
    let isBelow = !person.account.role.keepsOrder && (!leads || mayManage)
    guard rights.contains(.restrain) || isBelow else { throw .forbidden }
    return account
  }

  fileprivate func impose(_ sanction: NewSanction, by actor: ID<Account>) throws(Refusal) -> Sanction {
    guard let made = try self.sanction(try add(sanction, by: actor)) else { throw .unavailable }
    try audit(
      sanction.kind.audited, by: actor, subject: sanction.account.number, in: sanction.forum, reason: sanction.reason)
    return made
  }

  /// One who may be banned.
  func ban(_ before: Person, _ draft: BanDraft, by actor: ID<Account>) throws(Refusal) -> Sanction {
    let account = before.account.id
    let new = NewSanction(.ban, of: account, until: draft.until, reason: draft.reason)
    let present = try sanction(.ban, of: account)
    switch before.standing?.state ?? .active {
    case .active, .deactivated: break
    // Who was kept out without a ban is kept out for good.
    case .disabled: guard present != nil else { throw .conflict }
    case .waiting, .left, .erased: throw .conflict
    }
    if draft.closesInvite { try closeInvite(of: account, draft.reason, by: actor) }
    if let present, present.says(new) { return present }
    if before.looksAfter {
      guard try hasOwner(but: account) else { throw .lastOwner }
    }
    try lift(.ban, of: account, by: actor)
    let ban = try impose(new, by: actor)
    try endAll(of: account)
    var after = before
    after.standing?.state = .disabled
    _ = try change(before, to: after, by: actor)
    return ban
  }

  private func closeInvite(of account: ID<Account>, _ reason: String?, by actor: ID<Account>) throws(Refusal) {
    guard let invite = try invite(thatBrought: account), try revoke(invite: invite, descendants: false) > 0 else {
      return
    }
    try audit(.inviteRevoked, by: actor, subject: invite.number, reason: reason)
  }
}

extension Sanction {
  fileprivate func says(_ new: NewSanction) -> Bool { until == new.until && reason == new.reason }
}

extension Sanction.Kind {
  fileprivate var audited: AuditedAction {
    switch self {
    case .ban: .personBanned
    case .silence: .personSilenced
    case .warning: .personWarned
    }
  }
}

extension BanDraft {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> BanDraft {
    var checked = self
    checked.reason = try reason.map { reason throws(Refusal) in try Texts.reason(reason, bounds) }
    return checked
  }
}

extension Texts {
  /// Why something is done.
  static func reason(_ text: String, _ bounds: Bounds) throws(Refusal) -> String {
    try block(text, "reason", scalars: bounds.reasonScalars)
  }
}
