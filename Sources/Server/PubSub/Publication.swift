public import ParleyModel

/// An event on its way to those who follow its stream. Shared by all of them.
public final class Publication: Sendable {
  public let delivered: DeliveredEvent
  public let frame: Frame
  /// For those to whom it is not open; nil where it is open to everyone who follows.
  public let reduced: Frame?

  public init(_ delivered: DeliveredEvent, _ frame: Frame, reduced: Frame? = nil) {
    self.delivered = delivered
    self.frame = frame
    self.reduced = reduced
  }

  public var event: Event { delivered.event }

  /// What somebody who follows the stream gets of it.
  public func frame(for reader: StreamReader) -> Frame? { delivered.isOpen(to: reader) ? frame : reduced }
}

/// What a shard is handed, in the order in which it is to be seen.
public enum Posting: Sendable {
  case event(Publication)
  /// Somebody may read more or less than before, since the event with this id.
  case access(AccessChange)
  case signal(Signal, Frame)
  /// These ways in are closed.
  case ended(Set<ID<Session>>)
}

/// Whose rights may be others now.
public enum AccessChange: Sendable, Hashable {
  case account(ID<Account>)
  /// Of those who read it without taking part.
  case conversation(ID<Conversation>)
  /// Of everyone, in all that is in it.
  case forum(ID<Forum>)

  /// Nil for what leaves everyone's rights alone.
  public init?(_ event: Event) {
    switch (event.kind, event.stream) {
    case (.conversationCreated, .user(let account)), (.conversationRemoved, .user(let account)):
      self = .account(account)
    case (.userUpdated, .site): self = .account(ID(event.subject))
    case (.conversationUpdated, .conversation(let id)), (.conversationRemoved, .conversation(let id)):
      self = .conversation(id)
    case (.forumUpdated, _), (.forumDeleted, _): self = .forum(ID(event.subject))
    case (.participantLeft, .forum): self = .account(ID(event.subject))
    default: return nil
    }
  }
}
