// What lets somebody in once: the first owner, and who has lost a password.

public import ParleyModel
import Storage

/// A way to a new password, for one of the staff to hand on.
public struct ResetLink: Sendable {
  public let code: String
  public let expiresAt: Int64
}

extension Community {
  /// The way in for the first owner; nil once there is one. Each call makes another, and the one before it is void.
  public func setupLink() async throws(Refusal) -> String? {
    let secret = try Secret.make()
    return try await store.write { tx throws(Refusal) in
      guard try !tx.hasOwner() else { return nil }
      try tx.addLink(.setup, digest: secret.digest)
      return secret.text
    }
  }

  /// In milliseconds: a day.
  static let resetTime: Int64 = 86_400_000

  /// Helps somebody in who forgot the password. A link that they had before is void.
  public func resetLink(for reference: AccountReference, by caller: Caller) async throws(Refusal) -> ResetLink {
    let actor = try caller.person(for: .admin)
    let secret = try Secret.make()
    return try await store.write { tx throws(Refusal) in
      let (person, rights) = try tx.person(reference, for: try tx.renewed(caller))
      guard rights.contains(.govern) else { throw .forbidden }
      // Who came with an import comes in by an invite.
      guard let standing = person.standing, !standing.isImported,
        standing.state == .active || standing.state == .deactivated
      else { throw .conflict }
      let link = ResetLink(code: secret.text, expiresAt: tx.now + Self.resetTime)
      let account = person.account.id
      try tx.addLink(.reset, for: account, digest: secret.digest, by: actor, expiresAt: link.expiresAt)
      try tx.audit(.passwordReset, by: actor, subject: account.number)
      return link
    }
  }

  /// Signs in who holds the link, and uses it up.
  public func use(link code: String, _ use: LinkUse) async throws(Refusal) -> OpenedSession {
    let use = try use.checked(bounds)
    guard let link = Secret(shown: code) else { throw .notFound }
    let kind = try await store.readInBackground { tx throws(Refusal) in try tx.purpose(of: link).kind }
    guard kind == .reset || use.name != nil else { throw .invalid("name", .missing) }
    guard kind == .setup || (use.name ?? use.displayName) == nil else { throw .invalid("name", .unknownField) }
    let hash = try await passwords.hash(use.password)
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      let account = try tx.useUp(link, use, hash)
      return try tx.openSession(of: account, secret, on: use.device, bounds)
    }
  }
}

extension CommunityView {
  /// What a link is for. One that was used is `gone`.
  public func purpose(ofLink code: String) throws(Refusal) -> LinkPurpose {
    guard let link = Secret(shown: code) else { throw .notFound }
    return try read { tx throws(Refusal) in try tx.purpose(of: link) }
  }
}

extension LinkUse {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> LinkUse {
    var checked = self
    if let name { try Texts.checkName(name) }
    if let displayName { checked.displayName = try Texts.displayName(displayName, bounds) }
    checked.device = try Texts.device(device, bounds)
    try Texts.checkPassword(password, bounds)
    return checked
  }
}

extension ReadTransaction {
  fileprivate func purpose(of secret: Secret) throws(Refusal) -> LinkPurpose {
    guard let link = try link(withDigest: secret.digest) else { throw .notFound }
    guard link.usedAt == nil, link.expiresAt.map({ $0 > now }) ?? true else { throw .gone }
    switch link.kind {
    case .setup:
      guard try !hasOwner() else { throw .gone }
      return LinkPurpose(kind: .setup, account: nil, expiresAt: nil)
    case .reset:
      guard let person = try link.account.flatMap({ id throws(Refusal) in try person(id) }) else { throw .gone }
      return LinkPurpose(kind: .reset, account: person.account, expiresAt: link.expiresAt)
    }
  }
}

extension WriteTransaction {
  /// Whom it lets in, with the new password.
  fileprivate func useUp(_ secret: Secret, _ use: LinkUse, _ hash: String) throws(Refusal) -> ID<Account> {
    let purpose = try purpose(of: secret)
    try useUp(linkWithDigest: secret.digest)
    if let account = purpose.account?.id {
      try setPassword(hash, of: account)
      try endAll(of: account)
      return account
    }
    guard let name = use.name else { throw .invalid("name", .missing) }
    guard try account(named: name) == nil else { throw .invalid("name", .taken) }
    return try add(NewAccount(name: name, role: .owner, password: hash, displayName: use.displayName))
  }
}
