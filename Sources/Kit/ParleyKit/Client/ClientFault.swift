public import ParleyJSON
import ParleyModel

/// The reason of a failed request. `userMessage` is a text for the user.
public enum ClientFault: Error, Sendable, Hashable {
  /// The server can't be reached. Nothing was sent.
  case offline(String)
  /// The server's certificate was rejected.
  case untrusted(String)
  /// The server did not answer in time.
  case timedOut
  /// The connection broke. The server may have processed the request.
  case interrupted(String)
  /// A captive portal, as in hotels and trains, responded in place of the server.
  case captivePortal
  /// The response could not be decoded.
  case invalidResponse(String)
  /// The response exceeds the size limit.
  case tooLarge
  /// The file to upload can't be read, or an operation that an earlier version of the app has stored.
  case unreadable(String)
  /// The server rejected the request.
  case refused(Problem)
  /// Another user than last time has signed in.
  case userChanged
  /// The task of the request was cancelled.
  case cancelled
  /// The app exited during the request. A retry is safe.
  case unfinished
  /// The local storage can't be written. Nothing was sent, because the outcome could not be recorded.
  case storageFailed

  /// Retryable without user action.
  public var isTemporary: Bool {
    switch self {
    case .offline, .timedOut, .interrupted, .captivePortal, .unfinished, .storageFailed: true
    case .refused(let problem): problem.status == 408 || problem.status == 429 || problem.status >= 500
    case .untrusted, .invalidResponse, .tooLarge, .unreadable, .userChanged, .cancelled: false
    }
  }

  /// The server has certainly not processed the request.
  var wasNotProcessed: Bool {
    switch self {
    case .offline, .untrusted, .unreadable: true
    // 409 to a post: the server has a message with its `client_id`.
    case .refused(let problem): (400...499).contains(problem.status) && ![408, 409].contains(problem.status)
    case .timedOut, .interrupted, .captivePortal, .invalidResponse, .tooLarge, .userChanged, .cancelled, .unfinished,
      .storageFailed:
      false
    }
  }

  /// The server's problem details.
  public var problem: Problem? {
    if case .refused(let problem) = self { problem } else { nil }
  }

  /// The session is missing, expired or revoked.
  public var isSignedOut: Bool { problem?.status == 401 }

  /// The server ended the session: it was revoked, or its user was banned or erased.
  var isRevoked: Bool { problem?.code.rawValue == CloseReason.ended.code }

  /// The delay that the server names, in `Retry-After` or as it closes a connection.
  var retryDelay: Duration? {
    switch self {
    case .refused(let problem): problem.retryAfter.map { .seconds(min($0, Self.maxRetryDelay)) }
    case .interrupted(let reason):
      Self.milliseconds(after: "retry in ", in: reason).map { .milliseconds($0) }
    case .offline, .untrusted, .timedOut, .captivePortal, .invalidResponse, .tooLarge, .unreadable, .userChanged,
      .cancelled, .unfinished, .storageFailed:
      nil
    }
  }

  private static func milliseconds(after words: String, in reason: String) -> Int? {
    guard let found = reason.firstRange(of: words) else { return nil }
    let digits = reason[found.upperBound...].prefix { $0.isASCII && $0.isNumber }
    return digits.count <= 8 && reason[digits.endIndex...].hasPrefix(" ms") ? Int(digits) : nil
  }

  /// Seconds.
  private static let maxRetryDelay = 86_400

  /// The message of a reply's reference is not in the conversation.
  var refusesReply: Bool { problem?.errors.contains { $0.field == "reply_to" } ?? false }

  /// The server does not have an attached file.
  var refusesAttachments: Bool {
    problem?.errors.contains { $0.field == "attachments" && $0.code == "unknown" } ?? false
  }

  /// The resource does not exist any more, or the caller may not see it.
  var isGone: Bool { problem.map { [403, 404, 410].contains($0.status) } ?? false }

  /// A text for the user, in English. Translations select by the case and the problem's code.
  public var userMessage: String {
    switch self {
    case .offline: "Can’t reach the server. Check your network connection."
    case .untrusted: "The server’s certificate can’t be verified. Nothing was sent."
    case .timedOut: "The server took too long to answer."
    case .interrupted: "The connection broke."
    case .captivePortal: "This network requires you to sign in. Open its page in a browser."
    case .invalidResponse: "The server’s response is invalid. The app or the server may be too old."
    case .tooLarge: "The response is too large."
    case .unreadable: "A file or a part of the message can’t be read."
    case .refused(let problem): problem.userMessage
    case .userChanged: "Another user has signed in on this device."
    case .cancelled: "The request was cancelled."
    case .unfinished: "The app closed before the server responded."
    case .storageFailed: "Can’t write to this device’s storage."
    }
  }

