// Mails that a mail server hands over: reports on mails that were not delivered, and replies to notifications.
//
// The code in the address of a recipient says which mail is answered; possession of the code is the proof of a reply. An
// explanation of a refused reply goes to the confirmed address of the user alone, never to the sender of the message, at most
// once an hour, and without an envelope sender, so two programs never answer each other for ever.

public import Mail
import ParleyJSON
public import ParleyModel
import Storage
import Synchronization

/// The outcome of a mail that arrived.
public enum MailReceipt: String, Sendable, Hashable, CaseIterable {
  case posted
  /// A moderator reviews the reply.
  case held
  /// The reply was posted before.
  case repeated
  /// The user gets an explanation.
  case refused
  /// The report on a delivery counts.
  case bounced
  /// No code of this site, a mail by a program, or a report that says nothing about the address.
  case ignored
}

/// The reason why a reply was not posted as it was written.
public enum ReplyFault: String, Sendable, Hashable, CaseIterable {
  /// The reply came from another address.
  case address
  case expired
  /// The user may not write there.
  case notAllowed = "not_allowed"
  case tooLong = "too_long"
  /// The reply has no text that can be read.
  case unreadable
  /// The reply was posted without its files.
  case attachments
}

/// Numbers of mails that arrived since the start, by their receipt.
public final class MailReceiptCounts: Sendable {
  private let counts = Mutex<[MailReceipt: Int]>([:])

  public init() {}

  public var all: [(receipt: MailReceipt, count: Int)] {
    counts.withLock { counts in MailReceipt.allCases.map { ($0, counts[$0] ?? 0) } }
  }

  func add(_ receipt: MailReceipt) { counts.withLock { $0[receipt, default: 0] += 1 } }
}

extension Community {
  /// Mail to a user stops at this number of mails that came back within a week.
  static let maxBounces = 3
  /// A report on a delivery counts for this time.
  static let bounceDays = 10
  /// A mail can be answered for this time.
  static let replyDays = 30

  /// Takes a mail.
  ///
  /// - Parameter admit: counts a post of the caller, or throws.
  public func receiveMail(
    _ mail: IncomingMail, over service: MailService, admit: @Sendable (Caller) throws(Refusal) -> Void
  ) async throws(Refusal) -> MailReceipt {
    let receipt = try await receipt(of: mail, over: service, admit: admit)
    service.receipts.add(receipt)
    return receipt
  }

  private func receipt(
    of mail: IncomingMail, over service: MailService, admit: @Sendable (Caller) throws(Refusal) -> Void
  ) async throws(Refusal) -> MailReceipt {
    for text in mail.codes {
      guard let code = SentMailCode(text) else { continue }
      switch code.purpose {
      case .bounce:
        if let receipt = try await receiveBounce(mail, text, code, over: service) { return receipt }
      case .reply:
        // A code is of no use after a change of the address.
        let address = try await store.readInBackground { tx throws(Refusal) in
          try tx.mailRecipient(code.user)?.address.flatMap { MailAddress($0) }
        }
        guard let address, service.hasMade(text, code, for: address) else { continue }
        return try await receiveReply(mail, code, over: service, admit: admit)
      }
    }
    return .ignored
  }

  /// Nil for a code that the site has not made for the present address of the user.
  private func receiveBounce(
    _ mail: IncomingMail, _ text: String, _ code: SentMailCode, over service: MailService
  ) async throws(Refusal) -> MailReceipt? {
    try await store.write { tx throws(Refusal) in
      let address = try tx.mailRecipient(code.user)?.address.flatMap { MailAddress($0) }
      guard let address, service.hasMade(text, code, for: address) else { return nil }
      guard mail.failure?.endsAddress == true, code.isYounger(than: Self.bounceDays, at: tx.now) else {
        return .ignored
      }
      if try tx.noteBounce(of: code.subject, to: code.user, limit: Self.maxBounces) {
        try tx.logPrivateChange(of: code.user, by: code.user)
      }
      return .bounced
    }
  }

  private func receiveReply(
    _ mail: IncomingMail, _ code: SentMailCode, over service: MailService,
    admit: @Sendable (Caller) throws(Refusal) -> Void
  ) async throws(Refusal) -> MailReceipt {
    guard !mail.isAutomatic else { return .ignored }
    let found = try await store.readInBackground { tx throws(Refusal) in try tx.replyTarget(of: code) }
    guard let found else { return .ignored }
    let fault: ReplyFault
    do throws(ReplyRefusal) {
      return try await post(mail, code, found, over: service, admit: admit)
    } catch {
      switch error {
      case .fault(let reason): fault = reason
      case .refusal(let refusal): throw refusal
      }
    }
    try await explain(fault, to: code.user)
    return .refused
  }

