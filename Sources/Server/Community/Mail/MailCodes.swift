// Codes of mails, which come back in an address: a bounce in the envelope sender, a reply in `Reply-To`. They are signed, not
// stored.

import Mail
import ParleyCrypto
import ParleyModel
import Storage

/// A code such as `r-7-2k-fx3-…`: purpose, user, subject, day and signature.
struct SentMailCode: Sendable, Hashable {
  enum Purpose: String, Sendable, Hashable {
    /// The subject is the mail of the queue, and the signature covers the address: a later address of the user is not blamed.
    case bounce = "b"
    /// The subject is the last message of the mail.
    case reply = "r"
  }

  let purpose: Purpose
  let user: ID<User>
  let subject: Int
  /// Days from 1970 until the mail was sent.
  let day: Int

  private static let radix = 36
  private static let day: Int64 = 86_400_000
  static let signatureBytes = 10

  init(_ purpose: Purpose, of user: ID<User>, subject: Int, at time: Int64) {
    self.purpose = purpose
    self.user = user
    self.subject = subject
    day = Int(time / Self.day)
  }

  /// Nil if the text is no code of a mail. The signature is not checked.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 5, let purpose = Purpose(rawValue: parts[0]), let user = Int(parts[1], radix: Self.radix),
      let subject = Int(parts[2], radix: Self.radix), let day = Int(parts[3], radix: Self.radix), user > 0,
      subject > 0, day > 0
    else { return nil }
    (self.purpose, self.user, self.subject, self.day) = (purpose, ID(user), subject, day)
  }

  /// Whether the code was made in the last `days`.
  func isYounger(than days: Int, at time: Int64) -> Bool { Int(time / Self.day) - day <= days }

  fileprivate var content: String {
    let numbers = [user.number, subject, day].map { String($0, radix: Self.radix) }
    return ([purpose.rawValue] + numbers).joined(separator: "-")
  }
}

extension MailService {
  /// Nil if it can't be signed.
  func text(of code: SentMailCode, for address: MailAddress) -> String? {
    let signed = "mail \(code.content) \(address)"
    guard let signature = try? HMAC.sha256(of: Array(signed.utf8), key: key) else { return nil }
    return "\(code.content)-\(Base32.text(Array(signature.prefix(SentMailCode.signatureBytes))).lowercased())"
  }

  /// Whether this site has made the code.
  func hasMade(_ text: String, _ code: SentMailCode, for address: MailAddress) -> Bool {
    guard let own = self.text(of: code, for: address) else { return false }
    return ConstantTime.isEqual(Array(text.utf8), Array(own.utf8))
  }

  /// The address to which a mail server reports that a mail was not delivered; nil without one.
  func bounceAddress(of mail: DueMail, to address: MailAddress, at time: Int64) -> MailAddress? {
    bounces.flatMap { bounces in
      text(of: SentMailCode(.bounce, of: mail.user, subject: mail.id, at: time), for: address).flatMap(bounces.adding)
    }
  }

  /// The address that takes replies to a message for a user; nil without one.
  func replyAddress(
    of user: ID<User>, at address: MailAddress, to message: ID<Message>, at time: Int64
  ) -> MailAddress? {
    replies.flatMap { replies in
      text(of: SentMailCode(.reply, of: user, subject: message.number, at: time), for: address).flatMap(replies.adding)
    }
  }
}

extension MailAddress {
  /// The address with a code behind `+` (RFC 5233).
  fileprivate func adding(_ code: String) -> MailAddress? { MailAddress("\(local)+\(code)@\(domain)") }
}
