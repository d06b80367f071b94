/// A stream of messages in one order.
public enum Conversation {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The live conversation of a forum, and a titled one in it.
    case room, topic
    /// Of two people; of several; of an app or an announcement, with a type of its own.
    case direct, group, channel
    /// What one person posts for those who follow.
    case feed
  }
}
