// What the store does by itself. `tick` is called every few seconds and does what is due, a little at a time: a chore is
// a closure of the writer, queued again while more is left, so that what people write goes between.
//
// What was deleted must be out of the files ten minutes after. The database overwrites it (`secure_delete`) as soon as
// the log is copied into it, and the log is emptied by a truncating checkpoint, two minutes after the last one when
// something was written since. What was said in messages is in the search index, too: a round of `Forgetting` begins
// when some of it was destroyed, four minutes after the last one began at the earliest, and has then six minutes to come
// to its end. A reader that still looks at an older picture keeps the log: nobody waits for it, the next tick tries
// again.

import ParleyModel
import ParleySQLite

public actor Housekeeping {
  /// What goes when its time has come.
  private enum Chore: CaseIterable {
    case finishedJobs, expiredSessions, expiredLinks, expiredSeals, expiredReportCopies, owedReceipts, endedBans,
      unusedFiles, idleUploads

    /// Takes at most so many rows, and returns whether more are left.
    func work(_ tx: WriteTransaction, limit: Int) throws(Refusal) -> Bool {
      switch self {
      case .finishedJobs: try tx.removeFinishedJobs(limit: limit)
      case .expiredSessions: try tx.removeExpiredSessions(limit: limit)
      case .expiredLinks: try tx.removeExpiredLinks(limit: limit)
      case .expiredSeals: try tx.expireSealed(limit: limit)
      case .expiredReportCopies: try tx.expireReportCopies(limit: limit)
      case .owedReceipts: try tx.tellOwedReceipts(limit: limit)
      case .endedBans: try tx.liftEndedBans(limit: limit)
      case .unusedFiles: try tx.removeUnusedFiles(limit: limit)
      case .idleUploads: try tx.removeIdleUploads(limit: limit)
      }
    }
  }

  private let store: Store
  private let largestRewritten: Int
  private let eventAge: Int64?
  private var isTicking = false
  /// When the log was last emptied, and what the connection had changed until then.
  private var emptied: (at: Int64, changes: Int)?
  private var hasComplainedOfLog = false
  /// Whether what a crash may have left has not been looked for yet.
  private var hasStrays = true
  /// The round that is under way, and how much had been destroyed when it began.
  private var round: (forgetting: Forgetting, destroyed: Int)?
  private var lastRoundAt: Int64?

  /// How often the daemon should call `tick`.
  public static let interval: Duration = .seconds(10)
  private static let rowsAtOnce = 100
  private static let eventsAtOnce = 1_000
  /// How often a chore is repeated in one tick.
  private static let mostRepeats = 100
  static let timeBetweenEmptyings: Int64 = 120_000
  static let timeBetweenRounds: Int64 = 240_000
  /// Steps of a round in one tick: an index of ten million messages takes 23 ticks.
  private static let mostSteps = 200
  static let timeBetweenRewritings: Int64 = 86_400_000
  /// A log of more pages than this, 256 MB, is told to the host.
  static let largestLog = 65_536

  /// A database of more than `largestRewritten` bytes takes longer than four seconds to be written anew, during which
  /// nobody writes: that is left to `parley purge`.
  /// Events are kept for `eventAge` milliseconds; nil is for ever.
  public init(_ store: Store, largestRewritten: Int = 256_000_000, eventAge: Int64? = nil) {
    self.store = store
    self.largestRewritten = largestRewritten
    self.eventAge = eventAge
  }

  /// Does what is due. One that comes while the one before is still busy does nothing.
  public func tick() async {
    guard !isTicking else { return }
    isTicking = true
    defer { isTicking = false }
    if !store.isReady { await tryDisk() }
    for chore in Chore.allCases { await run { tx throws(Refusal) in try chore.work(tx, limit: Self.rowsAtOnce) } }
    if let eventAge {
      let end = store.clock() - eventAge
      await run { tx throws(Refusal) in try tx.removeEvents(before: end, limit: Self.eventsAtOnce) }
    }
    await removeFiles()
    await forget()
    await emptyLog()
    store.wakeJobs()
  }

  /// A chore that fails has been complained of by the writer, and comes again with the next tick.
  private func run(_ work: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Bool) async {
    do throws(Refusal) {
      for _ in 0..<Self.mostRepeats {
        guard try await store.write(work) else { return }
      }
    } catch { return }
  }

  /// After a failure nobody may write for a long time, since readiness sends people elsewhere: so the store does.
  private func tryDisk() async {
    do throws(Refusal) { try await store.write { tx throws(Refusal) in try tx.touch() } } catch { return }
  }

  /// What no row names any longer.
  private func removeFiles() async {
    do throws(Refusal) {
      if hasStrays {
        try await store.removeStrays()
        hasStrays = false
      }
      for _ in 0..<Self.mostRepeats { guard try await store.removeLooseContent() else { break } }
      try await store.removeStrayParts()
    } catch { return }
  }

  // MARK: Forgetting

  private func forget() async {
    do throws(Refusal) {
      if round == nil { round = try await nextRound() }
      guard let (begun, destroyed) = round else { return }
      var forgetting = begun
      // One that writes everything anew is not tried again and again.
      if forgetting.isRewriting { round = nil }
      for _ in 0..<Self.mostSteps {
        let progress = try await store.advance(&forgetting)
        round = (forgetting, destroyed)
        switch progress {
        case .more: continue
        case .blocked: return
        case .done:
          round = nil
          let isRewriting = forgetting.isRewriting
          return try await store.write { tx throws(Refusal) in
            try tx.noteForgotten(destroyed, rewritten: isRewriting)
          }
        }
      }
    } catch { return }
  }

  private func nextRound() async throws(Refusal) -> (Forgetting, Int)? {
    let now = store.clock()
    let destruction = try await store.readInBackground { tx throws(Refusal) in try tx.destruction() }
    if destruction.count > destruction.forgotten {
      guard Self.hasPassed(Self.timeBetweenRounds, since: lastRoundAt, now) else { return nil }
      lastRoundAt = now
      return (Forgetting(), destruction.count)
    }
    guard destruction.count > destruction.rewritten,
      Self.hasPassed(Self.timeBetweenRewritings, since: destruction.rewriteBegunAt, now), store.waitingCount == 0,
      let size = Disk.size(store.folder.database), size <= largestRewritten
    else { return nil }
    try await store.write { tx throws(Refusal) in try tx.noteRewriteBegun() }
    return (Forgetting(rewriting: true), destruction.count)
  }

  /// A clock that was put back holds up nothing.
  private static func hasPassed(_ time: Int64, since last: Int64?, _ now: Int64) -> Bool {
    last.map { !($0..<($0 + time) ~= now) } ?? true
  }

  // MARK: The log

  private func emptyLog() async {
    let now = store.clock()
    let emptied = emptied
    guard Self.hasPassed(Self.timeBetweenEmptyings, since: emptied?.at, now) else { return }
    do throws(Refusal) {
      let (changes, checkpoint) = try await store.aside { connection in
        let changes = connection.totalChanges
        return (changes, changes == emptied?.changes ? nil : try connection.checkpoint(.truncate, isWaiting: false))
      }
      guard let checkpoint else { return }
      if checkpoint.isBusy { return complain(of: checkpoint.pages) }
      self.emptied = (now, changes)
      hasComplainedOfLog = false
    } catch { return }
  }

  private func complain(of pages: Int) {
    guard pages > Self.largestLog, !hasComplainedOfLog else { return }
    hasComplainedOfLog = true
    store.complain(
      "the write-ahead log has \(pages) pages and can't be emptied: a reader, such as a backup, has been busy for long")
  }
}

extension WriteTransaction {
  /// A change that leaves nothing and has to reach the disk all the same. (SQLite does not write what is equal.)
  fileprivate func touch() throws(Refusal) {
    try run { connection in
      try connection.execute("insert into setting (name, value) values ('touch', '')")
      try connection.execute("delete from setting where name = 'touch'")
    }
  }
}
