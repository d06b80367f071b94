public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Appends an event to the log, in the transaction of its change.
  ///
  /// - Parameter head: the last offset of the stream, for a caller that has read it.
  func log(
    _ kind: Event.Kind, in stream: EventStream, subject: Int, revision: Int, actor: Int, after head: Int? = nil
  ) throws(Refusal) {
    let number = stream.number
    let id = counters.event + 1
    let now = self.now
    let offset = if let head { head + 1 } else { try lastOffset(of: stream) + 1 }
    try run { connection in
      try connection.execute(
        """
        insert into stream (id, head, last_event)
        values ($1, $2, $3)
        on conflict (id) do update
        set head = excluded.head, last_event = excluded.last_event
        """, number, offset, id)
      try connection.execute(
        """
        insert into event (id, stream, stream_offset, kind, subject, revision, actor, at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        """, id, number, offset, kind.rawValue, subject, revision, actor, Int(now))
    }
    counters.event = id
    events.append(
      Event(
        id: id, stream: stream, offset: offset, kind: kind, subject: subject, revision: revision, actor: actor, at: now)
    )
  }
}

extension EventStream {
  /// SQL for the `number` of a user's stream.
  static func number(ofUser id: String) -> String { "(\(id) << 2 | 1)" }
}

/// The events of a commit, for subscribers.
public struct Delivery: Sendable {
  /// In the order of the log.
  public var events: [Event]
  /// Sessions that ended in it. Their connections are closed before the events are delivered.
  public var endedSessions: [ID<Session>]

  public init(events: [Event] = [], endedSessions: [ID<Session>] = []) {
    self.events = events
    self.endedSessions = endedSessions
  }

  var isEmpty: Bool { events.isEmpty && endedSessions.isEmpty }
}
