// The single writer, with group commit. Callers queue closures. The writer runs all queued closures in one transaction,
// updates the search index once, commits once with fsync, and then answers all callers. The next batch gathers during
// the sync, so concurrent load makes batches larger.
//
// A closure that refuses, takes too long or changes too many rows is rolled back alone. Nearly all refusals come before
// the first change, so a batch starts without savepoints, which are a fifth of its cost. If a closure needs a rollback
// after a change, the transaction is rolled back and all closures run again, each in a savepoint. After a database
// fault no request of the batch is acknowledged, every caller gets `unavailable`, and the next batch tries the disk
// again.
//
// Between two batches the writer can run one task outside of a transaction, such as a checkpoint.

import Dispatch
import Glibc
import ParleyModel
import ParleySQLite
import Synchronization

actor Writer {
  /// One closure that waits, and how its caller is answered.
  private struct Request: Sendable {
    let callSite: CallSite
    /// Runs the closure. The result answers the caller after the commit.
    let run: @Sendable (WriteTransaction) -> Outcome
    /// For a closure that never ran.
    let refuse: @Sendable (Refusal) -> Void
  }

  /// Takes the reason why the batch was not committed; nil after the commit.
  private typealias Answer = (_ failure: Refusal?) -> Void

  private enum Outcome {
    case changed(answer: Answer)
    case refused(answer: () -> Void)
  }

  /// The result of one run of a closure.
  private struct Run {
    let work: WriteTransaction
    let rows: Int
    let isKept: Bool
    let answer: Answer
  }

  /// Work between two batches, which returns how its caller is answered.
  private typealias Aside = @Sendable (Connection) -> () -> Void

  /// The requests of one commit.
  private struct Batch {
    /// Its requests, in order.
    var requests: [Request]
    /// Whether each runs in a savepoint.
    var usesSavepoints = false
    /// Answers of the requests that have run, in the order of `requests`.
    var answers: [Answer] = []
    var delivery = Delivery()
    var searchChanges: [SearchChange] = []
    var erasures: [Erasure] = []
    var hasChanges = false
    var hasStartedJob = false
  }

  private struct Inbox {
    var requests: [Request] = []
    var asides: [Aside] = []
    /// Number of unanswered requests, including those of the current batch.
    var waitingCount = 0
    var counts = WriteCounts()
    var isBusy = false
    var isClosed = false
    var hasFailed = false
  }

  private nonisolated let executor = SerialQueue("parley.writer")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private nonisolated let inbox = Mutex(Inbox())
  private nonisolated let commits = Atomic(0)
  private let connection: Connection
  private var counters: LastNumbers
  private var journal: ErasureJournal
  /// Requests taken from the queue, the next one last.
  private var taken: [Request] = []
  private let clock: @Sendable () -> Int64
  private let deliver: @Sendable (Delivery) -> Void
  private let startJobs: @Sendable () -> Void
  private nonisolated let gate: WriteGate
  private nonisolated let log: @Sendable (String) -> Void

  /// Maximum number of queued closures. Further callers get `unavailable`.
  static let maxWaiting = 8_192
  /// Maximum number of closures in one commit.
  private static let maxInBatch = 256
  /// The time for which a batch accepts closures: the first of them waits for the last.
  private static let longestBatch: Duration = .milliseconds(50)
  /// The processor time after which a closure is logged, and the time after which it is rolled back. Processor time
  /// does not depend on other load, but a virtual machine counts stolen time as used, hence two limits. Larger work is
  /// a job.
  static let muchWork: Duration = .milliseconds(100)
  static let maxWork: Duration = .seconds(2)
  static let maxRows = 10_000
  /// The wall-clock limit of a closure and of a task between batches.
  private static let longest: Duration = .seconds(5)

  init(
    _ connection: sending Connection, journal: ErasureJournal, clock: @escaping @Sendable () -> Int64,
    deliver: @escaping @Sendable (Delivery) -> Void, startJobs: @escaping @Sendable () -> Void,
    gate: WriteGate, log: @escaping @Sendable (String) -> Void
  ) throws(SQLiteError) {
    counters = try Self.readCounters(connection)
    self.connection = connection
    self.journal = journal
    self.clock = clock
    self.deliver = deliver
    self.startJobs = startJobs
    self.gate = gate
    self.log = log
  }

  static func readCounters(_ connection: Connection) throws(SQLiteError) -> LastNumbers {
    var counters = LastNumbers(id: 0, event: 0)
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

  nonisolated func write<Value: Sendable>(
    _ callSite: CallSite, _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    if let refusal = gate.refusal { throw refusal }
    let result: Result<Value, Refusal> = await withCheckedContinuation { continuation in
      let request = Request(
        callSite: callSite,
        run: { transaction in
          do throws(Refusal) {
            let value = try rule(transaction)
            return .changed { failure in
              continuation.resume(returning: failure.map { .failure($0) } ?? .success(value))
            }
          } catch {
            return .refused { continuation.resume(returning: .failure(error)) }
          }
        },
        refuse: { continuation.resume(returning: .failure($0)) })
      if !submit({ $0.requests.append(request) }) { request.refuse(.unavailable) }
    }
    return try result.get()
  }

  /// Runs `body` between two batches, outside of any transaction. Where it is limited it is cut short like a closure.
  nonisolated func aside<Value: Sendable>(
    _ callSite: CallSite, isLimited: Bool, _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws(Refusal) -> Value {
    if let refusal = gate.refusal { throw refusal }
    let result: Result<Value, Refusal> = await withCheckedContinuation { continuation in
      let isTaken = submit { inbox in
        inbox.asides.append { [gate, log] connection in
          do {
            let value =
              try isLimited
              ? connection.limited(to: Self.longest, patience: 1) { try body(connection) } : body(connection)
            return { continuation.resume(returning: .success(value)) }
          } catch {
            log("\(callSite): \(error)")
            let refusal = gate.close(after: error)
            return { continuation.resume(returning: .failure(refusal)) }
          }
        }
      }
      if !isTaken { continuation.resume(returning: .failure(.unavailable)) }
    }
    return try result.get()
  }

  private nonisolated func submit(_ add: (inout Inbox) -> Void) -> Bool {
    let (isTaken, mustWake) = inbox.withLock { inbox in
      guard !inbox.isClosed, inbox.waitingCount < Self.maxWaiting else { return (false, false) }
      add(&inbox)
      inbox.waitingCount += 1
      defer { inbox.isBusy = true }
      return (true, !inbox.isBusy)
    }
    if mustWake { Task { await drain() } }
    return isTaken
  }

  /// The number of unanswered closures.
  nonisolated var waitingCount: Int { inbox.withLock { $0.waitingCount } }

  /// Rises after each change of the database, before any caller is answered.
  nonisolated var version: Int { commits.load(ordering: .acquiring) }

  nonisolated var counts: WriteCounts { inbox.withLock { $0.counts } }

  /// Whether a change asked for now may be expected to become durable: the writer is open, and the disk took the last.
  nonisolated var isReady: Bool { inbox.withLock { !$0.isClosed && !$0.hasFailed } }

  /// Refuses new requests, writes the queued ones and closes the database.
  func close() {
    inbox.withLock { $0.isClosed = true }
    drain()
    connection.close()
  }

  // MARK: Turns

  /// Alternates batches and tasks, so that neither starves.
  private func drain() {
    repeat {
      if let first = takeRequest() { write(first) }
      if let aside = takeAside() { run(aside) }
    } while !rests()
  }

  private func takeRequest() -> Request? {
    if taken.isEmpty {
      taken = inbox.withLock { inbox in
        defer { inbox.requests = [] }
        return inbox.requests
      }
      taken.reverse()
    }
    return taken.popLast()
  }

  private nonisolated func takeAside() -> Aside? {
    inbox.withLock { inbox in inbox.asides.isEmpty ? nil : inbox.asides.removeFirst() }
  }

  private func run(_ aside: Aside) {
    let rowsBefore = connection.totalChanges
    let answer = aside(connection)
    if connection.totalChanges != rowsBefore { commits.add(1, ordering: .releasing) }
    inbox.withLock { $0.waitingCount -= 1 }
    answer()
  }

  /// Whether the queue is empty. After that the next submission wakes the writer.
  private func rests() -> Bool {
    guard taken.isEmpty else { return false }
    return inbox.withLock { inbox in
      guard inbox.requests.isEmpty, inbox.asides.isEmpty else { return false }
      inbox.isBusy = false
      return true
    }
  }

  // MARK: Writing

  private func write(_ first: Request) {
    let before = counters
    var batch = Batch(requests: [first])
    var failure: Refusal?
    do {
      var transaction = try connection.begin(.immediate)
      let end = ContinuousClock.now + Self.longestBatch
      var next: Request? = first
      while let request = next {
        if batch.usesSavepoints {
          try runApart(request, &batch)
        } else if let answer = runTogether(request, &batch) {
          transaction.rollBack()
          counters = before
          transaction = try connection.begin(.immediate)
          try repeatApart(&batch)
          batch.answers.append(answer)
        }
        next = batch.requests.count < Self.maxInBatch && .now < end ? takeRequest() : nil
        if let next { batch.requests.append(next) }
      }
      if counters.id != before.id || counters.event != before.event { try saveCounters() }
      try SearchIndex.apply(batch.searchChanges, connection)
      try transaction.commit()
    } catch {
      log("A batch of \(batch.requests.count) writes failed: \(error)")
      counters = before
      failure = gate.close(after: error)
    }
    if failure != nil || batch.hasChanges { commits.add(1, ordering: .releasing) }
    if failure == nil, !batch.erasures.isEmpty { journal.add(batch.erasures) }
    let unrun = unrun(batch)
    inbox.withLock { inbox in
      inbox.waitingCount -= batch.answers.count + unrun.count
      if failure == nil { inbox.counts.add(batch.answers.count) } else { inbox.counts.failures += 1 }
      if failure != nil { inbox.hasFailed = true } else if batch.hasChanges { inbox.hasFailed = false }
    }
    if failure == nil, !batch.delivery.isEmpty { deliver(batch.delivery) }
    if failure == nil, batch.hasStartedJob { startJobs() }
    for answer in batch.answers { answer(failure) }
    for request in unrun { request.refuse(failure ?? .unavailable) }
  }

  /// The requests that a failed batch did not run. If not even the first could begin, all fail.
  private func unrun(_ batch: Batch) -> [Request] {
    guard batch.answers.isEmpty else { return Array(batch.requests[batch.answers.count...]) }
    defer { taken = [] }
    return batch.requests + taken.reversed()
  }

  /// Runs a request without a savepoint. If it fails after a change, the whole transaction must be rolled back: returns
  /// its answer, which is not yet among the others.
  private func runTogether(_ request: Request, _ batch: inout Batch) -> Answer? {
    let run = run(request)
    if run.isKept { keep(run, &batch) } else if run.rows > 0 { return run.answer }
    batch.answers.append(run.answer)
    return nil
  }

  private func runApart(_ request: Request, _ batch: inout Batch) throws {
    let savepoint = try connection.savepoint()
    let run = run(request)
    if run.isKept {
      try savepoint.release()
      keep(run, &batch)
    } else {
      savepoint.rollBack()
    }
    batch.answers.append(run.answer)
  }

  /// Repeats the batch in savepoints, except for its last request, which has its answer.
  private func repeatApart(_ batch: inout Batch) throws {
    let requests = batch.requests
    batch = Batch(requests: requests, usesSavepoints: true)
    for request in requests.dropLast() { try runApart(request, &batch) }
  }

  private func run(_ request: Request) -> Run {
    let work = WriteTransaction(connection, counters: counters, now: clock())
    let rowsBefore = connection.totalChanges
    // The writer's work does not change threads between two looks.
    let workBefore = ProcessorTime.ofThread
    let outcome = connection.limited(to: Self.longest, patience: 1) { request.run(work) }
    let rows = connection.totalChanges - rowsBefore
    let time = ProcessorTime.ofThread - workBefore
    let fault = work.fault ?? Self.limitViolation(rows, time)
    if let reason = fault ?? Self.slowWarning(time) { log("\(request.callSite): \(reason)") }
    let refusal = work.cause.map { gate.close(after: $0) } ?? .unavailable
    return switch outcome {
    // The rule continued after a failed statement, or exceeded a limit: its result is discarded.
    case .changed(let answer) where fault != nil: Run(work: work, rows: rows, isKept: false) { _ in answer(refusal) }
    case .changed(let answer): Run(work: work, rows: rows, isKept: true, answer: answer)
    case .refused(let answer): Run(work: work, rows: rows, isKept: false) { _ in answer() }
    }
  }

  private func keep(_ run: Run, _ batch: inout Batch) {
    counters = run.work.counters
    batch.delivery.events += run.work.events
    batch.delivery.endedSessions += run.work.endedSessions
    batch.searchChanges += run.work.searchChanges
    batch.erasures += run.work.erasures
    if run.rows > 0 { batch.hasChanges = true }
    if run.work.hasStartedJob { batch.hasStartedJob = true }
  }

  private static func limitViolation(_ rows: Int, _ time: Duration) -> String? {
    if rows > maxRows { return "a write changed \(rows) rows; the maximum is \(maxRows)" }
    if time > maxWork { return "a write took \(time) of the processor; the maximum is \(maxWork)" }
    return nil
  }

  private static func slowWarning(_ time: Duration) -> String? {
    time > muchWork ? "a write took \(time) of the processor; above \(muchWork) it should be a job" : nil
  }

  /// The two names are the only ones between them; SQLite would build a temporary table for `in`.
  private func saveCounters() throws {
    try connection.execute(
      """
      update counter
      set value = case name when 'id' then $1 else $2 end
      where name between 'event' and 'id'
      """, counters.id, counters.event)
  }
}
