// Links in mails that end mail about notifications, without a session (RFC 8058).

import ParleyCrypto
public import ParleyModel

extension MailService {
  private static let signatureBytes = 16

  /// Nil if the code can't be signed.
  func unsubscribeURL(of user: ID<User>) -> String? {
    unsubscribeCode(of: user).map { "\(origin)/unsubscribe/\($0)" }
  }

  /// Names the user, signed by the key of the site.
  private func unsubscribeCode(of user: ID<User>) -> String? {
    guard let signature = try? HMAC.sha256(of: Array("unsubscribe \(user)".utf8), key: key) else { return nil }
    return "\(user)-\(Hex.text(Array(signature.prefix(Self.signatureBytes))))"
  }

  /// The user of a code; nil for one that this site has not made.
  func user(ofUnsubscribeCode code: String) -> ID<User>? {
    guard let id = code.split(separator: "-").first.flatMap({ ID<User>(String($0)) }),
      let own = unsubscribeCode(of: id),
      ConstantTime.isEqual(Array(code.utf8), Array(own.utf8))
    else { return nil }
    return id
  }
}

extension Community {
  /// Ends mail about notifications for the user of a code. Mail about the security of the account stays.
  public func unsubscribeFromMail(_ code: String, over service: MailService) async throws(Refusal) {
    guard let user = service.user(ofUnsubscribeCode: code) else { throw .notFound }
    try await store.write { tx throws(Refusal) in
      // A deleted user gets no settings row.
      guard let state = try tx.user(user)?.standing?.state, state != .left, state != .erased else { throw .notFound }
      var settings = try tx.notificationSettings(of: user)
      let unwanted = Set(Notification.Kind.switchable)
      guard settings.mail.unwanted != unwanted else { return }
      settings.mail = NotificationKinds(except: unwanted)
      try tx.store(settings, of: user)
      try tx.logPrivateChange(of: user, by: user)
    }
  }
}

extension MailService {
  /// Throws `notFound` for a code that this site has not made.
  public func checkUnsubscribeCode(_ code: String) throws(Refusal) {
    guard user(ofUnsubscribeCode: code) != nil else { throw .notFound }
  }
}
