// The elements of lists have an identity, so that a view can show them as they are. The entities themselves are not
// `Identifiable`: its associated type would hide `ID` in their declarations.

extension ReplicaForum: Identifiable {
  /// The id of the forum.
  public var id: ID<Forum> { forum.id }
}

extension ListedTopic: Identifiable {
  /// The id of the topic's conversation.
  public var id: ParleyModel.ID<Conversation> { topic.id }
}

extension NotificationView: Identifiable {
  /// The id of the notification.
  public var id: ID<Notification> { entry.id }
}
