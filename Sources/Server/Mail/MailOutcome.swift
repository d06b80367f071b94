/// The result of sending a message.
public enum MailOutcome: Sendable, Hashable, CustomStringConvertible {
  case accepted
  /// A permanent refusal (5xx).
  case refused(MailReply)
  /// A temporary refusal (4xx). The mail is retried.
  case deferred(MailReply)
  /// The mail server does not know the user, or refuses the password.
  case signInRefused(MailReply)
  /// The mail server offers no TLS.
  case insecure
  /// Its certificate is not that of the server, or not trusted.
  case untrusted(String)
  case unreachable(String)
  case timedOut

  /// For metrics.
  public var name: String {
    switch self {
    case .accepted: "accepted"
    case .refused: "refused"
    case .deferred: "deferred"
    case .signInRefused: "sign_in_refused"
    case .insecure: "insecure"
    case .untrusted: "untrusted"
    case .unreachable: "unreachable"
    case .timedOut: "timed_out"
    }
  }

  public var description: String {
    switch self {
    case .accepted: "the mail server has taken the message"
    case .refused(let reply): "the mail server refuses the message: \(reply)"
    case .deferred(let reply): "the mail server takes no message now: \(reply)"
    case .signInRefused(let reply): "the mail server refuses the user or the password: \(reply)"
    case .insecure: "the mail server offers no STARTTLS"
    case .untrusted(let reason): "the TLS of the mail server is not trusted: \(reason)"
    case .unreachable(let reason): "the mail server can't be reached: \(reason)"
    case .timedOut: "the mail server does not answer"
    }
  }
}

/// A reply of a mail server (RFC 5321 §4.2).
public struct MailReply: Sendable, Hashable, CustomStringConvertible {
  public let code: Int
  /// Printable.
  public let text: String
  /// The reply refuses the recipient, not the message or the sender.
  public let isRecipient: Bool

  static let maxScalars = 500

  public init(code: Int, text: String, isRecipient: Bool = false) {
    self.code = code
    var printable = ""
    for scalar in text.unicodeScalars.prefix(Self.maxScalars) {
      printable.unicodeScalars.append(
        scalar.value < 32 || scalar.value == 127 || (0x80..<0xa0).contains(scalar.value) ? " " : scalar)
    }
    self.text = printable
    self.isRecipient = isRecipient
  }

  public var description: String { "\(code) \(text)" }

  /// For a log, which has no addresses of users: mail servers quote them.
  public var withoutAddresses: String {
    description.split(separator: " ", omittingEmptySubsequences: false)
      .map { $0.contains("@") ? "(address)" : String($0) }.joined(separator: " ")
  }
}
