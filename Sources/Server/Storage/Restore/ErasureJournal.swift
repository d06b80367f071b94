// The journal of erasures: a text file beside the database with one line per erased user, destroyed message and destroyed
// content of files. A restore merges the lines of the replaced folder and of the backup, and the next start erases them
// again. A line has an id and digests only:
//
//     17 <SHA-256 of the id and the time of creation> <first digits of the SHA-256 of the rest of the line>
//     destroyed 17 <SHA-256 of the word, the id and the time of creation> <as above>
//     message 29 <SHA-256 of the word, the id and the time of creation> <as above>
//     file <SHA-256 of the content> <as above>
//
// A destroyed user has two lines: the second one is for the files.
//
// A line is appended and synced after the commit of an erasure, before its caller gets the answer. Each start adds the
// erasures of the database that have no line, such as after a kill between the two.

import ParleyCrypto
import ParleySQLite

/// An erased user, a destroyed message, or destroyed content of files, in a form that an older database of the same site
/// recognizes.
struct Erasure: Hashable, Sendable {
  enum Subject: Hashable, Sendable {
    case user(Int)
    /// An erased user whose files were destroyed, too.
    case destroyedUser(Int)
    case message(Int)
    case content
  }

  let subject: Subject
  /// In hexadecimal. The time of creation separates users and messages of different sites with the same id.
  let digest: String

  private static let checksumLength = 16

  init(user: Int, createdAt: Int) throws(CryptoError) {
    subject = .user(user)
    digest = Hex.text(try Digest.sha256(of: Array("\(user) \(createdAt)".utf8)))
  }

  init(destroyedUser user: Int, createdAt: Int) throws(CryptoError) {
    subject = .destroyedUser(user)
    digest = Hex.text(try Digest.sha256(of: Array("destroyed \(user) \(createdAt)".utf8)))
  }

  init(message: Int, createdAt: Int) throws(CryptoError) {
    subject = .message(message)
    digest = Hex.text(try Digest.sha256(of: Array("message \(message) \(createdAt)".utf8)))
  }

  init(content: [UInt8]) {
    subject = .content
    digest = Hex.text(content)
  }

  /// Nil for a damaged line.
  init?(line: String) throws(CryptoError) {
    let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    switch (parts.first, parts.count) {
    case ("destroyed", 4):
      guard let user = Int(parts[1]) else { return nil }
      subject = .destroyedUser(user)
    case ("message", 4):
      guard let message = Int(parts[1]) else { return nil }
      subject = .message(message)
    case ("file", 3): subject = .content
    case (_, 3):
      guard let user = Int(parts[0]) else { return nil }
      subject = .user(user)
    case (_, _): return nil
    }
    digest = parts[parts.count - 2]
    guard try self.line == line else { return nil }
  }

  var line: String {
    get throws(CryptoError) {
      let text =
        switch subject {
        case .user(let user): "\(user) \(digest)"
        case .destroyedUser(let user): "destroyed \(user) \(digest)"
        case .message(let message): "message \(message) \(digest)"
        case .content: "file \(digest)"
        }
      return "\(text) \(Hex.text(try Digest.sha256(of: Array(text.utf8))).prefix(Self.checksumLength))"
    }
  }

  var user: Int? {
    switch subject {
    case .user(let user): user
    case .destroyedUser, .message, .content: nil
    }
  }
}

/// The erasures of a journal that a database does not have.
struct MissingErasures: Sendable {
  /// Without those of `destroyedUsers`.
  var users: [Int] = []
  var destroyedUsers: [Int] = []
  var messages: [Int] = []
  /// SHA-256 of contents of files.
  var contents: [[UInt8]] = []

  var count: Int { users.count + destroyedUsers.count + messages.count + contents.count }
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
        "The journal of erasures can't be used: \(error). After a restore, what was erased after the backup comes "
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
  /// The erasures of the database: users, messages and contents of files.
  func erasures() throws(SQLiteError) -> [Erasure] {
    let users = try all(
      """
      select id, created_at
      from account
      where state = 'erased'
      order by id
      """
    ) { row in try Erasure(user: try row.int(0), createdAt: try row.int(1)) }
    // The audit log is never changed.
    let destroyedUsers = try all(
      """
      select a.id, a.created_at
      from account a
      where a.state = 'erased' and exists (select 1 from audit where subject = a.id and action = 'user.destroyed')
      order by a.id
      """
    ) { row in try Erasure(destroyedUser: try row.int(0), createdAt: try row.int(1)) }
    guard try knowsDestruction() else { return users + destroyedUsers }
    let messages = try all(
      """
      select m.id, m.created_at
      from destroyed_message d
      join message m on m.id = d.message_id
      where d.message_id > 0
      order by d.message_id
      """
    ) { row in try Erasure(message: try row.int(0), createdAt: try row.int(1)) }
    let contents = try all("select digest from destroyed_content where digest > x'' order by digest") { row in
      Erasure(content: try row.bytes(0))
    }
    return users + destroyedUsers + messages + contents
  }

  /// The erasures of a journal that have to be repeated in this database.
  func missing(_ erasures: [Erasure]) throws(SQLiteError) -> MissingErasures {
    let knowsDestruction = try knowsDestruction()
    var missing = MissingErasures()
    for erasure in erasures {
      switch erasure.subject {
      case .user(let user):
        let isSame = try first(
          """
          select created_at
          from account
          where id = $1 and state <> 'erased'
          """, user
        ) { row in try Erasure(user: user, createdAt: try row.int(0)) == erasure }
        if isSame == true { missing.users.append(user) }
      case .destroyedUser(let user):
        let isSame = try first(
          """
          select created_at
          from account a
          where id = $1 and (
            state <> 'erased' or not exists (select 1 from audit where subject = a.id and action = 'user.destroyed'))
          """, user
        ) { row in try Erasure(destroyedUser: user, createdAt: try row.int(0)) == erasure }
        if isSame == true { missing.destroyedUsers.append(user) }
      case .message(let message):
        let isSame = try first("select created_at from message where id = $1", message) { row in
          try Erasure(message: message, createdAt: try row.int(0)) == erasure
        }
        guard isSame == true else { continue }
        let isDestroyed =
          knowsDestruction
          ? try first("select 1 from destroyed_message where message_id = $1", message) { _ in true } : nil
        if isDestroyed == nil { missing.messages.append(message) }
      case .content:
        guard let digest = Hex.bytes(erasure.digest) else { continue }
        let isDestroyed =
          knowsDestruction ? try first("select 1 from destroyed_content where digest = $1", digest) { _ in true } : nil
        if isDestroyed == nil { missing.contents.append(digest) }
      }
    }
    missing.users.removeAll { missing.destroyedUsers.contains($0) }
    return missing
  }

  /// Databases of older versions do not have the tables.
  private func knowsDestruction() throws(SQLiteError) -> Bool {
    try first("select 1 from sqlite_schema where name = 'destroyed_content'") { _ in true } ?? false
  }
}
