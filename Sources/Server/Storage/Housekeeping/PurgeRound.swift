// Purging deleted content. From its commit on no query finds it, but its bytes remain in the files, in three
// positions:
//
// - Pages of tables. The writer's `secure_delete` overwrites cells, freed pages and overflow pages with zeros.
// - The search index. FTS5 only records a removal in a new segment; the term is gone when its segment is merged with
//   that record. Merging proceeds in steps (sqlite.org/fts5.html §6.8): the first puts all existing segments into one
//   level, the following merge them page by page. Writes in between create new segments for the next round.
// - The write-ahead log, until it is checkpointed completely and truncated. (The database file contains the old
//   pages until then, too.)
//
// One limitation is known: when SQLite rebalances a full page, the copy of a moved cell is not overwritten until its
// space is reused (`rebuildPage` in btree.c, regardless of `secure_delete`). A row that was moved and then deleted may
// leave bytes. A round that rewrites the whole database leaves none.

import ParleyModel
import ParleySQLite

/// One round: purges the bytes of all content deleted before it. Runs on the writer's connection, between batches,
/// outside any transaction.
struct PurgeRound: Sendable {
  enum Progress {
    /// Another step is required.
    case more
    /// A reader still uses old pages; retry later.
    case blocked
    case done
  }

  enum Stage {
    case gathering, merging, rewriting, truncatingLog, done
  }

  private(set) var stage = Stage.gathering
  /// Whether the whole database is rewritten: one long step, which needs the same disk space again, twice for a
  /// moment.
  let isRewriting: Bool

  /// Index pages written per step: 4 ms, or 25 ms if they contain only position lists of the commonest words.
  private static let pagesPerStep = 64

  init(rewriting isRewriting: Bool = false) {
    self.isRewriting = isRewriting
  }

  mutating func step(_ connection: Connection) throws(SQLiteError) -> Progress {
    switch stage {
    case .gathering:
      try Self.mergeFromTwo(connection)
      try Self.merge(-Self.pagesPerStep, connection)
      stage = .merging
      return .more
    case .merging:
      let before = connection.totalChanges
      try Self.merge(Self.pagesPerStep, connection)
      // A step with fewer changes than pages has completed the merge: each page written is at least one change.
      if connection.totalChanges - before < Self.pagesPerStep {
        stage = isRewriting ? .rewriting : .truncatingLog
      }
      return .more
    case .rewriting:
      try Self.rewrite(connection)
      stage = .truncatingLog
      return .more
    case .truncatingLog:
      // Writers do not wait for a reader.
      guard try !connection.checkpoint(.truncate, isWaiting: false).isBusy else { return .blocked }
      stage = .done
      return .done
    case .done:
      return .done
    }
  }

  private static func rewrite(_ connection: Connection) throws(SQLiteError) {
    // On disk, for lack of memory: the writer's temporary tables are in memory otherwise.
    try connection.execute("pragma temp_store = file")
    let result = Result { () throws(SQLiteError) in try connection.execute("vacuum") }
    try connection.execute("pragma temp_store = memory")
    _ = try result.get()
  }

  /// By default FTS5 does not continue a merge of fewer than four segments after as many small ones were added.
  private static func mergeFromTwo(_ connection: Connection) throws(SQLiteError) {
    let least = try connection.first(
      """
      select v
      from search_config
      where k = 'usermerge'
      """
    ) { row in try row.int(0) }
    if least == 2 { return }
    try connection.execute("insert into search (search, rank) values ('usermerge', 2)")
  }

  private static func merge(_ pages: Int, _ connection: Connection) throws(SQLiteError) {
    try connection.execute("insert into search (search, rank) values ('merge', $1)", pages)
  }
}

extension Store {
  /// Runs one step, between two batches. A rewrite has no time limit.
  func advance(_ purgeRound: inout PurgeRound) async throws(Refusal) -> PurgeRound.Progress {
    let before = purgeRound
    let (progress, after) = try await aside(isLimited: before.stage != .rewriting) { connection in
      var purgeRound = before
      let progress = try purgeRound.step(connection)
      return (progress, purgeRound)
    }
    purgeRound = after
    return progress
  }
}
