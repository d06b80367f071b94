/// The reason for a failed sign-in by an issuer. It is for the log: users see a page without it.
public struct OIDCFault: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    // Documents and answers of the issuer.
    case unreachable, metadata, keys
    case tokenResponse = "token_response"
    /// The issuer has answered with an error of its own.
    case refused
    // Tokens.
    case malformed, type, algorithm
    case unknownKey = "unknown_key"
    case signature, issuer, audience
    case authorizedParty = "authorized_party"
    case expired
    case issuedAt = "issued_at"
    case nonce, subject, acr
    case authTime = "auth_time"
    case events, replayed
    // The answer to a request of this server.
    case noRequest = "no_request"
    case requestExpired = "request_expired"
    case state, code
    // Accounts.
    case unverifiedEmail = "unverified_email"
    case noRole = "no_role"
    case linkedElsewhere = "linked_elsewhere"
    case notLinked = "not_linked"
    case otherUser = "other_user"
    case tooManyAccounts = "too_many_accounts"
  }

  public let reason: Reason
  /// Texts of the issuer among it are cut.
  public let detail: String

  private static let maxDetailScalars = 200

  public init(_ reason: Reason, _ detail: String = "") {
    self.reason = reason
    self.detail = String(String.UnicodeScalarView(detail.unicodeScalars.prefix(Self.maxDetailScalars)))
  }

  public var description: String { detail.isEmpty ? reason.rawValue : "\(reason.rawValue): \(detail)" }
}
