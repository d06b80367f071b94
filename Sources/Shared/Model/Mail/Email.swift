public import ParleyJSON

/// The email address of a user, which only the user sees.
public struct Email: Sendable, Hashable {
  /// The confirmed address.
  public var address: String?
  /// An address that waits for its confirmation.
  public var pending: String?
  /// Mail servers have refused the address, so it gets no mail until it is confirmed again.
  public var stoppedAt: Int64?

  /// The email address of a user; by default none.
  public init(address: String? = nil, pending: String? = nil, stoppedAt: Int64? = nil) {
    self.address = address
    self.pending = pending
    self.stoppedAt = stoppedAt
  }
}

extension Email: JSONMembers {
  /// Decodes the addresses; unknown members are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let stoppedAt: Timestamp? = try object.optional("stopped_at")
    self.init(
      address: try object.optional("address"), pending: try object.optional("pending"),
      stoppedAt: stoppedAt.map { Int64($0.milliseconds) })
  }

  /// Writes the addresses into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("address", address)
    json.field("pending", pending)
    json.field("stopped_at", stoppedAt.map { Timestamp($0) })
  }
}

/// The result of a test mail.
public struct MailTest: Sendable, Hashable {
  /// The result of one attempt to hand the mail to the mail server.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// The mail server took the message.
    case accepted
    /// The mail server refused the message, or takes none now.
    case refused
    /// The mail server refused the user or the password.
    case signInRefused = "sign_in_refused"
    /// No answer, or no trusted TLS.
    case unavailable
  }

  /// The result of the attempt.
  public var outcome: Outcome
  /// The answer of the mail server, or the reason why there is none.
  public var detail: String?

  /// The result of a test mail, with the answer of the mail server.
  public init(_ outcome: Outcome, detail: String? = nil) {
    self.outcome = outcome
    self.detail = detail
  }
}

extension MailTest: JSONMembers {
  /// Decodes the result; unknown members are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(try object.word("outcome"), detail: try object.optional("detail"))
  }

  /// Writes the result into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("outcome", outcome.rawValue)
    json.field("detail", detail)
  }
}
