import ParleyModel

/// Runs stored jobs, chunk by chunk. A chunk is queued after the commit of the previous one, so that other writes run
/// in between. Jobs are stored in the database only: after a restart or crash they resume at the last commit.
actor JobRunner {
  private let writer: Writer
  private let kinds: [String: JobKind]
  private let clock: @Sendable () -> Int64
  private let log: @Sendable (String) -> Void

  /// The backoff of a failed job.
  private struct Retry {
    var failures: Int
    var at: Int64
  }

  private var retries: [ID<Job>: Retry] = [:]
  /// Jobs of kinds that this program does not have: named in the log once.
  private var unknownKinds: Set<ID<Job>> = []
  private var round: Task<Void, Never>?
  private var isWoken = false
  private var isClosed = false

  /// Maximum number of jobs that take turns; younger ones wait for one to finish.
  private static let maxAtOnce = 1_000
  /// A failed chunk is tried again after this, then after twice as long, and so on.
  static let firstRetry: Int64 = 10_000
  private static let longestRetry: Int64 = 600_000

  /// - Parameter starts: signals that jobs may be due.
  init(
    _ writer: Writer, _ kinds: [JobKind], starts: AsyncStream<Void>, clock: @escaping @Sendable () -> Int64,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.writer = writer
    self.kinds = Dictionary(kinds.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.clock = clock
    self.log = log
    Task { for await _ in starts { await run() } }
  }

  /// Runs due jobs until none is left. Concurrent callers wait for the same run.
  func run() async {
    isWoken = true
    if let round { return await round.value }
    let round = Task { await runRounds() }
    self.round = round
    await round.value
  }

  /// Stops after the running chunk.
  func close() async {
    isClosed = true
    await round?.value
  }

  private func runRounds() async {
    while isWoken, !isClosed {
      isWoken = false
      while await runRound() {}
    }
    round = nil
  }

  /// One chunk of each job that is due; whether there was one.
  private func runRound() async -> Bool {
    let open: [(id: ID<Job>, kind: String)]
    do throws(Refusal) {
      open = try await writer.write(CallSite()) { tx throws(Refusal) in try tx.openJobs(limit: Self.maxAtOnce) }
    } catch {
      return false
    }
    var hasRun = false
    for job in open {
      if isClosed { return false }
      if let retry = retries[job.id], retry.at > clock() { continue }
      guard let kind = kinds[job.kind] else {
        logUnknownKind(job.id, job.kind)
        continue
      }
      if await runChunk(of: job.id, kind) { hasRun = true }
    }
    return hasRun
  }

  /// False when it failed and has to wait.
  private func runChunk(of id: ID<Job>, _ kind: JobKind) async -> Bool {
    do throws(Refusal) {
      do throws(Refusal) {
        try await writer.write(CallSite()) { tx throws(Refusal) in try tx.runChunk(of: id, kind) }
      } catch {
        if error.isFault { throw error }
        log("The job \(id) (\(kind.name)) ended: \(error.code)")
        try await writer.write(CallSite()) { tx throws(Refusal) in try tx.endJob(id, with: error) }
      }
      retries[id] = nil
      return true
    } catch {
      let failures = (retries[id]?.failures ?? 0) + 1
      let wait = min(Self.firstRetry << min(failures - 1, 16), Self.longestRetry)
      retries[id] = Retry(failures: failures, at: clock() + wait)
      log("The job \(id) (\(kind.name)) failed: \(error.code); the next attempt is in \(wait / 1_000) seconds")
      return false
    }
  }

  private func logUnknownKind(_ id: ID<Job>, _ kind: String) {
    guard unknownKinds.insert(id).inserted else { return }
    log("The job \(id) waits: this program does not know its kind \"\(kind)\".")
  }
}
