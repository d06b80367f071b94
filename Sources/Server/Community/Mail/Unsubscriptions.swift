// Links in mails that end mails of a list, without a session (RFC 8058).

import ParleyCrypto
public import ParleyModel
import Storage

/// Mails that one link ends.
public enum MailList: String, Sendable, Hashable, CaseIterable {
  case notifications
  case weeklyDigest = "weekly_digest"

  /// In `List-Id`.
  var name: String {
    switch self {
    case .notifications: "notifications"
    case .weeklyDigest: "weekly-digest"
    }
  }

  /// The purpose that a code is signed for.
  fileprivate var purpose: String {
    switch self {
    case .notifications: "unsubscribe"
    case .weeklyDigest: "unsubscribe weekly digest"
    }
  }
}

extension MailService {
  private static let signatureBytes = 16

  /// Nil if the code can't be signed.
  func unsubscribeURL(of user: ID<User>, from list: MailList) -> String? {
    unsubscribeCode(of: user, from: list).map { "\(origin)/unsubscribe/\($0)" }
  }

  /// Names the user, signed by the key of the site.
  private func unsubscribeCode(of user: ID<User>, from list: MailList) -> String? {
    guard let signature = try? HMAC.sha256(of: Array("\(list.purpose) \(user)".utf8), key: key) else { return nil }
    return "\(user)-\(Hex.text(Array(signature.prefix(Self.signatureBytes))))"
  }

  /// The user and the list of a code; nil for one that this site has not made.
  func target(ofUnsubscribeCode code: String) -> (user: ID<User>, list: MailList)? {
    guard let id = code.split(separator: "-").first.flatMap({ ID<User>(String($0)) }) else { return nil }
    for list in MailList.allCases {
      guard let own = unsubscribeCode(of: id, from: list) else { return nil }
      if ConstantTime.isEqual(Array(code.utf8), Array(own.utf8)) { return (id, list) }
    }
    return nil
  }
}

extension Community {
  /// Ends mails of the list of a code for its user. Mail about the security of the account stays.
  public func unsubscribeFromMail(_ code: String, over service: MailService) async throws(Refusal) {
    guard let target = service.target(ofUnsubscribeCode: code) else { throw .notFound }
    try await store.write { tx throws(Refusal) in
      // A deleted user gets no settings row.
      guard let state = try tx.user(target.user)?.standing?.state, state != .left, state != .erased else {
        throw .notFound
      }
      let before = try tx.notificationSettings(of: target.user)
      var settings = before
      switch target.list {
      case .notifications: settings.mail = NotificationKinds(except: Set(Notification.Kind.switchable))
      case .weeklyDigest: settings.hasWeeklyDigest = false
      }
      guard settings != before else { return }
      try tx.store(settings, of: target.user)
      try tx.logPrivateChange(of: target.user, by: target.user)
    }
  }
}

extension MailService {
  /// Throws `notFound` for a code that this site has not made.
  public func list(ofUnsubscribeCode code: String) throws(Refusal) -> MailList {
    guard let target = target(ofUnsubscribeCode: code) else { throw .notFound }
    return target.list
  }
}