  private func post(
    _ mail: IncomingMail, _ code: SentMailCode, _ target: ReplyTarget, over service: MailService,
    admit: @Sendable (Caller) throws(Refusal) -> Void
  ) async throws(ReplyRefusal) -> MailReceipt {
    guard mail.from.map({ $0.isSameMailbox(as: target.address) }) == true else { throw .fault(.address) }
    guard target.isYoung else { throw .fault(.expired) }
    guard let conversation = target.conversation, let role = target.role else { throw .fault(.notAllowed) }
    // A quotation in an unknown language has the link that unsubscribes.
    guard let text = mail.text, !text.isEmpty, !text.contains("\(service.origin)/unsubscribe") else {
      throw .fault(.unreadable)
    }
    let caller = Caller(user: code.user, role: role, scope: .write, session: nil)
    var draft = MessageDraft(text: text, clientID: "mail-\(mail.id)")
    draft.replyTo = target.replyTo
    do throws(Refusal) {
      try admit(caller)
      let posted = try await postMessage(draft, in: conversation, by: caller)
      guard posted.isNew else { return .repeated }
      if mail.attachmentCount > 0 { try await explain(.attachments, to: code.user) }
      return .posted
    } catch {
      if error == .heldForReview { return .held }
      // The same message with other content: the first one counts.
      if error == .clientIDReused { return .repeated }
      throw ReplyRefusal(error)
    }
  }

  private func explain(_ fault: ReplyFault, to user: ID<User>) async throws(Refusal) {
    try await store.write { tx throws(Refusal) in try tx.mailNotification(.replyNotice(fault.rawValue), of: user) }
  }
}

/// A reply that was not posted.
private enum ReplyRefusal: Error {
  /// The user gets an explanation.
  case fault(ReplyFault)
  /// The mail server tries again.
  case refusal(Refusal)

  init(_ refusal: Refusal) {
    switch refusal {
    case .unavailable, .damaged, .diskFull, .rateLimited: self = .refusal(refusal)
    case .invalid(let faults):
      let isLong = faults.contains { fault in
        if case .tooLong = fault.code { return true }
        return false
      }
      self = .fault(isLong ? .tooLong : .notAllowed)
    case .unauthenticated, .sessionEnded, .wrongCredentials, .forbidden, .notFound, .gone, .conflict, .clientIDReused,
      .stepUpRequired, .secondFactorRequired, .secondFactorMissing, .notAdmitted, .banned, .silenced,
      .signUpsPaused, .tooMany, .tooLarge, .noRoom, .lastOwner, .taken, .newcomer, .pollClosed, .secretRevoked,
      .contentRefused, .heldForReview, .commandFailed, .passwordSignInOff, .lastSignInMethod:
      self = .fault(.notAllowed)
    }
  }
}

/// The conversation of a reply, and the rights of its author at this moment.
private struct ReplyTarget: Sendable {
  let address: MailAddress
  let isYoung: Bool
  /// Nil for a user who may change nothing.
  let role: Role?
  /// Nil if the message is gone with its conversation.
  let conversation: ID<Conversation>?
  let replyTo: ID<Message>?
}

extension ReadTransaction {
  /// Nil for a user without a confirmed address, who gets no explanation either.
  fileprivate func replyTarget(of code: SentMailCode) throws(Refusal) -> ReplyTarget? {
    guard let address = try mailRecipient(code.user)?.address.flatMap({ MailAddress($0) }),
      let user = try user(code.user)
    else { return nil }
    let lacksSecondFactor = try lacksSecondFactor(code.user)
    let mayChange = user.standing?.state == .active && !lacksSecondFactor
    let id = ID<Message>(code.subject)
    let conversation = try position(of: id)?.conversation
    var replyTo: ID<Message>?
    if let conversation, try kind(of: conversation) != .direct, case .live = try messages([id]).first?.state {
      replyTo = id
    }
    return ReplyTarget(
      address: address, isYoung: code.isYounger(than: Community.replyDays, at: now),
      role: mayChange ? user.summary.role : nil, conversation: conversation, replyTo: replyTo)
  }
}

extension MailAddress {
  /// Mail programs change the case of addresses, and no provider distinguishes mailboxes by it.
  fileprivate func isSameMailbox(as other: MailAddress) -> Bool {
    domain == other.domain && local.lowercased() == other.local.lowercased()
  }
}
