// Background maintenance of the store. `tick` is called every few seconds and runs due work in small parts: a chore
// is a closure of the writer, queued again while rows remain, so that users' writes run in between.
//
// Deleted content must be gone from the files after ten minutes. The database overwrites it (`secure_delete`) at the
// checkpoint. The log is truncated two minutes after the last truncation if there were writes since. Message text is
// also in the search index: a round of `PurgeRound` starts after content was destroyed, at least four minutes after
// the last one, and has six minutes to complete. A reader of an older snapshot retains the log: the next tick retries.

import ParleyModel
import ParleySQLite

public actor Housekeeping {
  /// Periodic deletions.
  private enum Chore: CaseIterable {
    case finishedJobs, expiredSessions, oldEndedSessions, oldSignIns, expiredLinks, expiredSeals, expiredReportCopies,
      pendingReceipts,
      expiredBans, endedStatuses, endedLater, unusedFiles, idleUploads, oldWebhookDeliveries, previousSecrets,
      previousCommandSecrets, oldMails, oldBounces, oldPasswordResets, oldPresses, oldInvocations,
      expiredAppCodes, usedRefreshTokens, idleGrants, unusedApps, expiredExports, expiredSubscriptions,
      unchainedMessages

    /// Handles up to `limit` rows and returns whether more remain.
    func work(_ tx: WriteTransaction, limit: Int) throws(Refusal) -> Bool {
      switch self {
      case .finishedJobs: try tx.removeFinishedJobs(limit: limit)
      case .expiredSessions: try tx.removeExpiredSessions(limit: limit)
      case .oldEndedSessions: try tx.removeOldEndedSessions(limit: limit)
      case .oldSignIns: try tx.removeOldSignIns(limit: limit)
      case .expiredLinks: try tx.removeExpiredLinks(limit: limit)
      case .expiredSeals: try tx.expireSealed(limit: limit)
      case .expiredReportCopies: try tx.expireReportCopies(limit: limit)
      case .pendingReceipts: try tx.sendPendingReceipts(limit: limit)
      case .expiredBans: try tx.liftExpiredBans(limit: limit)
      case .endedStatuses: try tx.clearEndedStatuses(limit: limit)
      case .endedLater: try tx.removeEndedLater(limit: limit)
      case .unusedFiles: try tx.removeUnusedFiles(limit: limit)
      case .idleUploads: try tx.removeIdleUploads(limit: limit)
      case .oldWebhookDeliveries: try tx.removeOldWebhookDeliveries(limit: limit)
      case .previousSecrets: try tx.removePreviousSecrets(limit: limit)
      case .previousCommandSecrets: try tx.removePreviousCommandSecrets(limit: limit)
      case .oldMails: try tx.removeOldMails(limit: limit)
      case .oldBounces: try tx.removeOldBounces(limit: limit)
      case .oldPasswordResets: try tx.removeOldPasswordResets(limit: limit)
      case .oldPresses: try tx.removeOldPresses(limit: limit)
      case .oldInvocations: try tx.removeOldInvocations(limit: limit)
      case .expiredAppCodes: try tx.removeExpiredAppCodes(limit: limit)
      case .usedRefreshTokens: try tx.removeUsedRefreshTokens(limit: limit)
      case .idleGrants: try tx.removeIdleGrants(limit: limit)
      case .unusedApps: try tx.removeUnusedApps(limit: limit)
      case .expiredExports: try tx.removeExpiredExports(limit: limit)
      case .expiredSubscriptions: try tx.removeExpiredSubscriptions(limit: limit)
      case .unchainedMessages: try tx.chainUnchained(limit: limit)
      }
    }
  }

  private let store: Store
  private let maxRewrittenBytes: Int
  private var eventAge: Int64?
  private let checksIntegrity: Bool
  private let didCheckIntegrity: @Sendable () -> Void
  private var isTicking = false
  /// Time of the last truncation of the log, and `totalChanges` then.
  private var lastTruncation: (at: Int64, changes: Int)?
  private var hasLoggedSize = false
  /// Whether the search for files left by a crash is pending.
  private var needsCleanup = true
  /// The current round, and the number of destructions at its start.
  private var round: (purgeRound: PurgeRound, destroyed: Int)?
  private var lastRoundAt: Int64?
  /// The night of the last integrity check; nil before the first one.
  private var lastCheckedNight: Int64?

  /// Interval at which the daemon calls `tick`.
  public static let interval: Duration = .seconds(10)
  private static let rowsPerChunk = 100
  private static let eventsPerChunk = 1_000
  /// Maximum repetitions of a chore per tick.
  private static let maxRepeats = 100
  static let truncationInterval: Int64 = 120_000
  static let roundInterval: Int64 = 240_000
  /// Steps of a round per tick: an index of ten million messages takes 23 ticks.
  private static let maxSteps = 200
  static let rewriteInterval: Int64 = 86_400_000
  private static let day: Int64 = 86_400_000
  /// Time of day of the integrity check, in UTC: 3:00.
  private static let checkTime: Int64 = 3 * 3_600_000
  /// A log of more pages than this, 256 MB, is logged.
  static let maxLogPages = 65_536

  /// A rewrite of more than `maxRewrittenBytes` bytes blocks writes for more than four seconds and is left to `parley
  /// purge`. Events older than `eventAge` milliseconds are deleted; nil keeps them all.
  /// `checksIntegrity` is off in tests of the write-ahead log, which the check's reader may hold. `didCheckIntegrity`
  /// is called after each check.
  public init(
    _ store: Store, maxRewrittenBytes: Int = 256_000_000, eventAge: Int64? = nil, checksIntegrity: Bool = false,
    didCheckIntegrity: @escaping @Sendable () -> Void = {}
  ) {
    self.store = store
    self.maxRewrittenBytes = maxRewrittenBytes
    self.eventAge = eventAge
    self.checksIntegrity = checksIntegrity
    self.didCheckIntegrity = didCheckIntegrity
  }

  /// Replaces the retention of events.
  public func use(eventAge: Int64?) { self.eventAge = eventAge }

  /// Runs the chores that are due. No-op while the previous tick runs.
  public func tick() async {
    guard !isTicking else { return }
    isTicking = true
    defer { isTicking = false }
    checkIntegrity()
    store.examineDisk()
    if !store.isReady { await tryDisk() }
    for chore in Chore.allCases { await run { tx throws(Refusal) in try chore.work(tx, limit: Self.rowsPerChunk) } }
    if let eventAge {
      let end = store.clock() - eventAge
      await run { tx throws(Refusal) in try tx.removeEvents(before: end, limit: Self.eventsPerChunk) }
    }
    store.removePreviousDatabase()
    await store.stopRemovedExport()
    await removeFiles()
    await purgeDeleted()
    await truncateLog()
    store.wakeJobs()
  }

  /// The writer logs a failing chore. The next tick retries it.
  private func run(_ work: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Bool) async {
    do throws(Refusal) {
      for _ in 0..<Self.maxRepeats {
        guard try await store.write(work) else { return }
      }
    } catch { return }
  }

  /// Starts an integrity check after the start, and every night.
  private func checkIntegrity() {
    let night = (store.clock() - Self.checkTime) / Self.day
    guard checksIntegrity, night != lastCheckedNight else { return }
    lastCheckedNight = night
    store.startIntegrityCheck(filesOf: FilePart(night: night), didEnd: didCheckIntegrity)
  }

  /// Probes the disk. After a failure readiness diverts traffic, so no user's write would show the recovery.
  private func tryDisk() async {
    do throws(Refusal) { try await store.write { tx throws(Refusal) in try tx.touch() } } catch { return }
  }

  /// Removes content without a row.
  private func removeFiles() async {
    do throws(Refusal) {
      if needsCleanup {
        try await store.removeOrphanedContent()
        needsCleanup = false
      }
      for _ in 0..<Self.maxRepeats { guard try await store.removeLooseContent() else { break } }
      try await store.removeOrphanedParts()
    } catch { return }
  }

  // MARK: PurgeRound

  private func purgeDeleted() async {
    do throws(Refusal) {
      if round == nil { round = try await nextRound() }
      guard let (begun, destroyed) = round else { return }
      var purgeRound = begun
      // A failed rewrite is not retried.
      if purgeRound.isRewriting { round = nil }
      for _ in 0..<Self.maxSteps {
        let progress = try await store.advance(&purgeRound)
        round = (purgeRound, destroyed)
        switch progress {
        case .more: continue
        case .blocked: return
        case .done:
          round = nil
          let isRewriting = purgeRound.isRewriting
          return try await store.write { tx throws(Refusal) in
            try tx.recordPurged(destroyed, rewritten: isRewriting)
          }
        }
      }
    } catch { return }
  }

  private func nextRound() async throws(Refusal) -> (PurgeRound, Int)? {
    let now = store.clock()
    let destruction = try await store.readInBackground { tx throws(Refusal) in try tx.destruction() }
    if destruction.count > destruction.purged {
      guard Self.hasPassed(Self.roundInterval, since: lastRoundAt, now) else { return nil }
      lastRoundAt = now
      return (PurgeRound(), destruction.count)
    }
    guard destruction.count > destruction.rewritten,
      Self.hasPassed(Self.rewriteInterval, since: destruction.rewriteStartedAt, now), store.waitingCount == 0,
      let size = Disk.size(store.folder.database), size <= maxRewrittenBytes
    else { return nil }
    try await store.write { tx throws(Refusal) in try tx.recordRewriteStart() }
    return (PurgeRound(rewriting: true), destruction.count)
  }

  /// After the clock was set back, the time counts as passed.
  private static func hasPassed(_ time: Int64, since last: Int64?, _ now: Int64) -> Bool {
    last.map { !($0..<($0 + time) ~= now) } ?? true
  }

  // MARK: The log

  private func truncateLog() async {
    let now = store.clock()
    let lastTruncation = lastTruncation
    guard Self.hasPassed(Self.truncationInterval, since: lastTruncation?.at, now) else { return }
    do throws(Refusal) {
      let (changes, checkpoint) = try await store.aside { connection in
        let changes = connection.totalChanges
        return (
          changes, changes == lastTruncation?.changes ? nil : try connection.checkpoint(.truncate, isWaiting: false)
        )
      }
      guard let checkpoint else { return }
      if checkpoint.isBusy { return logSize(checkpoint.pages) }
      self.lastTruncation = (now, changes)
      hasLoggedSize = false
    } catch { return }
  }

  private func logSize(_ pages: Int) {
    guard pages > Self.maxLogPages, !hasLoggedSize else { return }
    hasLoggedSize = true
    store.log(
      "The write-ahead log has \(pages) pages and can't be truncated: a reader such as a backup is still running")
  }
}

extension WriteTransaction {
  /// A change that leaves no data but reaches the disk. (SQLite does not write equal content.)
  fileprivate func touch() throws(Refusal) {
    try run { connection in
      try connection.execute("insert into setting (name, value) values ('touch', '')")
      try connection.execute("delete from setting where name = 'touch'")
    }
  }
}
