// Exports of users' own data: at most one row for each user, and its archive in the data folder's `exports` for a day. An archive has
// messages that may be erased later, so an erasure, a destruction and a purge delete all archives.

public import ParleyModel
import ParleySQLite

extension DataFolder {
  var exports: String { path + "/exports" }
}

extension DataExport {
  /// The time for which a finished export is kept.
  static let keptFor: Int64 = 86_400_000
  /// Attempts that crashes may end before the export has failed.
  static let maxAttempts = 3
  fileprivate static let ending = ".zip"

  /// The name of the archive.
  fileprivate static func name(_ id: ID<DataExport>) -> String { "\(id)\(ending)" }
}

extension WriteTransaction {
  /// Adds an export that waits, in place of an earlier one.
  public func addExport(of user: ID<User>) throws(Refusal) -> DataExport {
    try removeExport(of: user)
    let id = nextID()
    try run { connection in
      try connection.execute(
        "insert into export (id, user_id, created_at) values ($1, $2, $3)", id, user.number, Int(now))
    }
    return DataExport(id: ID(id), state: .running, createdAt: now)
  }

  public func removeExport(of user: ID<User>) throws(Refusal) {
    try run { connection in try connection.execute("delete from export where user_id = $1", user.number) }
  }

  /// Removes finished exports, and begins the others again under another id.
  func discardExports() throws(Refusal) {
    let open = try run { connection in
      try connection.execute("delete from export where finished_at > 0")
      return try connection.all("select id from export where finished_at is null") { row in try row.int(0) }
    }
    for id in open {
      let next = nextID()
      try run { connection in try connection.execute("update export set id = $1, attempts = 0 where id = $2", next, id)
      }
    }
  }

