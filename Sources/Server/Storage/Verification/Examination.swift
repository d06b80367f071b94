import ParleySQLite

/// One run of one check: what it reads, and what it found.
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

  /// After how many steps it is told how many they are.
  private static let betweenTellings = 4_096

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
    if faults.count < Verification.mostNamed { faults.append(sentence) }
  }

  /// As many as `count`, of which the first are named.
  func faults(_ sentences: [String], of count: Int) {
    for sentence in sentences { fault(sentence) }
    faultCount += max(0, count - sentences.count)
  }

  func count(_ number: Int, _ what: String) {
    counts.append(Verification.Count(number: number, what: what))
  }

  /// How many steps there will be.
  func expect(_ total: Int) { self.total = total }

  /// Throws what whoever watches throws. Not for a row's closure, which would make it an error of SQLite's.
  func step(by count: Int = 1) throws {
    let before = done / Self.betweenTellings
    done += count
    if done / Self.betweenTellings > before { try watch(.working(on: check, done: done, of: total)) }
  }

  /// The one number that a statement asks for.
  func number(_ sql: SQL) throws -> Int { try connection.first(sql) { row in try row.int(0) } ?? 0 }

  /// The last event that the log no longer holds; 0 where it holds all.
  var eventFloor: Int {
    get throws { try connection.setting("event_floor").flatMap { Int($0) } ?? 0 }
  }

  /// Every row of a statement is a fault, and `sentence` names it.
  func expectNone(_ sql: SQL, _ sentence: (borrowing Row) throws -> String) throws {
    try connection.each(sql) { row in fault(try sentence(row)) }
  }
}
