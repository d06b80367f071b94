// Claims of imported users by their authors. The author proves an account at the source program, or the address that the source
// has of the user: by a mailed link, or by a provider that `--oidc-claim-imports` names.

public import OIDC
public import ParleyModel
import Storage

extension CommunityView {
  /// The imported user that the sign-up with a ticket claims.
  public func claimedUser(by ticket: SignUpTicket, at issuer: Issuer) throws(Refusal) -> UserSummary? {
    try read { tx throws(Refusal) in try tx.claimedUser(by: ticket, at: issuer)?.summary }
  }
}

extension Issuer {
  /// The program whose ids of users are the subjects of this issuer.
  var importSource: String? { url == "https://discord.com" ? "discord" : nil }
}

extension User {
  /// A banned one stays banned, and a moderator is claimed by an invite of the staff alone.
  var isClaimable: Bool {
    standing?.isImported == true && standing?.state == .active && !summary.role.isModerator
  }
}

extension ReadTransaction {
  /// The imported user of a subject or else of an address; nil also if several users had the address, claimed ones included.
  func claimedUser(by ticket: SignUpTicket, at issuer: Issuer) throws(Refusal) -> User? {
    try claimedUser(subject: ticket.subject, email: ticket.email, at: issuer)
  }

  /// - Parameter email: a verified address.
  func claimedUser(subject: String, email: String?, at issuer: Issuer) throws(Refusal) -> User? {
    if let source = issuer.importSource, let id = try imported(.user, subject, from: source),
      let user = try user(ID(id)), user.isClaimable
    {
      return user
    }
    guard let email, issuer.claimsImports else { return nil }
    let users = Set(try importedUsers(withEmail: email, limit: Self.maxUsersOfImportedEmail).map(\.user))
    guard users.count == 1, let id = users.first, let user = try user(id), user.isClaimable else { return nil }
    return user
  }

  /// The imported users who had this address, with its spelling.
  func claimableUsers(withEmail email: String) throws(Refusal) -> [(user: User, email: String)] {
    var found: [(user: User, email: String)] = []
    for entry in try importedUsers(withEmail: email, limit: Self.maxUsersOfImportedEmail) {
      guard !found.contains(where: { $0.user.summary.id == entry.user }), let user = try user(entry.user),
        user.isClaimable
      else { continue }
      found.append((user, entry.email))
    }
    return found
  }

  private static var maxUsersOfImportedEmail: Int { 16 }
}

extension WriteTransaction {
  /// The code of an invite with which the person at an address claims an imported user; nil while registration is closed. It is an
  /// invite in the name of the owner, for a day.
  func mailedClaim(of user: User, at email: String) throws(Refusal) -> String? {
    guard user.isClaimable, try settings().registration != .closed, let owner = try owner(),
      try claimableUsers(withEmail: email).contains(where: { $0.user.summary.id == user.summary.id })
    else { return nil }
    let secret = try Secret.make(byteCount: Secret.codeByteCount)
    let expiresAt = now + Community.mailedClaimTime
    // A retried or repeated mail replaces its earlier link.
    try revokeMailedInvites(claiming: user.summary.id)
    _ = try add(
      NewInvite(
        digest: secret.digest, createdBy: owner, role: .member, forum: nil, claims: user.summary.id, maxUses: 1,
        expiresAt: expiresAt, isMailed: true))
    return secret.text
  }
}
