public import ParleyModel

/// The result of sending all pending operations once.
public struct OutboxRound: Sendable, Hashable {
  /// A completed operation.
  public struct Sent: Sendable, Hashable {
    /// The operation as it was sent. That of a new conversation has its id.
    public var operation: OutboxOperation
    /// The created message or the target.
    public var message: ID<Message>?
  }

  /// In the order of sending.
  public var sent: [Sent] = []
  /// The operations that the server refused.
  public var failed: [OutboxOperation] = []
  /// The fault that left operations pending, such as a missing network.
  public var stopped: ClientFault?

  init(stopped: ClientFault? = nil) { self.stopped = stopped }
}
