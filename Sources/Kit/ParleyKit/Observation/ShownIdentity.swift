public import ParleyModel

// Elements of lists have an identity, so that a view can show them as they are.

extension ShownMessage: Identifiable {
  public var id: String { identity }
}

extension ShownConversation: Identifiable {
  public var id: ID<Conversation> { conversation.id }
}
