// The journal of erasures: a text file beside the database with one line per erased user. A restore merges the lines of
// the replaced folder and of the backup, and the next start erases those users again. A line has an id and digests only:
//
//     17 <SHA-256 of the id and the time of creation> <first digits of the SHA-256 of the rest of the line>
//
// A line is appended and synced after the commit of an erasure, before its caller gets the answer. Each start adds the
// erased users of the database that have no line, such as after a kill between the two.

import ParleyCrypto
import ParleySQLite

/// An erased user, in a form that an older database of the same site recognizes.
struct Erasure: Hashable, Sendable {
  let user: Int
  /// In hexadecimal. The time of creation separates users of different sites with the same id.
  let digest: String

  private static let checksumLength = 16

  init(user: Int, createdAt: Int) throws(CryptoError) {
    self.user = user
    digest = Hex.text(try Digest.sha256(of: Array("\(user) \(createdAt)".utf8)))
  }

  /// Nil for a damaged line.
  init?(line: String) throws(CryptoError) {
    let parts = line.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let user = Int(parts[0]) else { return nil }
    self.user = user
    digest = String(parts[1])
    guard try self.line == line else { return nil }
  }

  var line: String {
    get throws(CryptoError) {
      let text = "\(user) \(digest)"
      return "\(text) \(Hex.text(try Digest.sha256(of: Array(text.utf8))).prefix(Self.checksumLength))"
    }
  }
}

/// The journal of an open store.
struct ErasureJournal: Sendable {
  /// The sound lines of a journal file.
  struct Contents {
    var erasures: [Erasure] = []
    var damagedLines: [Int] = []
    /// The last line is incomplete: it is of an append that was cut off.
    var isCut = false

    /// A sentence about the damage; nil without any.
    func warning(_ folder: String) -> String? {
      guard let first = damagedLines.first else { return nil }
      return
        "The journal of erasures \(folder)/\(ErasureJournal.name) is damaged from line \(first) on: "
        + "\(damagedLines.count) of its \(damagedLines.count + erasures.count) lines are lost. It is kept as "
        + "\(ErasureJournal.damagedName), and the sound lines stay in use."
    }
  }

  static let name = "erasures"
  static let damagedName = "erasures-damaged"

  private let folder: String
  private let log: @Sendable (String) -> Void
  /// In the order of the file.
  private(set) var erasures: [Erasure] = []
  private var known: Set<Erasure> = []
  /// Not on the disk yet, because the last append failed.
  private var pending: [Erasure] = []

  private var path: String { "\(folder)/\(Self.name)" }

  /// Opens the journal of a folder. Damage is logged, and the file is rewritten without it.
  init(_ folder: String, log: @escaping @Sendable (String) -> Void) {
    self.folder = folder
    self.log = log
    do {
      let contents = try Self.read(in: folder)
      erasures = contents.erasures
      known = Set(erasures)
      guard !contents.damagedLines.isEmpty || contents.isCut else { return }
      if let warning = contents.warning(folder) {
        log(warning)
        try Self.keepDamaged(in: folder)
      }
      try Self.write(erasures, in: folder)
    } catch {
      log(
        "The journal of erasures can't be used: \(error). After a restore, users that were erased after the backup come "
          + "back.")
    }
  }

  /// Appends the erasures that have no line yet, and syncs them. After a failure the next call repeats it, and so does
  /// the next start, since the database has them.
  mutating func add(_ more: [Erasure]) {
    for erasure in more where known.insert(erasure).inserted { pending.append(erasure) }
    guard !pending.isEmpty else { return }
    do {
      try append(pending)
      erasures += pending
      pending = []
    } catch {
      log("The journal of erasures can't be written: \(error). The next start tries again.")
    }
  }

  private func append(_ added: [Erasure]) throws {
    let bytes = try Self.bytes(of: added)
    guard Disk.exists(path) else { return try Self.write(added, in: folder) }
    let file = try DiskFile.open(path, isWritten: true)
    let size = try file.size
    try file.cut(to: size)
    do {
      try file.write(bytes)
      try file.sync()
    } catch {
      try? file.cut(to: size)
      throw error
    }
  }

  // MARK: Files

  /// No file is an empty journal.
  static func read(in folder: String) throws -> Contents {
    let path = "\(folder)/\(name)"
    guard Disk.exists(path) else { return Contents() }
    let file = try DiskFile.open(path)
    return try contents(of: try file.read(try file.size))
  }

  static func contents(of bytes: [UInt8]) throws(CryptoError) -> Contents {
    var contents = Contents()
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.dropLast().enumerated() {
      if let erasure = try Erasure(line: String(decoding: line, as: UTF8.self)) {
        contents.erasures.append(erasure)
      } else {
        contents.damagedLines.append(index + 1)
      }
    }
    contents.isCut = lines.last?.isEmpty == false
    return contents
  }

  static func bytes(of erasures: [Erasure]) throws(CryptoError) -> [UInt8] {
    var text = ""
    for erasure in erasures { text += "\(try erasure.line)\n" }
    return Array(text.utf8)
  }

  /// Replaces the journal of a folder.
  static func write(_ erasures: [Erasure], in folder: String) throws {
    let path = "\(folder)/\(name)"
    let part = path + ".part"
    try Disk.remove(part)
    let file = try DiskFile.make(part)
    try file.write(bytes(of: erasures))
    try file.sync()
    try Disk.give(part, toOwnerOf: folder)
    try Disk.move(part, to: path)
    try Disk.sync(folder)
  }

  /// Gives the damaged file a second name.
  static func keepDamaged(in folder: String) throws(DiskError) {
    try Disk.remove("\(folder)/\(damagedName)")
    try Disk.name("\(folder)/\(name)", also: "\(folder)/\(damagedName)")
  }
}

extension Connection {
  /// The erased users of the database.
  func erasures() throws(SQLiteError) -> [Erasure] {
    try all(
      """
      select id, created_at
      from account
      where state = 'erased'
      order by id
      """
    ) { row in try Erasure(user: try row.int(0), createdAt: try row.int(1)) }
  }

  /// The users of a journal that the database has, not erased.
  func unerasedUsers(_ erasures: [Erasure]) throws(SQLiteError) -> [Int] {
    var users: [Int] = []
    for erasure in erasures {
      let isSame = try first(
        """
        select created_at
        from account
        where id = $1 and state <> 'erased'
        """, erasure.user
      ) { row in try Erasure(user: erasure.user, createdAt: try row.int(0)) == erasure }
      if isSame == true { users.append(erasure.user) }
    }
    return users
  }
}
