import ParleySQLite

/// One verified property of the database.
struct Check: Sendable {
  let name: String
  /// The property, as a sentence.
  let proves: String
  private let body: @Sendable (Examination) throws -> Void

  init(_ name: String, _ proves: String, _ body: @escaping @Sendable (Examination) throws -> Void) {
    self.name = name
    self.proves = proves
    self.body = body
  }

  /// Ordered so that the first fault found is nearest to its cause. `files` runs after them.
  static let ofSnapshot: [Check] = [
    integrity, constraints, foreignKeys, chains, chainHashes, streams, starts, logAndState, counters, tombstones, seals,
    sends,
    references, attachments, fileUse, members, readPositions, audit, sanctions, search,
  ]

  /// Checks for a copy of a database of any version: fast, the others take ten times as long.
  static let ofCopy: [Check] = [integrity, foreignKeys, chains, streams, counters]

  func run(_ examination: Examination) throws -> Verification.Finding {
    do {
      try body(examination)
    } catch let error as SQLiteError where error.isDamage {
      examination.fault("unreadable: \(error.message)")
    }
    return Verification.Finding(
      check: name, proves: proves, counts: examination.counts, faults: examination.faults,
      faultCount: examination.faultCount)
  }
}
