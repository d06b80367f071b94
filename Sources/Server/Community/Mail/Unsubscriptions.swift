// Links in mails that end mail about notifications, without a session (RFC 8058).

import ParleyCrypto
public import ParleyModel

extension MailService {
  private static let signatureBytes = 16

  func unsubscribeURL(of user: ID<User>) -> String { "\(origin)/unsubscribe/\(unsubscribeCode(of: user))" }

  /// Names the user, signed by the key of the site.
  private func unsubscribeCode(of user: ID<User>) -> String {
    let signature = (try? HMAC.sha256(of: Array("unsubscribe \(user)".utf8), key: key)) ?? []
    return "\(user)-\(Hex.text(Array(signature.prefix(Self.signatureBytes))))"
  }

  /// The user of a code; nil for one that this site has not made.
  func user(ofUnsubscribeCode code: String) -> ID<User>? {
    guard let id = code.split(separator: "-").first.flatMap({ ID<User>(String($0)) }),
      ConstantTime.isEqual(Array(code.utf8), Array(unsubscribeCode(of: id).utf8))
    else { return nil }
    return id
  }
}

extension Community {
  /// Ends mail about notifications for the user of a code. Mail about the security of the account stays.
  public func unsubscribeFromMail(_ code: String, over service: MailService) async throws(Refusal) {
    guard let user = service.user(ofUnsubscribeCode: code) else { throw .notFound }
    try await store.write { tx throws(Refusal) in
      guard try tx.user(user) != nil else { throw .notFound }
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
