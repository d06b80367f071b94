// Every error that ParleyKit throws is a `ParleyFault`, besides `CancellationError`. So an app catches one type; it switches
// over the cases of `ClientFault`, `CacheFault`, `SyncRefusal` or `OutboxRefusal` only where it needs them.

public protocol ParleyFault: Error {
  /// A stable name, for translations and decisions of the app: that of the server's problem, such as `forbidden`, or of the
  /// case, such as `offline`.
  var code: String { get }
  /// A text for the user, in English.
  var userMessage: String { get }
  /// Retryable without user action.
  var isTemporary: Bool { get }
}

extension ClientFault: ParleyFault {
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
    case .refused(let problem): problem.code
    case .userChanged: "user_changed"
    case .cancelled: "cancelled"
    case .unfinished: "unfinished"
    case .storageFailed: "storage_failed"
    }
  }
}

extension CacheFault: ParleyFault {
  public var code: String {
    switch self {
    case .broken: "storage_broken"
    case .inUse: "storage_in_use"
    case .newer: "storage_newer"
    case .closed: "closed"
    case .locked: "locked"
    }
  }

  public var isTemporary: Bool {
    switch self {
    case .inUse: true
    case .broken, .newer, .closed, .locked: false
    }
  }
}

extension SyncRefusal: ParleyFault {
  public var code: String {
    switch self {
    case .userChanged: "user_changed"
    case .unsentWork: "unsent_work"
    case .unknownConversation: "unknown_conversation"
    case .unknownForum: "unknown_forum"
    case .unknownMessage: "unknown_message"
    }
  }

  public var isTemporary: Bool {
    switch self {
    // It succeeds once the outbox is sent.
    case .unsentWork: true
    case .userChanged, .unknownConversation, .unknownForum, .unknownMessage: false
    }
  }
}

extension OutboxRefusal: ParleyFault {
  public var code: String {
    switch self {
    case .unknownOperation: "unknown_operation"
    case .targetGone: "target_gone"
    case .unsentWork: "unsent_work"
    case .isStopped: "outbox_stopped"
    }
  }

  public var isTemporary: Bool {
    switch self {
    case .unsentWork: true
    case .unknownOperation, .targetGone, .isStopped: false
    }
  }
}
