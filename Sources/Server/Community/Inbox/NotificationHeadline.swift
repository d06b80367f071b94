public import ParleyModel

/// The facts for the sentence of a notification without a message.
public struct NotificationHeadline: Sendable, Hashable {
  public let kind: Notification.Kind
  /// The name of the actor; that of the site if there is none, or if it is hidden.
  public let name: String
  /// Whether the name is that of the actor.
  public let hasActor: Bool
  /// Whether the notified user did it.
  public let isOwn: Bool
  /// The state of an alert.
  public let alert: String?

  /// - Parameter actor: the name of the actor; nil if it is hidden or there is none.
  init(_ notification: Notification, for user: ID<User>, actor: String?, site: String) {
    kind = notification.kind
    name = actor ?? site
    hasActor = actor != nil
    isOwn = notification.actor == user
    alert = notification.alert
  }
}
