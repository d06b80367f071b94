public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Appends an event to the log, in the transaction of its change.
  func log(
    _ kind: Event.Kind, in stream: EventStream, subject: Int, revision: Int, actor: Int
  ) throws(Refusal) {
    let number = stream.number
    let id = counters.event + 1
    let now = self.now
    let offset = try run { connection in
      let offset =
        try connection.first(
          """
          insert into stream (id, head, last_event)
          values ($1, 1, $2)
          on conflict (id) do update
          set head = head + 1, last_event = excluded.last_event
          returning head
          """, number, id
        ) { row in try row.int(0) } ?? 0
      try connection.execute(
        """
        insert into event (id, stream, stream_offset, kind, subject, revision, actor, at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        """, id, number, offset, kind.rawValue, subject, revision, actor, Int(now))
      return offset
    }
    counters.event = id
    events.append(
      Event(
        id: id, stream: stream, offset: offset, kind: kind, subject: subject, revision: revision, actor: actor, at: now)
    )
  }
}

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
