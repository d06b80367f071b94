public import ParleyModel

/// What becomes of what was asked for.
public enum OutboxEvent: Sendable, Hashable {
  /// The server has it. A message that was sent has its own id from now on, and whatever waited for it is about that.
  case didSend(OutboxOperation, message: ID<Message>?)
  /// It did not go. `OutboxOperation.attempts` says how often it was tried; while its state is `pending` it is tried again.
  case didFail(OutboxOperation, ClientFault)
  case progress(OutboxOperation.Name, file: String, sent: Int, size: Int)
  case cancelled(OutboxOperation.Name)
  /// The server does not know this user any longer. Nothing is sent until somebody signs in.
  case signedOut
  /// Nothing is sent by itself until it is started again.
  case stopped
}

/// What the user is told when they ask for something that can't be.
public enum OutboxRefusal: Error, Sendable, Hashable {
  case unknownOperation
  /// It waits for a message that was let go.
  case targetGone
  /// Something was not sent yet.
  case unsentWork([OutboxOperation])
  case isStopped

  public var userMessage: String {
    switch self {
    case .unknownOperation: "This was sent or let go already."
    case .targetGone: "The message that this is about was never sent."
    case .unsentWork: "Something was not sent yet."
    case .isStopped: "Nothing is sent at the moment."
    }
  }
}
