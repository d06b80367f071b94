// Every error that ParleyKit throws is a `ParleyFault`, besides `CancellationError`. So an app catches one type; it switches
// over the cases of `ClientFault`, `CacheFault`, `SyncRefusal`, `OutboxRefusal` or `AppAuthorizationFault` only where it
// needs them. A function that throws one of these types names it; a function that throws several has an untyped `throws`,
// since no existential type can be thrown.

/// Kinds of errors, for a switch with few cases.
public enum FaultKind: String, Sendable, Hashable, CaseIterable {
  /// No network, or no usable one. The request can be repeated.
  case network
  /// The server can't answer now.
  case unavailable
  /// Too many requests. The request can be repeated later.
  case rateLimit = "rate_limit"
  /// A sign-in is needed, or a second step of it.
  case account
  /// Another user has signed in.
  case userChanged = "user_changed"
  /// The user may not do this.
  case permission
  /// The request or its object: it does not exist, has changed, or has wrong values.
  case refused
  /// The app or the user has cancelled it.
  case cancelled
  /// Any other error: the storage of the device, or a response that no server sends.
  case unexpected
}

/// An error of ParleyKit.
public protocol ParleyFault: Error {
  /// A stable name, for translations and decisions of the app: that of the server's problem, such as `forbidden`, or of the
  /// case, such as `offline`.
  var code: String { get }
  /// A text for the user, in English.
  var userMessage: String { get }
  /// Retryable without user action.
  var isTemporary: Bool { get }
}

/// An error of the kit as a fault. The others are a cancellation, and an error of the local storage.
func fault(of error: any Error) -> any ParleyFault {
  if let fault = error as? any ParleyFault { return fault }
  return error is CancellationError ? ClientFault.cancelled : CacheFault(error)
}

extension ClientFault: ParleyFault {
  /// A stable name of the case, or the code of the server's problem.
  public var code: String {
    switch self {
    case .offline: "offline"
    case .untrusted: "untrusted"
    case .timedOut: "timed_out"
    case .interrupted: "interrupted"
    case .captivePortal: "captive_portal"
    case .invalidResponse: "invalid_response"
    case .tooLarge: "response_too_large"
    case .unreadable: "unreadable_file"
    case .refused(let problem): problem.code.rawValue
    case .userChanged: "user_changed"
    case .cancelled: "cancelled"
    case .unfinished: "unfinished"
    case .storageFailed: "storage_failed"
    }
  }
}

extension CacheFault: ParleyFault {
  /// A stable name of the case.
  public var code: String {
    switch self {
    case .broken: "storage_broken"
    case .inUse: "storage_in_use"
    case .newer: "storage_newer"
    case .closed: "closed"
    case .locked: "locked"
    }
  }

  /// Retryable without user action.
  public var isTemporary: Bool {
    switch self {
    case .inUse: true
    case .broken, .newer, .closed, .locked: false
    }
  }
}

extension SyncRefusal: ParleyFault {
  /// A stable name of the case.
  public var code: String {
    switch self {
    case .userChanged: "user_changed"
    case .unsentWork: "unsent_work"
    case .unknownConversation: "unknown_conversation"
    case .unknownForum: "unknown_forum"
    case .unknownMessage: "unknown_message"
    }
  }

  /// Retryable without user action.
  public var isTemporary: Bool {
    switch self {
    // Succeeds once the outbox is sent.
    case .unsentWork: true
    case .userChanged, .unknownConversation, .unknownForum, .unknownMessage: false
    }
  }
}

extension OutboxRefusal: ParleyFault {
  /// A stable name of the case.
  public var code: String {
    switch self {
    case .unknownOperation: "unknown_operation"
    case .targetGone: "target_gone"
    case .unsentWork: "unsent_work"
    case .isStopped: "outbox_stopped"
    }
  }

  /// Retryable without user action.
  public var isTemporary: Bool {
    switch self {
    case .unsentWork: true
    case .unknownOperation, .targetGone, .isStopped: false
    }
  }
}

extension AppAuthorizationFault: ParleyFault {
  /// A stable name of the case, the error of OAuth, or the code of the failed request.
  public var code: String {
    switch self {
    case .refused(let error, _): error
    case .redirectMismatch: "redirect_mismatch"
    case .failed(let fault): fault.code
    case .noRandomBytes: "no_random_bytes"
    }
  }

  /// Retryable without user action.
  public var isTemporary: Bool {
    switch self {
    case .refused(let error, _): error == "server_error" || error == "temporarily_unavailable"
    case .failed(let fault): fault.isTemporary
    case .redirectMismatch, .noRandomBytes: false
    }
  }
}

extension ParleyFault {
  /// The kind of the error. A new code of the server has a kind by its status.
  public var kind: FaultKind {
    if let problem = (self as? ClientFault)?.problem { return problem.kind }
    if case .failed(let fault)? = self as? AppAuthorizationFault { return fault.kind }
    return switch code {
    case "offline", "timed_out", "interrupted", "captive_portal", "unfinished": .network
    case "user_changed": .userChanged
    case "cancelled": .cancelled
    case "locked", "closed", "invalid_grant": .account
    case "access_denied": .permission
    case "server_error", "temporarily_unavailable": .unavailable
    case "redirect_mismatch", "unknown_conversation", "unknown_forum", "unknown_message", "unknown_operation",
      "target_gone", "unsent_work":
      .refused
    default: .unexpected
    }
  }
}

extension Problem {
  fileprivate var kind: FaultKind {
    switch (code, status) {
    case ("second_factor_required", _), ("second_factor_missing", _), ("step_up_required", _), (_, 401): .account
    case (_, 403): .permission
    case (_, 429): .rateLimit
    case (_, 408), (_, 500...): .unavailable
    default: .refused
    }
  }
}
