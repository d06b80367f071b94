// What the store does by itself. `tick` is called every few seconds and does what is due, a little at a time: a chore is
// a closure of the writer, queued again while more is left, so that what people write goes between.
//
// What was deleted must be out of the files ten minutes after. The database overwrites it (`secure_delete`) as soon as
// the log is copied into it, and the log is emptied by a truncating checkpoint, two minutes after the last one when
// something was written since. A reader that still looks at an older picture keeps the log: nobody waits for it, the
// next tick tries again.

import Model
import SQLite

public actor Housekeeping {
  /// What goes when its time has come.
  private enum Chore: CaseIterable {
    case finishedJobs, expiredSessions, expiredLinks

    /// Takes at most so many rows, and returns whether more are left.
    func work(_ tx: WriteTransaction, limit: Int) throws(Refusal) -> Bool {
      switch self {
      case .finishedJobs: try tx.removeFinishedJobs(limit: limit)
      case .expiredSessions: try tx.removeExpiredSessions(limit: limit)
      case .expiredLinks: try tx.removeExpiredLinks(limit: limit)
      }
    }
  }

  private let store: Store
  private var isTicking = false
  /// When the log was last emptied, and what the connection had changed until then.
  private var emptied: (at: Int64, changes: Int)?
  private var hasComplainedOfLog = false

  /// How often the daemon should call `tick`.
  public static let interval: Duration = .seconds(10)
  private static let rowsAtOnce = 500
  /// How often a chore is repeated in one tick.
  private static let mostRepeats = 100
  static let timeBetweenEmptyings: Int64 = 120_000
  /// A log of more pages than this, 256 MB, is told to the host.
  static let largestLog = 65_536

  public init(_ store: Store) {
    self.store = store
  }

  /// Does what is due. One that comes while the one before is still busy does nothing.
  public func tick() async {
    guard !isTicking else { return }
    isTicking = true
    defer { isTicking = false }
    if !store.isReady { await tryDisk() }
    for chore in Chore.allCases { await run(chore) }
    await emptyLog()
    store.wakeJobs()
  }

  /// A chore that fails has been complained of by the writer, and comes again with the next tick.
  private func run(_ chore: Chore) async {
    do throws(Refusal) {
      for _ in 0..<Self.mostRepeats {
        guard try await store.write({ tx throws(Refusal) in try chore.work(tx, limit: Self.rowsAtOnce) }) else {
          return
        }
      }
    } catch { return }
  }

  /// After a failure nobody may write for a long time, since readiness sends people elsewhere: so the store does.
  private func tryDisk() async {
    do throws(Refusal) { try await store.write { tx throws(Refusal) in try tx.touch() } } catch { return }
  }

  private func emptyLog() async {
    let now = store.clock()
    let emptied = emptied
    if let emptied, now - emptied.at < Self.timeBetweenEmptyings { return }
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
