/// End of a stream.
public struct StreamHead: Sendable, Hashable {
  public var stream: EventStream
  /// The offset of its last event.
  public var offset: Int
  /// The id of its last event.
  public var event: Int

  public init(stream: EventStream, offset: Int, event: Int) {
    self.stream = stream
    self.offset = offset
    self.event = event
  }
}
