// Deleted text is found by nothing from its commit on, but its bytes are still in the files, in three places:
//
// - Pages of the tables. The writer's `secure_delete` overwrites cells, freed pages and overflow pages with zeros.
// - The search index. FTS5 only notes a removal in a new segment; the word goes when its segment is merged with that note.
//   Merging goes by steps (sqlite.org/fts5.html §6.8): the first makes one level of all segments that there are, the
//   following merge them, page by page. What is written meanwhile makes new segments and waits for the next round.
// - The write-ahead log, until all of it is in the database and it is cut to nothing. (The database itself holds the old
//   pages until then, too.)
//
// One rest is known: when SQLite shares the cells of a full page out among its neighbours, the copy that a cell leaves
// behind is not overwritten until its room is used again (`rebuildPage` in btree.c, whatever `secure_delete` says). A row
// that was moved so and then deleted may leave bytes. A round that writes the whole database anew leaves nothing.

import ParleyModel
import ParleySQLite

/// One round, which takes the bytes of all that was deleted before it out of the files. It runs on the writer's
/// connection, between batches, outside of any transaction.
struct Forgetting: Sendable {
  enum Progress {
    /// Another step is to be done.
    case more
    /// A reader still looks at old pages: to be tried again later.
    case blocked
    case done
  }

  enum Stage {
    case gathering, merging, rewriting, emptyingLog, done
  }

  private(set) var stage = Stage.gathering
  /// Whether the whole database is written anew: one long step, which wants as much room again, twice for a moment.
  let isRewriting: Bool

  /// Pages of the index that a step writes: 4 ms, and 25 ms where they hold nothing but places of the commonest words.
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
      // A step that ends early has found nothing more to merge: each page that it writes is at least one change.
      if connection.totalChanges - before < Self.pagesPerStep {
        stage = isRewriting ? .rewriting : .emptyingLog
      }
      return .more
    case .rewriting:
      try Self.rewrite(connection)
      stage = .emptyingLog
      return .more
    case .emptyingLog:
      // Nobody who writes waits for a reader.
      guard try !connection.checkpoint(.truncate, isWaiting: false).isBusy else { return .blocked }
      stage = .done
      return .done
    case .done:
      return .done
    }
  }

  private static func rewrite(_ connection: Connection) throws(SQLiteError) {
    // On the disk, where there is room: a writer's temporary tables are in memory otherwise.
    try connection.execute("pragma temp_store = file")
    let result = Result { () throws(SQLiteError) in try connection.execute("vacuum") }
    try connection.execute("pragma temp_store = memory")
    _ = try result.get()
  }

  /// By default a merge of fewer than four segments is not gone on with once as many small ones have come.
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
  /// One step of a round, between two batches. Writing everything anew may take as long as it takes.
  func advance(_ forgetting: inout Forgetting) async throws(Refusal) -> Forgetting.Progress {
    let before = forgetting
    let (progress, after) = try await aside(isLimited: before.stage != .rewriting) { connection in
      var forgetting = before
      let progress = try forgetting.step(connection)
      return (progress, forgetting)
    }
    forgetting = after
    return progress
  }
}
