public import ParleyModel

/// An event of the outbox.
public enum OutboxEvent: Sendable, Hashable {
  /// The server has processed the operation. A sent message has its id; dependent operations now refer to it. The
  /// operation of a new conversation has its id.
  case didSend(OutboxOperation, message: ID<Message>?)
  /// An attempt has failed; `OutboxOperation.attempts` counts them. A `pending` operation is retried.
  case didFail(OutboxOperation, ClientFault)
  /// The upload of a file of an operation: bytes sent, and its size.
  case progress(OutboxOperation.Name, file: String, sent: Int, size: Int)
  /// The user has cancelled the operation.
  case cancelled(OutboxOperation.Name)
  /// The session was revoked or has expired. The outbox is stopped until the next sign-in.
  case signedOut
  /// Operations are not sent automatically until `start`.
  case stopped
}

/// The reason of a request to the outbox that was rejected locally.
public enum OutboxRefusal: Error, Sendable, Hashable {
  /// The outbox has no operation of this name.
  case unknownOperation
  /// The operation refers to an unsent message that was cancelled.
  case targetGone
  /// The outbox has unsent operations.
  case unsentWork([OutboxOperation])
  /// The outbox was stopped before the operation was sent.
  case isStopped

  /// A text for the user, in English.
  public var userMessage: String {
    switch self {
    case .unknownOperation: "This was already sent or cancelled."
    case .targetGone: "The message was never sent."
    case .unsentWork: "Some changes are not sent yet."
    case .isStopped: "Sending is paused."
    }
  }
}
