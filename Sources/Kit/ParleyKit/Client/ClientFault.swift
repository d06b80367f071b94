public import ParleyJSON

/// Why a call did not succeed. There are no others, and each has a sentence for the person.
public enum ClientFault: Error, Sendable, Hashable {
  /// The server can't be reached; nothing was sent.
  case offline(String)
  /// Whoever answers could not prove to be the server that is meant.
  case untrusted(String)
  case timedOut
  /// The connection broke, and nobody knows whether the server has read it.
  case interrupted(String)
  /// Somebody between here and the server answers in its place, as the networks of hotels and trains do.
  case captivePortal
  /// What came makes no sense here.
  case notUnderstood(String)
  /// The answer is longer than was wanted.
  case tooLarge
  /// The file that was to be sent can't be read.
  case unreadable(String)
  /// The server says no.
  case refused(Problem)
  /// Another person has signed in than last time.
  case accountChanged
  case cancelled
  /// The app ended while it was tried. To try again is safe.
  case unfinished
  /// What is kept on this device can't be written, and so nothing is sent of which nobody would know.
  case notKept

  /// It may go well later, without anybody doing anything.
  public var isTemporary: Bool {
    switch self {
    case .offline, .timedOut, .interrupted, .captivePortal, .unfinished, .notKept: true
    case .refused(let problem): [408, 429, 502, 503, 504].contains(problem.status)
    case .untrusted, .notUnderstood, .tooLarge, .unreadable, .accountChanged, .cancelled: false
    }
  }

  /// The server has surely done nothing.
  var isUndone: Bool {
    switch self {
    case .offline, .untrusted: true
    case .refused(let problem): problem.status == 429
    case .timedOut, .interrupted, .captivePortal, .notUnderstood, .tooLarge, .unreadable, .accountChanged, .cancelled,
      .unfinished, .notKept:
      false
    }
  }

  /// What the server says, where it says no.
  public var problem: Problem? {
    if case .refused(let problem) = self { problem } else { nil }
  }

  /// Whoever asks has to sign in.
  public var isSignedOut: Bool { problem?.status == 401 }

  /// What was asked for is not there, or not any more, or not for this person.
  var isGone: Bool { problem.map { [403, 404, 410].contains($0.status) } ?? false }

  /// For the person, in English; an app with more languages chooses by the case and the problem's code.
  public var sentence: String {
    switch self {
    case .offline: "The server can’t be reached. Is the network there?"
    case .untrusted: "Whoever answers could not prove to be this server, so nothing was sent."
    case .timedOut: "The server took too long to answer."
    case .interrupted: "The connection broke."
    case .captivePortal: "This network wants something first. Open its page in a browser."
    case .notUnderstood: "The server has said something that makes no sense here. Perhaps one of the two is too old."
    case .tooLarge: "The answer is larger than can be taken."
    case .unreadable: "The file can’t be read."
    case .refused(let problem): problem.sentence
    case .accountChanged: "Somebody else has signed in here than last time."
    case .cancelled: "It was given up."
    case .unfinished: "The app ended before the server had answered."
    case .notKept: "What is kept on this device can’t be written."
    }
  }

  init(_ failure: TransportFailure) {
    switch failure {
    case .unreachable(let reason): self = .offline(reason)
    case .untrusted(let reason): self = .untrusted(reason)
    case .timedOut: self = .timedOut
    case .interrupted(let reason): self = .interrupted(reason)
    case .malformed(let reason): self = .notUnderstood(reason)
    case .tooLarge: self = .tooLarge
    case .notUpgraded(let status, let body): self = Reply(status: status, fields: [], body: body).fault
    case .sourceFailed(let reason): self = .unreadable(reason)
    case .cancelled: self = .cancelled
    }
  }
}

// MARK: As it is kept

extension ClientFault: JSONWritable, JSONReadable {
  private enum Kind: String, CaseIterable {
    case offline, untrusted, timedOut, interrupted, captivePortal, notUnderstood, tooLarge, unreadable, refused
    case accountChanged, cancelled, unfinished, notKept
  }

  private var kind: Kind {
    switch self {
    case .offline: .offline
    case .untrusted: .untrusted
    case .timedOut: .timedOut
    case .interrupted: .interrupted
    case .captivePortal: .captivePortal
    case .notUnderstood: .notUnderstood
    case .tooLarge: .tooLarge
    case .unreadable: .unreadable
    case .refused: .refused
    case .accountChanged: .accountChanged
    case .cancelled: .cancelled
    case .unfinished: .unfinished
    case .notKept: .notKept
    }
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("kind", kind.rawValue)
      switch self {
      case .offline(let reason), .untrusted(let reason), .interrupted(let reason), .notUnderstood(let reason),
        .unreadable(let reason):
        json.field("reason", reason)
      case .refused(let problem):
        json.field("problem", problem.representation)
        json.field("retry_after", problem.retryAfter)
      case .timedOut, .captivePortal, .tooLarge, .accountChanged, .cancelled, .unfinished, .notKept: break
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
    case .notUnderstood: self = .notUnderstood(try object.string("reason"))
    case .tooLarge: self = .tooLarge
    case .unreadable: self = .unreadable(try object.string("reason"))
    case .refused:
      var problem: Problem = try object.read("problem")
      problem.retryAfter = try object.optional("retry_after")
      self = .refused(problem)
    case .accountChanged: self = .accountChanged
    case .cancelled: self = .cancelled
    case .unfinished: self = .unfinished
    case .notKept: self = .notKept
    }
  }
}

extension Problem {
  /// For the person.
  public var sentence: String {
    switch code {
    case "unauthenticated", "session_ended": "Sign in first."
    case "forbidden": "You may not do this."
    case "not_found": "There is nothing here that you can see."
    case "gone": "It is no longer here."
    case "conflict": "It has changed meanwhile. Look again."
    case "invalid", "unknown_field":
      errors.first.map { "This can’t be taken: \($0.field)." } ?? "This can’t be taken as it is."
    case "too_large": "It is too large."
    case "no_room": "There is no room for it."
    case "taken": "Somebody has this already."
    case "rate_limited", "newcomer_limited":
      retryAfter.map { "That was much at once. Try again in \($0) s." } ?? "That was much at once. Try again later."
    case "unavailable": "The server can’t do it now. Try again later."
    default: title
    }
  }
}

extension Reply {
  var isSuccess: Bool { (200...299).contains(status) || status == 304 }

  private var isHTML: Bool { self["content-type"]?.lowercased().hasPrefix("text/html") == true }

  /// Whether it is a page where none of ours can be. RFC 6585 §6: 511 says so itself.
  var isOfPortal: Bool { status == 511 || isHTML || (300...399).contains(status) && status != 304 }

  /// What an answer means that is no success.
  var fault: ClientFault {
    if isOfPortal { return .captivePortal }
    do throws(JSONError) {
      var problem = try Problem(json: JSONValue(parsing: body))
      problem.retryAfter = self["retry-after"].flatMap { Int($0) }.map { max(0, $0) }
      return .refused(problem)
    } catch {
      // A proxy speaks for a server that is away.
      return [502, 503, 504].contains(status) ? .interrupted("\(status)") : .notUnderstood("\(status) without a reason")
    }
  }
}
