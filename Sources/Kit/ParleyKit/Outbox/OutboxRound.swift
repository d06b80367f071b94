public import ParleyModel

/// What came of sending, once, all that waited.
public struct OutboxRound: Sendable, Hashable {
  public struct Sent: Sendable, Hashable {
    public var operation: OutboxOperation
    /// The message that it made, or was about.
    public var message: ID<Message>?
  }

  /// In the order in which they went.
  public var sent: [Sent] = []
  /// What the server refused.
  public var failed: [OutboxOperation] = []
  /// Why something still waits, such as that there is no network.
  public var stopped: ClientFault?

  init(stopped: ClientFault? = nil) { self.stopped = stopped }
}
