/// A conversation that somebody takes part in from now on: what everyone sees of it, and where they come in.
public struct GainedConversation: Sendable, Hashable {
  public var conversation: Conversation
  /// Nil for the owner of a feed, who takes no part in it.
  public var participation: OwnConversation.Participation?

  public init(_ conversation: Conversation, _ participation: OwnConversation.Participation?) {
    self.conversation = conversation
    self.participation = participation
  }
}
