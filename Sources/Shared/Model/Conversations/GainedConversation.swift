/// A conversation that somebody takes part in from now on: what everyone sees of it, and where they come in.
public struct GainedConversation: Sendable, Hashable {
  public var conversation: Conversation
  /// Nil for the owner of a feed, who takes no part in it.
  public var participation: OwnConversation.Participation?
  /// How far they had come when they were in it before.
  public var readPosition: ReadPosition

  public init(
    _ conversation: Conversation, _ participation: OwnConversation.Participation?, _ readPosition: ReadPosition = ReadPosition()
  ) {
    self.conversation = conversation
    self.participation = participation
    self.readPosition = readPosition
  }
}
