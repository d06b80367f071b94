// How people come in. What can be refused cheaply is refused before the password costs anything, and asked again in the
// transaction that lets them in.

public import ParleyModel
import Storage

/// Somebody who has registered.
public struct Registered: Sendable {
  public let person: Person
  /// Nil for who has to wait until one of the staff says yes.
  public let session: OpenedSession?
  /// False when the same request had registered them before.
  public let isNew: Bool
}

extension Community {
  public func register(_ registration: Registration) async throws(Refusal) -> Registered {
    let registration = try registration.checked(bounds)
    if let earlier = try await registered(registration) { return earlier }
    _ = try await store.readInBackground { tx throws(Refusal) in try tx.admission(of: registration) }
    let hash = try await passwords.hash(registration.password)
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      let admission = try tx.admission(of: registration)
      let account = try tx.admit(admission, hash)
      if let clientID = registration.clientID {
        try tx.remember(.account, by: account, clientID, subject: account.number)
      }
      guard admission.state == .active else {
        guard let person = try tx.person(account) else { throw .unavailable }
        return Registered(person: person, session: nil, isNew: true)
      }
      let session = try tx.openSession(of: account, secret, on: registration.device, bounds)
      return Registered(person: session.person, session: session, isNew: true)
    }
  }

  /// Whom the same request registered before: known by its `client_id` under that name, and proved by the password.
  private func registered(_ registration: Registration) async throws(Refusal) -> Registered? {
    guard let clientID = registration.clientID, let name = registration.name else { return nil }
    let known = try await store.readInBackground { tx throws(Refusal) -> Credentials? in
      guard let known = try tx.credentials(named: name) else { return nil }
      return try tx.remembered(.account, by: known.account, clientID) == nil ? nil : known
    }
    guard let known, try await passwords.isRight(registration.password, for: known.password) else { return nil }
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      guard let person = try tx.person(known.account) else { throw .unavailable }
      guard person.standing?.state != .waiting else { return Registered(person: person, session: nil, isNew: false) }
      let session = try tx.openSession(of: known.account, secret, on: registration.device, bounds)
      return Registered(person: session.person, session: session, isNew: false)
    }
  }

  /// Lets in who waits. Who is in already stays so.
  public func approve(_ reference: AccountReference, by caller: Caller) async throws(Refusal) -> Person {
    let actor = try caller.person(for: .admin)
    return try await store.write { tx throws(Refusal) in
      let (before, rights) = try tx.person(reference, for: try tx.renewed(caller))
      guard rights.contains(.govern) else { throw .forbidden }
      guard before.standing?.state == .waiting else { return before.seen(with: rights) }
      var after = before
      after.standing?.state = .active
      let person = try tx.change(before, to: after, by: actor)
      try tx.audit(.personApproved, by: actor, subject: person.account.id.number)
      return person.seen(with: rights)
    }
  }

  /// Sends away who waits; the name is free again. Who was sent away before is gone.
  public func refuse(_ account: ID<Account>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.person(for: .admin)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      guard let role = caller.role, role.isStaff else { throw .forbidden }
      guard let person = try tx.person(account) else { return }
      guard person.standing?.state == .waiting, try tx.removeWaiting(account) else { throw .conflict }
      try tx.audit(.personRefused, by: actor, subject: account.number)
    }
  }
}

/// How somebody may come in.
private struct Admission {
  let name: AccountName
  let displayName: String?
  let role: Role
  let state: AccountState
  let invite: Invite?
  /// The imported person who comes back.
  let claims: Person?
}

extension Registration {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> Registration {
    var checked = self
    if let name { try Texts.checkName(name) }
    if let displayName { checked.displayName = try Texts.displayName(displayName, bounds) }
    checked.device = try Texts.device(device, bounds)
    try Texts.checkPassword(password, bounds)
    if let clientID { try Texts.checkClientID(clientID, bounds) }
    return checked
  }
}

extension ReadTransaction {
  fileprivate func admission(of registration: Registration) throws(Refusal) -> Admission {
    let settings = try settings()
    guard settings.registration != .closed else { throw .forbidden }
    guard settings.rules.isEmpty || registration.acceptsRules else { throw .invalid("accept_rules", .missing) }
    let invite = try registration.invite.map { code throws(Refusal) in try openInvite(code) }
    if invite == nil, settings.registration == .invite { throw .invalid("invite", .missing) }

    let claims = try invite?.claims.flatMap { id throws(Refusal) in try person(id) }
    guard let name = (registration.name ?? claims?.account.name).flatMap({ AccountName($0) }) else {
      throw .invalid("name", .missing)
    }
    let holder = try account(named: name.text)
    guard holder == nil || holder == claims?.account.id else { throw .invalid("name", .taken) }
    return Admission(
      name: name, displayName: registration.displayName, role: invite?.role ?? .member,
      state: settings.registration == .approval && invite == nil ? .waiting : .active, invite: invite, claims: claims)
  }

  private func openInvite(_ code: String) throws(Refusal) -> Invite {
    guard let secret = Secret(shown: code), let stored = try invite(withDigest: secret.digest),
      try isGood(stored)
    else { throw .invalid("invite", .unknown) }
    guard let claimed = stored.claims else { return stored }
    guard try person(claimed)?.standing?.isImported == true else { throw .invalid("invite", .unknown) }
    return stored
  }
}

extension WriteTransaction {
  fileprivate func admit(_ admission: Admission, _ hash: String) throws(Refusal) -> ID<Account> {
    let account = try settle(admission, hash)
    guard let invite = admission.invite else { return account }
    try use(invite: invite.id, by: account)
    if let forum = invite.forum { try land(account, in: forum) }
    return account
  }

  private func settle(_ admission: Admission, _ hash: String) throws(Refusal) -> ID<Account> {
    guard let before = admission.claims else {
      return try add(
        NewAccount(
          name: admission.name.text, role: admission.role, state: admission.state, password: hash,
          displayName: admission.displayName))
    }
    var after = before
    after.account.name = admission.name.text
    after.account.displayName = admission.displayName ?? before.account.displayName
    after.standing?.isImported = false
    after.standing?.state = .active
    try setPassword(hash, of: before.account.id)
    return try change(before, to: after, by: before.account.id).account.id
  }
}
