import ParleySQLite

/// One thing that is proved.
struct Check: Sendable {
  let name: String
  /// What is true when it finds no fault.
  let proves: String
  private let body: @Sendable (Examination) throws -> Void

  init(_ name: String, _ proves: String, _ body: @escaping @Sendable (Examination) throws -> Void) {
    self.name = name
    self.proves = proves
    self.body = body
  }

  /// In an order in which the first fault found is nearest to the cause. `files` comes after them.
  static let ofPicture: [Check] = [
    integrity, constraints, foreignKeys, chains, streams, logAndState, counters, tombstones, seals, sends, references,
    attachments, fileUse, members, marks, audit, sanctions, search,
  ]

  /// What a copy of a database must pass, whatever its version: quick, where the others take ten times as long.
  static let ofCopy: [Check] = [integrity, foreignKeys, chains, streams, counters]

  func run(_ examination: Examination) throws -> Verification.Finding {
    do {
      try body(examination)
    } catch let error as SQLiteError where error.isDamage {
      examination.fault("it can't be read: \(error.message)")
    }
    return Verification.Finding(
      check: name, proves: proves, counts: examination.counts, faults: examination.faults,
      faultCount: examination.faultCount)
  }
}
