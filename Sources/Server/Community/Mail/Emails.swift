// The email addresses of users: set, confirmed by a link, deleted; and password resets by mail.

import Mail
public import ParleyModel
import Storage

extension Community {
  /// Lifetime of a confirmation link in milliseconds: one day.
  static let confirmationTime: Int64 = 86_400_000
  /// Lifetime of a password reset link that was mailed, in milliseconds: one hour.
  static let mailedResetTime: Int64 = 3_600_000
  /// Lifetime of a mailed link to claim an imported account, in milliseconds: one day, as long as the pause after the last link of
  /// a day. Requests by others can so not keep the person from a link that works.
  static let mailedClaimTime: Int64 = 86_400_000
  /// Confirmation mails that a user may ask for within a day.
  static let maxConfirmations = 10
  /// Requests to reset a password that wait. The worker looks at them every few seconds.
  static let maxPasswordResets = 1_000

  /// Sets the caller's address. A link is sent there; the earlier address stays until the link is opened.
  public func setEmail(_ text: String, by caller: Caller) async throws(Refusal) -> Email {
    let user = try caller.requireUser(.admin)
    guard let address = MailAddress(text) else { throw .invalid("address", .invalid) }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.revalidate(caller)
      try tx.requireProof(of: caller, forbidsTokens: true)
      let before = try tx.email(of: user)
      if before.address == address.description, before.stoppedAt == nil {
        // Another address that waited does not count any more.
        guard before.pending != nil else { return before }
        try tx.deletePendingEmail(of: user)
        try tx.logPrivateChange(of: user, by: user)
        return try tx.email(of: user)
      }
      // A repeated request sends another link.
      let asked = try tx.setPendingEmail(address.description, of: user, window: Self.confirmationTime)
      // Each request sends a mail to an address that may be that of a stranger.
      guard asked.requests <= Self.maxConfirmations else {
        throw .rateLimited(seconds: Int((asked.since + Self.confirmationTime - tx.now) / 1_000) + 1)
      }
      try tx.enqueueMail(.account(.confirmation), of: user, to: address.description)
      try tx.logPrivateChange(of: user, by: user)
      return try tx.email(of: user)
    }
  }

  /// Deletes the caller's address. No-op without one. The address gets a notice. After the end of a confirmed one other sessions
  /// and all tokens end unless they are kept, as after a change: the next address is confirmed as a first one.
  public func deleteEmail(keepsSessions: Bool, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.revalidate(caller)
      let before = try tx.email(of: user)
      guard before != Email() else { return }
      try tx.requireProof(of: caller, forbidsTokens: true)
      try tx.deleteEmail(of: user)
      try tx.deleteMailedLinks(of: user)
      if let old = before.address, before.stoppedAt == nil {
        try tx.enqueueMail(.account(.addressChanged), of: user, to: old)
      }
      if before.address != nil, !keepsSessions {
        try tx.endSessions(of: user, except: caller.session, keepsTokens: false)
      }
      try tx.logPrivateChange(of: user, by: user)
    }
  }

  /// Confirms the caller's address with the code of its link. The earlier address gets a notice. Neither the code alone nor a
  /// token is enough: a mistyped address belongs to a stranger, who could reset the password then. After a change other sessions and
  /// all tokens end unless they are kept.
  public func confirmEmail(
    _ code: String, keepsSessions: Bool, by caller: Caller
  ) async throws(Refusal) -> Email {
    let user = try caller.requireUser(.admin)
    guard let secret = Secret(parsing: code) else { throw .notFound }
    return try await store.write { tx throws(Refusal) in
      _ = try tx.requireSession(of: try tx.revalidate(caller))
      guard let pending = try tx.pendingEmail(withDigest: secret.digest), pending.user == user else { throw .notFound }
      guard let end = pending.expiresAt, end > tx.now else { throw .gone }
      let before = try tx.email(of: user)
      try tx.confirmEmail(of: user)
      // A link that was sent to the earlier address.
      try tx.deleteMailedLinks(of: user)
      if let old = before.address, old != pending.address, before.stoppedAt == nil {
        try tx.enqueueMail(.account(.addressChanged), of: user, to: old)
      }
      if before.address != nil, before.address != pending.address, !keepsSessions {
        try tx.endSessions(of: user, except: caller.session, keepsTokens: false)
      }
      try tx.logPrivateChange(of: user, by: user)
      return try tx.email(of: user)
    }
  }

  /// Notes a request for a reset link by mail, with a name or an address. The outcome and the work do not depend on
  /// whether there is such a user.
  public func requestPasswordReset(of login: String) async throws(Refusal) {
    try requirePasswordSignIn()
    let login = login.lowercased()
    guard UserName.isWellFormed(login) || MailAddress(login) != nil else { throw .invalid("login", .invalid) }
    try await store.write { tx throws(Refusal) in try tx.addPasswordReset(login, limit: Self.maxPasswordResets) }
  }

  /// Sends a mail at once. Returns the answer of the mail server.
  public func sendTestMail(to text: String, over service: MailService, by caller: Caller) async throws(Refusal)
    -> MailTest
  {
    _ = try caller.requireUser(.admin)
    guard let address = MailAddress(text) else { throw .invalid("address", .invalid) }
    let id = try Secret.make(byteCount: Secret.codeByteCount).text
    let message = try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.requireStaff(caller)
      guard let user = caller.user, let recipient = try tx.mailRecipient(user) else { throw .unauthenticated }
      let site = try tx.settings()
      let words = service.texts.words(recipient.language)
      let content = MailContent(
        subject: words(.testSubject, ["site": site.name]), lead: words(.test, ["site": site.name]), words: words)
      return content.message(to: address, id: "test.\(id)", from: service, of: site, at: tx.now)
    }
    return MailTest(of: await service.send(message))
  }
}

extension MailTest {
  fileprivate init(of outcome: MailOutcome) {
    switch outcome {
    case .accepted: self.init(.accepted)
    case .refused(let reply), .deferred(let reply): self.init(.refused, detail: "\(reply)")
    case .signInRefused(let reply): self.init(.signInRefused, detail: "\(reply)")
    case .insecure: self.init(.unavailable, detail: "The mail server offers no STARTTLS.")
    case .untrusted(let reason), .unreachable(let reason): self.init(.unavailable, detail: reason)
    case .timedOut: self.init(.unavailable, detail: "The mail server did not answer in time.")
    }
  }
}

extension CommunityView {
  public func getEmail(for caller: Caller) throws(Refusal) -> Email {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in try tx.email(of: user) }
  }
}