  init(_ failure: TransportFailure) {
    switch failure {
    case .unreachable(let reason): self = .offline(reason)
    case .untrusted(let reason): self = .untrusted(reason)
    case .timedOut: self = .timedOut
    case .interrupted(let reason): self = .interrupted(reason)
    case .malformed(let reason): self = .invalidResponse(reason)
    case .tooLarge: self = .tooLarge
    case .notUpgraded(let status, let fields, let body):
      self = RawResponse(status: status, fields: fields, body: body).fault
    case .sourceFailed(let reason): self = .unreadable(reason)
    case .cancelled: self = .cancelled
    }
  }
}

// MARK: Storage

extension ClientFault: JSONWritable, JSONReadable {
  private enum Kind: String, CaseIterable {
    case offline, untrusted, timedOut, interrupted, captivePortal, invalidResponse, tooLarge, unreadable, refused
    case userChanged, cancelled, unfinished, storageFailed
  }

  private var kind: Kind {
    switch self {
    case .offline: .offline
    case .untrusted: .untrusted
    case .timedOut: .timedOut
    case .interrupted: .interrupted
    case .captivePortal: .captivePortal
    case .invalidResponse: .invalidResponse
    case .tooLarge: .tooLarge
    case .unreadable: .unreadable
    case .refused: .refused
    case .userChanged: .userChanged
    case .cancelled: .cancelled
    case .unfinished: .unfinished
    case .storageFailed: .storageFailed
    }
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("kind", kind.rawValue)
      switch self {
      case .offline(let reason), .untrusted(let reason), .interrupted(let reason), .invalidResponse(let reason),
        .unreadable(let reason):
        json.field("reason", reason)
      case .refused(let problem):
        json.field("problem", problem.representation)
        json.field("retry_after", problem.retryAfter)
      case .timedOut, .captivePortal, .tooLarge, .userChanged, .cancelled, .unfinished, .storageFailed: break
      }
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let kind: Kind = try object.word("kind")
    switch kind {
    case .offline: self = .offline(try object.string("reason"))
    case .untrusted: self = .untrusted(try object.string("reason"))
    case .timedOut: self = .timedOut
    case .interrupted: self = .interrupted(try object.string("reason"))
    case .captivePortal: self = .captivePortal
    case .invalidResponse: self = .invalidResponse(try object.string("reason"))
    case .tooLarge: self = .tooLarge
    case .unreadable: self = .unreadable(try object.string("reason"))
    case .refused:
      var problem: Problem = try object.read("problem")
      problem.retryAfter = try object.optional("retry_after")
      self = .refused(problem)
    case .userChanged: self = .userChanged
    case .cancelled: self = .cancelled
    case .unfinished: self = .unfinished
    case .storageFailed: self = .storageFailed
    }
  }
}

extension Problem {
  /// A text for the user: the server's words, the wrong fields and the time of a retry, in English.
  public var userMessage: String {
    var sentences = [title, detail ?? ""].filter { !$0.isEmpty }
    let faults = errors.map { "\($0.field) \($0.userMessage)" }.joined(separator: "; ")
    if !faults.isEmpty { sentences.append("\(faults).") }
    if status == 429 { sentences.append(retryAfter.map { "Try again in \($0) s." } ?? "Try again later.") }
    return sentences.isEmpty ? "The server refuses this: \(code.rawValue)." : sentences.joined(separator: " ")
  }
}

extension RawResponse {
  var isSuccess: Bool { (200...299).contains(status) || status == 304 }

  private var isHTML: Bool { self["content-type"]?.lowercased().hasPrefix("text/html") == true }

  /// Whether a captive portal sent the response: HTML or a redirect, which the server never sends, or status 511
  /// (RFC 6585 §6).
  var isCaptivePortal: Bool { status == 511 || isHTML || (300...399).contains(status) && status != 304 }

  /// The fault of an unsuccessful response.
  var fault: ClientFault {
    if isCaptivePortal { return .captivePortal }
    do throws(JSONError) {
      var problem = try Problem(json: JSONValue(parsing: body))
      problem.retryAfter = self["retry-after"].flatMap { Int($0) }.map { max(0, $0) }
      return .refused(problem)
    } catch {
      // A reverse proxy responds while the server is down.
      return status >= 500 ? .interrupted("\(status)") : .invalidResponse("\(status) without a reason")
    }
  }
}
