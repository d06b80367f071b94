import ParleyModel
import ParleySQLite

/// What a rule may do to the store while it holds the pen. All of a batch's closures run in one transaction of the
/// database; a refusal takes back its own changes alone, for which the closures before it may be run again.
public final class WriteTransaction: ReadTransaction {
  var counters: Counters
  /// What was logged, in order. Handed on after the commit.
  var events: [Event] = []
  /// Ways in that lead nowhere any longer. Handed on with the events.
  var endedSessions: [ID<Session>] = []
  /// Fed to the search index once, after the batch's last closure.
  var searchChanges: [SearchChange] = []
  /// Whether there is a new job, which begins after the commit.
  var hasStartedJob = false
  /// Whether it was noted that something that was said is nowhere any longer.
  var hasNotedDestruction = false

  init(_ connection: Connection, counters: Counters, now: Int64) {
    self.counters = counters
    super.init(connection, now: now)
  }

  /// A number that nothing else has or will have.
  func nextID() -> Int {
    counters.id += 1
    return counters.id
  }
}

/// The two counters, held by the writer. They go back with what a closure did, so events have no holes.
struct Counters: Sendable {
  var id: Int
  var event: Int
}
