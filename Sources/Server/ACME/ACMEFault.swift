public import ParleyHTTPClient

/// The reason why a certificate authority has issued no certificate.
public enum ACMEFault: Error, Sendable, Hashable {
  /// No response of the authority.
  case unreachable(ClientError)
  /// A problem of the authority (RFC 8555 §6.7). `retryAfter` is in seconds.
  case refused(ACMEProblem, retryAfter: Int?)
  /// The authority could not check a name.
  case failedChallenge(name: String, ACMEProblem)
  /// The response is not one of RFC 8555.
  case invalidResponse(String)
  /// The authority has not decided in time.
  case timedOut(String)
  /// A key or signature could not be made.
  case failedCrypto(String)
  case cancelled

  /// One sentence for the operator.
  public var explanation: String {
    switch self {
    case .unreachable(let error): "The certificate authority can't be reached: \(error)."
    case .refused(let problem, _): "The certificate authority refuses: \(problem.sentence)\(problem.remedy)"
    case .failedChallenge(let name, let problem):
      "The certificate authority can't check \(name): \(problem.sentence) The name has to lead to this machine, and port "
        + "80 to the redirect listener."
    case .invalidResponse(let reason): "The certificate authority gives an invalid response: \(reason)."
    case .timedOut(let stage): "The certificate authority has not ended \(stage) in time."
    case .failedCrypto(let reason): "The key of a certificate can't be made: \(reason)."
    case .cancelled: "The order was cancelled."
    }
  }

  /// Whether the same request may succeed soon.
  var isTransient: Bool {
    switch self {
    case .unreachable: true
    case .refused(let problem, _): problem.isBusy
    case .failedChallenge, .invalidResponse, .timedOut, .failedCrypto, .cancelled: false
    }
  }

  /// The seconds that the authority asks to wait.
  public var retryAfter: Int? {
    if case .refused(_, let seconds) = self { return seconds }
    return nil
  }
}

/// A problem document of an authority. All texts are untrusted.
public struct ACMEProblem: Error, Sendable, Hashable {
  /// The last part of its URN, such as `rateLimited`.
  public let type: String
  public let detail: String
  /// The status of the response.
  private let status: Int

  static let prefix = "urn:ietf:params:acme:error:"

  init(type: String, detail: String, status: Int = 0) {
    self.status = status
    self.type = type.hasPrefix(Self.prefix) ? String(type.dropFirst(Self.prefix.count)) : type
    self.detail = detail
  }

  private static let maxDetail = 500

  var isBusy: Bool { status == 429 || status >= 500 }

  /// The detail as one printable sentence.
  var sentence: String {
    var text = String(
      String.UnicodeScalarView(
        (detail.isEmpty ? type : detail).unicodeScalars.prefix(Self.maxDetail).map {
          $0.properties.generalCategory == .control || $0.properties.generalCategory == .format ? " " : $0
        }))
    if text.last != "." { text += "." }
    return text
  }

  fileprivate var remedy: String {
    switch type {
    case "externalAccountRequired":
      " It takes only accounts that are made on its website. Choose another one with --acme-directory."
    case "invalidContact", "unsupportedContact": " Correct --acme-email."
    case "rejectedIdentifier": " Correct --public-url, or choose another authority with --acme-directory."
    case "unauthorized", "accountDoesNotExist":
      " If the account was deactivated, delete acme-account.key in the data folder: the next order makes another account."
    case "userActionRequired": " Its terms have changed: accept them on its website, or delete acme-account.key."
    case "caa": " Its name has to be in the CAA records of the domain."
    default: ""
    }
  }
}
