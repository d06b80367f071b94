// People as others see them, and what they and the staff change of it.

public import ParleyModel
import Storage

extension ReadTransaction {
  /// The caller as they are in this transaction, which may come after a change of theirs.
  func renewed(_ caller: Caller) throws(Refusal) -> Caller {
    guard let id = caller.account else { return caller }
    guard let person = try person(id), person.standing?.state == .active else { throw .unauthenticated }
    return Caller(account: id, role: person.account.role, scope: caller.scope, session: caller.session)
  }

  /// The caller as they are now, where they are still let in the way they came.
  func admitted(_ caller: Caller) throws(Refusal) -> Caller {
    guard let session = caller.session else { return try renewed(caller) }
    guard let known = try openSession(session) else { throw .unauthenticated }
    return Caller(account: known.account, role: known.role, scope: known.scope, session: session)
  }

  /// All of a person, and what the caller may do with them. Whom they may not see is not there.
  func person(
    _ reference: AccountReference, for caller: Caller
  ) throws(Refusal) -> (person: Person, rights: AccountRights) {
    let id = try account(reference, for: caller)
    guard let person = try person(id) else { throw .notFound }
    let rights = Permissions.rights(of: caller.role, over: try standing(of: caller, and: person))
    guard rights.contains(.see) else { throw .notFound }
    return (person, rights)
  }

  private func standing(of caller: Caller, and person: Person) throws(Refusal) -> AccountStanding {
    var standing = AccountStanding(
      role: person.account.role, state: person.standing?.state ?? .active, isSelf: caller.account == person.account.id)
    if standing.isSelf { return standing }
    if let account = caller.account { standing.isBlocked = try isBlocked(account, person.account.id) }
    // Only those who don't see everyone have to be asked about.
    guard caller.role == nil || caller.role == .guest else { return standing }
    standing.isInPublic = try isInPublic(person.account.id)
    if let account = caller.account { standing.isTogether = try areTogether(account, person.account.id) }
    return standing
  }
}

extension Person {
  /// What is left of it for who has these rights.
  func seen(with rights: AccountRights) -> Person {
    // That somebody has gone, everyone sees: it stands in the place of the name.
    let isOpen = rights.contains(.inspect) || standing?.state.hasGone == true
    return Person(account, standing: isOpen ? standing : nil, own: rights.contains(.own) ? own : nil)
  }
}

extension CommunityView {
  public func person(_ reference: AccountReference, for caller: Caller) throws(Refusal) -> Person {
    try read { tx throws(Refusal) in
      let (person, rights) = try tx.person(reference, for: caller)
      return try tx.withEntities(person.seen(with: rights))
    }
  }

  /// Who is here and has a name that begins so: one more than `limit`, where there are more.
  public func people(
    namePrefix: String, after name: String?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Person] {
    _ = try caller.person()
    guard let role = caller.role, role != .guest else { throw .forbidden }
    return try read { tx throws(Refusal) in
      try tx.people(namePrefix: namePrefix, after: name, limit: limit + 1).map { $0.seen(by: caller, role) }
    }
  }

  /// Who stands so with the place, for those who keep order.
  public func people(
    in state: AccountState, after id: ID<Account>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Person] {
    _ = try caller.person()
    guard let role = caller.role, role.keepsOrder else { throw .forbidden }
    return try read { tx throws(Refusal) in
      try tx.people(in: state, after: id, limit: limit + 1).map { $0.seen(by: caller, role) }
    }
  }
}

extension Person {
  /// For somebody who sees everyone.
  func seen(by caller: Caller, _ role: Role) -> Person {
    let standing = AccountStanding(
      role: account.role, state: standing?.state ?? .active, isSelf: caller.account == account.id)
    return seen(with: Permissions.rights(of: role, over: standing))
  }
}

