// The elements of lists have an identity, so that a view can show them as they are. The entities themselves are not
// `Identifiable`: its associated type would hide `ID` in their declarations.

extension ReplicaForum: Identifiable {
  public var id: ID<Forum> { forum.id }
}

extension ListedTopic: Identifiable {
  public var id: ParleyModel.ID<Conversation> { topic.id }
}

extension NotificationView: Identifiable {
  public var id: ID<Notification> { entry.id }
}
