/// Where messages of many conversations, listed by their times, go on: before the one of this time and id.
public struct TimelineCursor: Sendable, Hashable {
  public let time: Int
  public let message: ID<Message>

  public init(time: Int, message: ID<Message>) {
    self.time = time
    self.message = message
  }
}
