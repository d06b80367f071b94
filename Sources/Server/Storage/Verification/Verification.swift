// Verifies the database. Each check scans its tables, mostly with two ordered cursors side by side, so that memory
// does not grow with the number of messages.
//
// All checks but the last read one snapshot: the server may run meanwhile, and only its write-ahead log cannot be
// truncated. Files come last and outside the snapshot, since hashing them may take hours.

public import ParleyModel
import ParleySQLite

public struct Verification: Sendable {
  /// Result of one check.
  public struct Finding: Sendable {
    public let check: String
    /// The verified property, as a sentence.
    public let proves: String
    /// Numbers of objects examined.
    public let counts: [Count]
    /// The first faults, each with its row.
    public let faults: [String]
    public let faultCount: Int

    public var isSound: Bool { faultCount == 0 }
  }

  public struct Count: Sendable, Hashable {
    public let number: Int
    public let what: String
  }

  public enum Step: Sendable {
    case working(on: String, done: Int, of: Int)
    case finished(Finding)
  }

  /// Reason why the database cannot be verified.
  public enum Obstacle: Error, Sendable, CustomStringConvertible {
    case noDatabase(String)
    case otherVersion(String)
    case unreadable(String, reason: String)

    public var description: String {
      switch self {
      case .noDatabase(let path): "There is no database of parley at \(path). --data names its folder."
      case .otherVersion(let path):
        "Another version of parley created \(path). Verify with that version, or start this one with it first."
      case .unreadable(let path, let reason): "The database \(path) can't be read: \(reason)."
      }
    }
  }

  /// Maximum number of faults listed per check.
  public static let maxListed = 20

  private let folder: String

  /// `folder` is the data folder, whether a server uses it or not.
  public init(_ folder: String) {
    self.folder = folder
  }

  private var database: String { folder + "/parley.db" }

  /// Runs the checks in order, up to the first that finds a fault, or all. `watch` cancels by throwing.
  ///
  /// - Parameter checkpoints: what the site has signed about its chains.
  @discardableResult public func run(
    all isThorough: Bool = false, comparing checkpoints: [Checkpoint] = [],
    watch: @escaping (Step) throws -> Void = { _ in }
  ) throws -> [Finding] {
    let checks = Check.ofSnapshot.map { check in
      check.name == Check.chainHashes.name ? .chainHashes(comparing: checkpoints) : check
    }
    return try run(checks, all: isThorough, watch: watch)
  }

  /// Runs a subset of the checks.
  func run(
    _ ofSnapshot: [Check], all isThorough: Bool, includesFiles: Bool = true,
    watch: @escaping (Step) throws -> Void = { _ in }
  ) throws -> [Finding] {
    guard Disk.exists(database) else { throw Obstacle.noDatabase(database) }
    var findings: [Finding] = []
    do {
      let connection = try open()
      defer { connection.close() }
      func run(_ checks: [Check]) throws {
        for check in checks where isThorough || findings.allSatisfy(\.isSound) {
          let finding = try check.run(Examination(check, folder, connection, watch))
          findings.append(finding)
          try watch(.finished(finding))
        }
      }
      do {
        let snapshot = try connection.begin(.deferred)
        try checkVersion(connection)
        try run(ofSnapshot)
        snapshot.rollBack()
      }
      if includesFiles { try run([.files]) }
    } catch let error as SQLiteError {
      guard error.isDamage else { throw Obstacle.unreadable(database, reason: error.message) }
      // The database is too damaged to be opened.
      let finding = Finding(
        check: Check.integrity.name, proves: Check.integrity.proves, counts: [], faults: [error.message], faultCount: 1)
      findings.append(finding)
      try watch(.finished(finding))
    }
    return findings
  }

  /// Faults of a copy of a database, from any source: those of the first check that finds any.
  static func faults(inCopy connection: Connection, watch: @escaping (Step) throws -> Void) throws -> [String] {
    for check in Check.ofCopy {
      let finding = try check.run(Examination(check, "", connection, watch))
      if !finding.isSound { return finding.faults }
    }
    return []
  }

  private func open() throws(SQLiteError) -> Connection {
    var options = Connection.Options()
    options.sortsOnDisk = true
    return try Connection.reader(database, options)
  }

  /// The checks apply to the schema of this program only.
  private func checkVersion(_ connection: Connection) throws {
    let tables = try connection.first("select count(*) from sqlite_schema where name = 'migration'") { try $0.int(0) }
    guard tables == 1 else { throw Obstacle.noDatabase(database) }
    let applied = try connection.all("select number, name, hash from migration order by number") { row in
      Migration(number: try row.int(0), name: try row.text(1), hash: try row.text(2))
    }
    guard applied == MigrationHashes.all else { throw Obstacle.otherVersion(database) }
  }
}

extension SQLiteError {
  /// Whether the error means a damaged database, not a failure to read it.
  var isDamage: Bool {
    switch code {
    case .corrupt, .notADatabase, .format, .mismatch, .error: true
    case .internal, .permission, .aborted, .busy, .locked, .outOfMemory, .readOnly, .interrupted, .io, .notFound, .full,
      .cannotOpen, .protocol, .empty, .schemaChanged, .tooBig, .constraint, .misuse, .noLargeFiles, .authorization,
      .range:
      false
    }
  }
}
