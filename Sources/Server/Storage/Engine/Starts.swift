import ParleyCrypto
import ParleySQLite

/// The starts of the daemon. A copy of the data folder that is put back continues the history from an earlier event, and
/// assigns the numbers of the lost events again. Each start has a random number, which is part of every cursor: a cursor
/// of a start that this database does not know, or of an event after the end of its start, is of lost events.
public struct Starts: Sendable {
  /// The state of a start that a cursor names.
  public enum State: Sendable, Hashable {
    case current
    /// An earlier start, and its last event.
    case ended(Int)
    case unknown
  }

  /// The number of this start, in the form that cursors have: base 36, at most 13 characters.
  public let current: String
  /// The last event of each earlier start.
  private let ends: [String: Int]
  /// The starts in order, each with the id that its first event has or would have.
  private let firstEvents: [(event: Int, start: String)]

  /// Maximum number of stored starts. A daemon that restarts every two seconds reaches it after nine hours; older cursors
  /// are then unknown.
  static let max = 16_384
  /// The minimum distance of the ids of two starts.
  static let idGap = 1 << 20
  /// Ids per millisecond, and the beginning of 2026: no site issues as many. A fixed gap would repeat itself in a copy, so
  /// the clock must pass it until the next start: in a second.
  private static let (idsPerMillisecond, origin) = (1_024, 1_767_225_600_000)
  /// A clock beyond the year 2165 does not move the ids.
  private static let maxID = 1 << 52

  /// The start that an event belongs to. Together they name the event also among copies of the database. Nil if the start
  /// is no longer known.
  public func start(of event: Int) -> String? {
    var (low, high) = (0, firstEvents.count)
    while low < high {
      let middle = (low + high) / 2
      if firstEvents[middle].event <= event { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : firstEvents[low - 1].start
  }

  public func state(of start: String) -> State {
    if start == current { return .current }
    return ends[start].map { .ended($0) } ?? .unknown
  }

  /// Stores a new start and moves the counter of ids, so that no id of another copy of the database is assigned again.
  static func begin(_ connection: Connection, at now: Int64) throws -> Starts {
    try connection.transaction {
      var starts = try connection.all(
        """
        select ordinal, number, first_event
        from start
        order by ordinal
        """
      ) { row in (ordinal: try row.int(0), number: try row.int(1), firstEvent: try row.int(2)) }
      let counters = try Writer.readCounters(connection)
      // A new database has no copy.
      if !starts.isEmpty || counters.id > 0 {
        let byClock = (Int(now) - Self.origin) * Self.idsPerMillisecond
        try connection.execute(
          """
          update counter
          set value = $1
          where name = 'id'
          """, Swift.max(counters.id + Self.idGap, byClock < Self.maxID ? byClock : 0))
      }
      let number = try SecureRandom.bytes(8).reduce(0) { $0 << 8 | Int($1) }
      try connection.execute(
        """
        insert into start (number, first_event)
        values ($1, $2)
        """, number, counters.event + 1)
      let floor = try connection.setting("event_floor").flatMap { Int($0) } ?? 0
      // A cursor of a start that ended before the beginning of the log is of no use.
      let trimmed = starts.lastIndex { $0.firstEvent <= floor } ?? 0
      let removed = Swift.max(trimmed, starts.count + 1 - Self.max)
      if removed > 0 {
        try connection.execute(
          """
          delete from start
          where ordinal < $1
          """, starts[removed].ordinal)
        starts.removeFirst(removed)
      }
      let firstEvents = starts.dropFirst().map(\.firstEvent) + [counters.event + 1]
      return Starts(
        current: text(number),
        ends: Dictionary(zip(starts, firstEvents).map { (text($0.number), $1 - 1) }, uniquingKeysWith: Swift.min),
        firstEvents: starts.map { (event: $0.firstEvent, start: text($0.number)) }
          + [(event: counters.event + 1, start: text(number))])
    }
  }

  private static func text(_ number: Int) -> String { String(UInt(bitPattern: number), radix: 36) }
}
