// The one that writes. Callers queue closures; the writer takes all that wait, runs each in a savepoint of one
// transaction, feeds the search index once, commits once with a sync, and then answers all. While one batch is being
// synced the next gathers, so the more write at once, the more each sync carries.
//
// A refusal rolls back its own savepoint. Broken machinery may have rolled back everything: then nothing of the batch is
// acknowledged, every caller gets `unavailable`, and the next batch tries the disk anew.

import Dispatch
import Model
import SQLite
import Synchronization

actor Writer {
  /// One closure that waits, and how its caller is answered.
  struct Job: Sendable {
    /// Runs the closure; what comes back answers the caller once it is known whether the batch was committed.
    let run: @Sendable (WriteTransaction) -> Outcome
    /// For a closure that never ran.
    let refuse: @Sendable () -> Void
  }

  enum Outcome {
    case changed(answer: (_ isCommitted: Bool) -> Void)
    case refused(answer: () -> Void)
  }

  private struct Inbox {
    var jobs: [Job] = []
    var isBusy = false
    var isClosed = false
  }

  private nonisolated let executor = SerialQueue("parley.writer")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private nonisolated let inbox = Mutex(Inbox())
  private let connection: Connection
  private var counters: Counters
  private let clock: @Sendable () -> Int64
  private let deliver: @Sendable ([Event]) -> Void
  private let complain: @Sendable (String) -> Void

  /// How many closures may wait. Beyond it a caller is told to come back, instead of memory without end.
  static let mostWaiting = 8_192
  /// How many closures one commit carries.
  private static let mostInBatch = 256

  init(
    _ connection: sending Connection, clock: @escaping @Sendable () -> Int64,
    deliver: @escaping @Sendable ([Event]) -> Void, complain: @escaping @Sendable (String) -> Void
  ) throws {
    counters = try Self.readCounters(connection)
    self.connection = connection
    self.clock = clock
    self.deliver = deliver
    self.complain = complain
  }

  private static func readCounters(_ connection: Connection) throws -> Counters {
    var counters = Counters(id: 0, event: 0)
    for (name, value) in try connection.all(
      "select name, value from counter",
      read: { row in
        (try row.text(0), try row.int(1))
      })
    {
      if name == "id" { counters.id = value } else { counters.event = value }
    }
    return counters
  }

  // MARK: Queueing

  nonisolated func submit(_ job: Job) {
    let (isTaken, mustWake) = inbox.withLock { inbox in
      guard !inbox.isClosed, inbox.jobs.count < Self.mostWaiting else { return (false, false) }
      inbox.jobs.append(job)
      defer { inbox.isBusy = true }
      return (true, !inbox.isBusy)
    }
    guard isTaken else { return job.refuse() }
    if mustWake { Task { await drain() } }
  }

  /// Nothing more is taken. What waits is still written; then the database is closed.
  func close() {
    inbox.withLock { $0.isClosed = true }
    drain()
    connection.close()
  }

  private nonisolated func take() -> [Job] {
    inbox.withLock { inbox in
      let batch = Array(inbox.jobs.prefix(Self.mostInBatch))
      inbox.jobs.removeFirst(batch.count)
      if batch.isEmpty { inbox.isBusy = false }
      return batch
    }
  }

  private func drain() {
    while true {
      let batch = take()
      guard !batch.isEmpty else { return }
      write(batch)
    }
  }

  // MARK: Writing

  private func write(_ batch: [Job]) {
    let before = counters
    var answers: [(Bool) -> Void] = []
    var events: [Event] = []
    var waiting = batch[...]
    var isCommitted = false
    do {
      let transaction = try connection.begin(.immediate)
      var searchChanges: [SearchChange] = []
      while let job = waiting.first {
        let savepoint = try connection.savepoint()
        waiting.removeFirst()
        try run(job, savepoint, &answers, &events, &searchChanges)
      }
      if counters.id != before.id || counters.event != before.event { try saveCounters() }
      try SearchIndex.apply(searchChanges, connection)
      try transaction.commit()
      isCommitted = true
    } catch {
      complain("a batch of \(batch.count) writes failed: \(error)")
      counters = before
    }
    if isCommitted, !events.isEmpty { deliver(events) }
    for answer in answers { answer(isCommitted) }
    for job in waiting { job.refuse() }
  }

  private func run(
    _ job: Job, _ savepoint: consuming Savepoint, _ answers: inout [(Bool) -> Void], _ events: inout [Event],
    _ searchChanges: inout [SearchChange]
  ) throws {
    let work = WriteTransaction(connection, counters: counters, now: clock())
    switch job.run(work) {
    case .changed(let answer) where work.fault != nil:
      // The rule went on after a statement had failed: what it made is not what it meant.
      answers.append { _ in answer(false) }
      if let fault = work.fault { complain("\(fault)") }
      savepoint.rollBack()
    case .changed(let answer):
      answers.append(answer)
      try savepoint.release()
      counters = work.counters
      events += work.events
      searchChanges += work.searchChanges
    case .refused(let answer):
      answers.append { _ in answer() }
      if let fault = work.fault { complain("\(fault)") }
      savepoint.rollBack()
    }
  }

  private func saveCounters() throws {
    try connection.execute("update counter set value = $1 where name = 'id'", counters.id)
    try connection.execute("update counter set value = $1 where name = 'event'", counters.event)
  }
}
