import ParleyModel
import ParleySQLite

/// The writer's transaction. All closures of a batch share one database transaction; a refusal rolls back its own
/// changes only, for which the closures before it may run again.
public final class WriteTransaction: ReadTransaction {
  var counters: LastNumbers
  /// Logged events, in order. They are published after the commit.
  var events: [Event] = []
  /// Sessions that ended. They are published with the events.
  var endedSessions: [ID<Session>] = []
  /// Journaled after the commit.
  var erasures: [Erasure] = []
  /// Fed to the search index once, after the batch's last closure.
  var searchChanges: [SearchChange] = []
  /// Whether there is a new job, which begins after the commit.
  var hasStartedJob = false
  /// Whether this transaction has already raised the destruction counter.
  var hasNotedDestruction = false

  init(_ connection: Connection, counters: LastNumbers, now: Int64) {
    self.counters = counters
    super.init(connection, now: now)
  }

  /// The result of the next call of `nextID`.
  var upcomingID: Int { counters.id + 1 }

  /// Returns a new id, unique on the site.
  func nextID() -> Int {
    counters.id += 1
    return counters.id
  }
}

/// The last ids of an object and of an event. A rollback resets them, so event ids have no holes.
struct LastNumbers: Sendable {
  var id: Int
  var event: Int
}
