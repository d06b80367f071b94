public import ParleyModel

// Elements of lists have an identity, so that a view can show them as they are.

extension ShownMessage: Identifiable {
  /// The same before and after sending.
  public var id: String { identity }
}

extension ShownConversation: Identifiable {
  /// The conversation's id.
  public var id: ID<Conversation> { conversation.id }
}
