public import ParleyModel

/// An encoded event, shared by all subscribers of its stream.
public final class Publication: Sendable {
  public let delivered: DeliveredEvent
  public let frames: EventFrames
  /// The frames for subscribers that may not see the full event. Nil if all subscribers may see it.
  public let reduced: EventFrames?

  public init(_ delivered: DeliveredEvent, _ frames: EventFrames, reduced: EventFrames? = nil) {
    self.delivered = delivered
    self.frames = frames
    self.reduced = reduced
  }

  public var event: Event { delivered.event }

  /// The frame for this reader, or nil if the event is not sent to it.
  public func frame(for reader: StreamReader, withCursor: Bool) -> Frame? {
    let frames = delivered.isOpen(to: reader) ? self.frames : reduced
    return withCursor ? frames?.withCursor : frames?.withoutCursor
  }
}

/// An entry of a mailbox. The order is the order of delivery.
public enum Broadcast: Sendable {
  case event(Publication)
  /// The read access of some clients may have changed.
  case access(AccessChange)
  case signal(Signal, Frame)
  /// These sessions were revoked or have expired.
  case ended(Set<ID<Session>>)
}

/// The clients whose read access may have changed.
public enum AccessChange: Sendable, Hashable {
  case user(ID<User>)
  /// Readers of an open conversation who are not participants.
  case conversation(ID<Conversation>)
  /// All readers of the forum and its conversations.
  case forum(ID<Forum>)
  /// Readers of all conversations of a forum with a new topic.
  case topics(of: ID<Forum>)
  /// The readers of the timeline of a user, who follows, mutes or blocks others.
  case timeline(of: ID<User>)

  /// Nil if the event changes neither read access nor the streams of a topic.
  public init?(_ event: Event) {
    switch event.kind {
    case .conversationCreated:
      switch event.stream {
      case .user(let user): self = .user(user)
      case .forum(let forum): self = .topics(of: forum)
      case .conversation, .site: return nil
      }
    case .conversationUpdated:
      guard case .conversation(let id) = event.stream else { return nil }
      self = .conversation(id)
    case .conversationRemoved:
      switch event.stream {
      case .user(let user): self = .user(user)
      case .conversation(let id): self = .conversation(id)
      case .forum, .site: return nil
      }
    case .participantLeft:
      guard case .forum = event.stream else { return nil }
      self = .user(ID(event.subject))
    case .userUpdated:
      guard event.stream == .site else { return nil }
      self = .user(ID(event.subject))
    case .forumUpdated, .forumDeleted:
      // In the stream of a user: the user's access by groups.
      if case .user(let user) = event.stream { self = .user(user) } else { self = .forum(ID(event.subject)) }
    case .relationChanged:
      guard case .user(let user) = event.stream else { return nil }
      self = .timeline(of: user)
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved,
      .receiptUpdated, .participantJoined, .participantChanged, .forumCreated, .notificationCreated, .notificationRead,
      .readPositionUpdated, .levelChanged, .laterChanged, .preferencesUpdated, .settingsUpdated,
      .pollUpdated, .buttonPressed, .commandReplied, .timelineRead, .timelineFiltersChanged:
      return nil
    }
  }
}
