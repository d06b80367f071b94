/// Pagination cursor for messages of many conversations by time: continues before this time and id.
public struct TimelineCursor: Sendable, Hashable {
  public let time: Int
  public let message: ID<Message>

  public init(time: Int, message: ID<Message>) {
    self.time = time
    self.message = message
  }
}