  /// Returns whether more remain.
  func removeExpiredExports(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from export
        where id in (
          select id
          from export
          where finished_at <= $1
          limit $2
        )
        """, Int(now - DataExport.keptFor), limit) == limit
    }
  }

  /// The oldest export that waits, with a further attempt. One without attempts left has failed.
  fileprivate func beginExport() throws(Refusal) -> (id: ID<DataExport>, user: ID<User>)? {
    while true {
      let next = try run { connection in
        try connection.first(
          "select id, user_id, attempts from export where finished_at is null order by id limit 1"
        ) { row in (id: try row.int(0), user: try row.int(1), attempts: try row.int(2)) }
      }
      guard let next else { return nil }
      guard next.attempts < DataExport.maxAttempts else {
        try failExport(ID(next.id), with: .unavailable)
        continue
      }
      try run { connection in
        try connection.execute("update export set attempts = attempts + 1 where id = $1", next.id)
      }
      return (ID(next.id), ID(next.user))
    }
  }

  /// Gives back the attempt of an export that was cancelled.
  fileprivate func postponeExport(_ id: ID<DataExport>) throws(Refusal) {
    try run { connection in
      try connection.execute("update export set attempts = attempts - 1 where id = $1 and attempts > 0", id.number)
    }
  }

  fileprivate func finishExport(_ id: ID<DataExport>, _ report: ExportArchive.Report) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update export set finished_at = $1, size = $2, missing = $3 where id = $4", Int(now), report.size,
        report.missing, id.number)
    }
  }

  fileprivate func failExport(_ id: ID<DataExport>, with refusal: Refusal) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update export set finished_at = $1, error = $2 where id = $3", Int(now), refusal.code, id.number)
    }
  }
}

extension ReadTransaction {
  public func export(of user: ID<User>) throws(Refusal) -> DataExport? {
    try run { connection in
      try connection.first(
        "select id, created_at, finished_at, size, missing, error from export where user_id = $1", user.number
      ) { row in
        let finishedAt = try row.optionalInt(2).map { Int64($0) }
        let error = try row.optionalText(5)
        return DataExport(
          id: ID(try row.int(0)), state: finishedAt == nil ? .running : error == nil ? .done : .failed,
          createdAt: Int64(try row.int(1)), finishedAt: finishedAt,
          expiresAt: finishedAt.map { $0 + DataExport.keptFor },
          size: try row.optionalInt(3), missingCount: try row.int(4), error: error)
      }
    }
  }

  /// The number of exports, up to a limit.
  public func exportCount(upTo limit: Int) throws(Refusal) -> Int {
    try run { connection in
      try connection.all("select id from export where id > 0 limit $1", limit) { row in try row.int(0) }.count
    }
  }

  /// The names of the archives of finished exports among the given ones.
  fileprivate func finishedExports(_ names: [String]) throws(Refusal) -> Set<String> {
    var finished: Set<String> = []
    for name in names {
      guard name.hasSuffix(DataExport.ending), let id = ID<DataExport>(String(name.dropLast(DataExport.ending.count)))
      else { continue }
      let isFinished = try run { connection in
        try connection.first("select 1 from export where id = $1 and size is not null", id.number) { _ in true }
      }
      if isFinished == true { finished.insert(name) }
    }
    return finished
  }
}

extension Store {
  /// Use of the disk, in percent, from which no export is written.
  private static let maxPercentUsed = 80
  /// All archives together take at most this part of the bytes that would be free without them: a quarter.
  private static let roomPart = 4
  private static let noRoom = BackupFault.impossible("the disk has no room")
  /// Steps of an export between two looks at the disk.
  private static let stepsPerLook = 256

  /// Path of the archive of an export, existing or not.
  public func path(of export: DataExport) -> String { "\(folder.exports)/\(DataExport.name(export.id))" }

  /// Writes the exports that wait, one after another. A call during another one lets that one look again.
  public func writeExports(program: String, pages: @escaping @Sendable (String, [Int: String]) -> ExportPageWriter)
    async
  {
    guard exports.begin() else { return }
    repeat {
      await exports.waitForPurges()
      while let next = try? await write({ tx throws(Refusal) in try tx.beginExport() }) {
        guard await writeExport(next.id, of: next.user, program: program, pages) else { break }
        await exports.waitForPurges()
      }
    } while exports.end()
  }

  /// False if the store is closed.
  private func writeExport(
    _ id: ID<DataExport>, of user: ID<User>, program: String,
    _ pages: @escaping @Sendable (String, [Int: String]) -> ExportPageWriter
  ) async -> Bool {
    let (folder, now, path) = (folder, clock(), "\(folder.exports)/\(DataExport.name(id))")
    let outcome = await exports.run(id) { cancellation throws(BackupFault) in
      do { try Disk.makeFolder(folder.exports) } catch { throw .impossible("\(error)") }
      // A crash may have come between the archive and its row.
      try? Disk.remove(path)
      var steps = 0
      return try ExportArchive.write(
        data: folder.path, to: path, .user(user), from: .original, program: program, at: now,
        check: {
          try cancellation.check()
          steps += 1
          guard steps % Self.stepsPerLook == 1, Self.isFull(folder) else { return }
          throw Self.noRoom
        }, watch: cancellation.watch,
        requireRoom: { bytes in
          guard try Self.hasRoom(for: bytes, in: folder) else { throw Self.noRoom }
        }, pages: pages)
    }
    defer { exports.release() }
    switch outcome {
    case .success(let report):
      try? await write { tx throws(Refusal) in try tx.finishExport(id, report) }
    case nil:
      try? await write { tx throws(Refusal) in try tx.postponeExport(id) }
    case .failure(let fault):
      log("The export of the user \(user) failed: \(fault.reason)")
      let refusal: Refusal = fault == Self.noRoom || Self.isFull(folder) ? .diskFull : .unavailable
      try? await write { tx throws(Refusal) in try tx.failExport(id, with: refusal) }
    }
    return !exports.isClosed
  }

  /// Whether an archive with so many bytes of uploaded files may be written beside the others.
  private static func hasRoom(for bytes: Int, in folder: DataFolder) throws -> Bool {
    guard let space = Disk.space(folder.path) else { return true }
    let used = try Disk.usage(folder.exports)
    return bytes <= (space.free + used) / roomPart - used
  }

  private static func isFull(_ folder: DataFolder) -> Bool {
    Disk.space(folder.path).map { $0.percentUsed >= maxPercentUsed } ?? false
  }

  /// Ends the writing of an export whose row was removed, and removes archives without a row.
  public func stopRemovedExport() async {
    if let current = exports.current {
      let isLeft = try? await readInBackground { tx throws(Refusal) in
        try tx.run { connection in
          try connection.first("select 1 from export where id = $1", current.number) { _ in true } ?? false
        }
      }
      if isLeft == false { await exports.cancel(current) }
    }
    await removeLooseExports()
  }

  /// Removes archives and their parts without a row.
  func removeLooseExports() async {
    do {
      let names = try await folderQueue.run { [folder] () throws(DiskError) in
        Disk.exists(folder.exports) ? try Disk.names(in: folder.exports) : []
      }
      guard !names.isEmpty else { return }
      // Asked before the rows: the current export has no finished row yet, and may finish meanwhile.
      let current = exports.current.map { DataExport.name($0) }
      let finished = try await readInBackground { tx throws(Refusal) in try tx.finishedExports(names) }
      let loose = names.filter { name in !finished.contains(name) && current.map { name.hasPrefix($0) } != true }
      try await folderQueue.run { [folder] () throws(DiskError) in
        for name in loose { try Disk.remove("\(folder.exports)/\(name)") }
      }
    } catch {
      log("Archives of exports can't be removed: \(error)")
    }
  }

  /// Deletes all archives. Exports that are being written begin again.
  func discardExports() async throws(Refusal) {
    try await write { tx throws(Refusal) in try tx.discardExports() }
    if let current = exports.current { await exports.cancel(current) }
    await removeLooseExports()
  }
}
