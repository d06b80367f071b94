import ParleySQLite

/// One run of one check: its input and its findings.
final class Examination {
  let connection: Connection
  /// The data folder.
  let folder: String
  private(set) var counts: [Verification.Count] = []
  private(set) var faults: [String] = []
  private(set) var faultCount = 0

  private let check: String
  private let watch: (Verification.Step) throws -> Void
  private var done = 0
  private var total = 0

  /// Steps between two progress reports.
  private static let stepsPerReport = 4_096

  init(
    _ check: Check, _ folder: String, _ connection: Connection,
    _ watch: @escaping (Verification.Step) throws -> Void
  ) throws {
    self.check = check.name
    self.folder = folder
    self.connection = connection
    self.watch = watch
    try watch(.working(on: check.name, done: 0, of: 0))
  }

  func fault(_ sentence: String) {
    faultCount += 1
    if faults.count < Verification.maxListed { faults.append(sentence) }
  }

  /// Records `count` faults, of which the first are listed.
  func faults(_ sentences: [String], of count: Int) {
    for sentence in sentences { fault(sentence) }
    faultCount += max(0, count - sentences.count)
  }

  func count(_ number: Int, _ what: String) {
    counts.append(Verification.Count(number: number, what: what))
  }

  /// Sets the total number of steps.
  func expect(_ total: Int) { self.total = total }

  /// Reports progress and throws the error of the observer. Not for a row's closure, which would convert it to an
  /// SQLite error.
  func step(by count: Int = 1) throws {
    let before = done / Self.stepsPerReport
    done += count
    if done / Self.stepsPerReport > before { try watch(.working(on: check, done: done, of: total)) }
  }

  /// Result of a query for one number.
  func number(_ sql: SQL) throws -> Int { try connection.first(sql) { row in try row.int(0) } ?? 0 }

  /// The last event removed from the log; 0 for a complete log.
  var eventFloor: Int {
    get throws { try connection.setting("event_floor").flatMap { Int($0) } ?? 0 }
  }

  /// Records every row of a query as a fault.
  func expectNone(_ sql: SQL, _ sentence: (borrowing Row) throws -> String) throws {
    try connection.each(sql) { row in fault(try sentence(row)) }
  }
}
