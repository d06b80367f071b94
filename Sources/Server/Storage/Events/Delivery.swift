public import ParleyModel

/// The events of a commit, for subscribers.
public struct Delivery: Sendable {
  /// In the order of the log.
  public var events: [Event]
  /// Ways in that were closed with it, before its events.
  public var endedSessions: [ID<Session>]

  public init(events: [Event] = [], endedSessions: [ID<Session>] = []) {
    self.events = events
    self.endedSessions = endedSessions
  }

  var isEmpty: Bool { events.isEmpty && endedSessions.isEmpty }
}
