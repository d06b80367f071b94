// Proves that the database is what it should be. Each check walks over what it proves, mostly two ordered cursors side
// by side, so that a million messages need no more memory than ten.
//
// All checks but the last look at one picture, through a reader: the server may go on beside it, and only its write-ahead
// log can't be emptied meanwhile. Files come last and outside of the picture, since hashing them may take hours.

import ParleySQLite

public struct Verification: Sendable {
  /// What one check came to.
  public struct Finding: Sendable {
    public let check: String
    /// What is true of the database when there is no fault, in a sentence.
    public let proves: String
    /// What was looked at.
    public let counts: [Count]
    /// The first faults, each with the row where it is.
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

  /// Why nothing can be said of the database.
  public enum Obstacle: Error, Sendable, CustomStringConvertible {
    case noDatabase(String)
    case otherVersion(String)
    case unreadable(String, reason: String)

    public var description: String {
      switch self {
      case .noDatabase(let path): "There is no database of parley at \(path). --data names the folder that holds it."
      case .otherVersion(let path):
        "Another version of parley made the database \(path). Verify it with that version, or start this one on it first."
      case .unreadable(let path, let reason): "The database \(path) can't be read: \(reason)."
      }
    }
  }

  /// How many faults of a check are named.
  public static let mostNamed = 20

  private let folder: String

  /// `folder` is the data folder, whether a server uses it or not.
  public init(_ folder: String) {
    self.folder = folder
  }

  private var database: String { folder + "/parley.db" }

  /// Runs one check after the other, up to the first that finds a fault, or all. `watch` may end it by throwing.
  @discardableResult public func run(
    all isThorough: Bool = false, watch: @escaping (Step) throws -> Void = { _ in }
  ) throws -> [Finding] {
    try run(Check.ofPicture, all: isThorough, watch: watch)
  }

  /// The same with some of the checks.
  func run(
    _ ofPicture: [Check], all isThorough: Bool, watch: @escaping (Step) throws -> Void = { _ in }
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
        let picture = try connection.begin(.deferred)
        try checkVersion(connection)
        try run(ofPicture)
        picture.rollBack()
      }
      try run([.files])
    } catch let error as SQLiteError {
      guard error.isDamage else { throw Obstacle.unreadable(database, reason: error.message) }
      // So damaged that it can't even be opened.
      let finding = Finding(
        check: Check.integrity.name, proves: Check.integrity.proves, counts: [], faults: [error.message], faultCount: 1)
      findings.append(finding)
      try watch(.finished(finding))
    }
    return findings
  }

  /// What is wrong with a copy of a database, wherever it lies and whoever made it: the faults of the first check that finds
  /// any.
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

  /// What is proved is true of the schema that this program knows, and of no other.
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
  /// Whether it says that the database is not what it should be, where others say that it can't be looked at.
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