extension Community {
  public func change(
    _ reference: AccountReference, _ change: AccountChange, by caller: Caller
  ) async throws(Refusal) -> Person {
    let actor = try caller.person(for: .write)
    let change = try change.checked(bounds)
    let addresses = try change.addresses.map { texts throws(Refusal) in try ContactAddress.all(texts, bounds) }
    let spareKey = try Secret.make()
    defer { if change.showsPresence == false { hub.hide(actor) } }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let (before, rights) = try tx.person(reference, for: caller)
      guard rights.allow(change), !change.governs || caller.scope >= .admin else { throw .forbidden }
      if let revision = change.ifRevision, revision != before.account.revision { throw .conflict }
      var after = before
      try after.apply(change)
      if after.account.role != before.account.role {
        guard Permissions.mayGive(after.account.role, by: caller.role) else { throw .forbidden }
      }
      if after.account.name != before.account.name, let name = after.account.name {
        let holder = try tx.account(named: name)
        guard holder == nil || holder == before.account.id else { throw .invalid("name", .taken) }
      }
      if before.looksAfter, !after.looksAfter {
        guard try tx.hasOwner(but: before.account.id) else { throw .lastOwner }
      }
      let hasNewAddresses = try addresses.map { addresses throws(Refusal) in
        try tx.keep(addresses, of: before.account.id, spareKey)
      }
      let kept = try tx.change(before, to: after, by: actor, hasNewAddresses: hasNewAddresses ?? false)
      // What is decided now holds in the place of a ban.
      if change.isDisabled != nil { try tx.lift(.ban, of: before.account.id, by: actor) }
      if after.standing?.state == .disabled, before.standing?.state != .disabled {
        try tx.endAll(of: before.account.id)
      }
      for action in before.audited(after) where actor != before.account.id || action != .personChanged {
        try tx.audit(action, by: actor, subject: before.account.id.number, reason: change.reason)
      }
      return try tx.withEntities(kept.seen(with: rights))
    }
  }
}

extension AccountRights {
  fileprivate func allow(_ change: AccountChange) -> Bool {
    if change.governs { return contains(.govern) && (!change.isOwn || contains(.own)) }
    if change.isOwn { return contains(.own) }
    return contains(.edit)
  }
}

extension AccountChange {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> AccountChange {
    var checked = self
    if case .set(let text) = displayName { checked.displayName = .set(try Texts.displayName(text, bounds)) }
    if let bio { _ = try Texts.block(bio, "bio", scalars: bounds.bioScalars) }
    if let reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars) }
    if let name { try Texts.checkName(name) }
    if let preferences, preferences.bytes.count > bounds.preferencesBytes {
      throw .invalid("preferences", .tooLong(limit: bounds.preferencesBytes))
    }
    return checked
  }
}

extension Person {
  /// Whether the place has an owner in them.
  var looksAfter: Bool { account.role == .owner && standing?.state == .active }

  fileprivate mutating func apply(_ change: AccountChange) throws(Refusal) {
    switch change.displayName {
    case .unchanged: break
    case .cleared: account.displayName = nil
    case .set(let text): account.displayName = text
    }
    account.bio = change.bio ?? account.bio
    account.name = change.name ?? account.name
    account.role = change.role ?? account.role
    if let isDiscoverable = change.isDiscoverable { own?.isDiscoverable = isDiscoverable }
    if let reach = change.reachableBy { own?.reachableBy = reach }
    if let showsReceipts = change.showsReceipts { own?.showsReceipts = showsReceipts }
    if let showsPresence = change.showsPresence { own?.showsPresence = showsPresence }
    if let preferences = change.preferences { own?.preferences = preferences }
    guard let isDisabled = change.isDisabled, let state = standing?.state else { return }
    switch state {
    case .active, .deactivated: if isDisabled { standing?.state = .disabled }
    case .disabled: if !isDisabled { standing?.state = .active }
    // Who waits is approved or refused; who has gone is gone.
    case .waiting, .left, .erased: throw .conflict
    }
  }

  /// What of a change others should be able to look up.
  fileprivate func audited(_ after: Person) -> [AuditedAction] {
    var actions: [AuditedAction] = []
    if after.account.role != account.role { actions.append(.roleChanged) }
    if after.standing?.state != standing?.state {
      actions.append(after.standing?.state == .disabled ? .personDisabled : .personEnabled)
    }
    let isRenamed = after.account.name != account.name || after.account.displayName != account.displayName
    if isRenamed || after.account.bio != account.bio { actions.append(.personChanged) }
    return actions
  }
}
