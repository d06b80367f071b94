/// Conversation that a user has joined: its public members and the user's participation.
public struct GainedConversation: Sendable, Hashable {
  public var conversation: Conversation
  /// Nil for the owner of a feed: owners are not participants.
  public var participation: OwnConversation.Participation?
  /// Read position from an earlier participation.
  public var readPosition: ReadPosition

  public init(
    _ conversation: Conversation, _ participation: OwnConversation.Participation?,
    _ readPosition: ReadPosition = ReadPosition()
  ) {
    self.conversation = conversation
    self.participation = participation
    self.readPosition = readPosition
  }
}
