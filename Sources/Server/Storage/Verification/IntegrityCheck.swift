// Reads the whole database of a running server and reports damage, which queries notice only when they happen to read
// a damaged page.
//
// The check has its own thread and read-only connection, so neither the writer nor another reader waits. Each table
// is checked in a statement of its own, after which the check pauses for longer than it worked: it uses a tenth of a core
// on average, and the write-ahead log can be truncated between two tables. Within a table it pauses as long as it works,
// and no longer, because the statement holds its snapshot.
//
// Uploaded files are read after the database, a thirtieth of them each night. A damaged one stops no writes, since no other
// content depends on it: it is noted in the database until it is sound again.

import ParleyModel
import ParleySQLite
import Synchronization

actor IntegrityCheck {
  private nonisolated let executor = SerialQueue("parley.integrity")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private nonisolated let task = Mutex<Task<Void, Never>?>(nil)
  private nonisolated let cancellation = Cancellation()
  private let path: String
  private let vfs: String?
  private let gate: WriteGate
  private let log: @Sendable (String) -> Void
  private let sleep: @Sendable (Duration) -> Void

  /// The pause after a table, as a multiple of the time that its check took.
  private static let pause = 9
  /// A small cache, since every page is read once.
  private static let cacheKibibytes = 1_024

  /// - Parameter sleep: blocks the thread for a pause within a table.
  init(
    _ path: String, vfs: String?, gate: WriteGate, log: @escaping @Sendable (String) -> Void,
    sleep: @escaping @Sendable (Duration) -> Void = { Connection.sleep($0) }
  ) {
    self.path = path
    self.vfs = vfs
    self.gate = gate
    self.log = log
    self.sleep = sleep
  }

  /// Starts a check, and calls `didEnd` after it. `note` takes the damaged files. No-op while one runs, and after `close`.
  nonisolated func start(
    filesOf part: FilePart? = nil, note: @escaping @Sendable ([StoredFile]) async -> Void = { _ in },
    didEnd: @escaping @Sendable () -> Void
  ) {
    task.withLock { task in
      guard task == nil, !cancellation.isCancelled else { return }
      task = Task {
        await run(part, note)
        didEnd()
        self.task.withLock { $0 = nil }
      }
    }
  }

  nonisolated func finish() async { await task.withLock { $0 }?.value }

  /// Cancels the running check and rejects new ones.
  nonisolated func close() async {
    cancellation.cancel()
    let running = task.withLock { $0 }
    running?.cancel()
    await running?.value
  }

  private func run(_ part: FilePart?, _ note: ([StoredFile]) async -> Void) async {
    do {
      let connection = try open()
      defer { connection.close() }
      try cancellation.watch(connection)
      for table in try connection.storedTables() {
        let started = ContinuousClock.now
        let throttle = Throttle(sleep)
        let fault = try connection.observed(by: { throttle.pause() }) { () throws(SQLiteError) in
          try connection.quickFault(in: table)
        }
        if let fault {
          return gate.reportDamage("table \(table): \(fault)")
        }
        try await Task.sleep(for: (.now - started) * Self.pause)
        try cancellation.check()
      }
      if let part { await note(try await damagedFiles(part, connection)) }
    } catch let error as SQLiteError where error.code != .interrupted {
      if gate.close(after: error) != .damaged { log("The integrity check failed: \(error)") }
    } catch {
      // Cancelled.
      return
    }
  }

  /// The damaged and missing files of a part, and of those that were so before.
  private func damagedFiles(_ part: FilePart, _ connection: Connection) async throws -> [StoredFile] {
    let known = Set(try connection.damagedFiles())
    var damaged: [StoredFile] = []
    for file in try StoredFile.all(in: connection) where part.contains(file.digest) || known.contains(file.path) {
      let started = ContinuousClock.now
      if try isDamaged(file), try connection.isReferenced(file.digest), try isDamaged(file) { damaged.append(file) }
      try await Task.sleep(for: (.now - started) * Self.pause)
      try cancellation.check()
    }
    return damaged
  }

  private func isDamaged(_ file: StoredFile) throws -> Bool {
    let contents = try FileContents(of: "\(Disk.folder(of: path))/\(file.path)") { _ in try cancellation.check() }
    guard case .read(let digest, let size) = contents else { return true }
    return digest != file.digest || size != file.size
  }

  private func open() throws(SQLiteError) -> Connection {
    var options = Connection.Options()
    options.vfs = vfs
    options.cacheKibibytes = Self.cacheKibibytes
    return try Connection.reader(path, options)
  }
}

/// A part of the uploaded files, chosen by their digests.
struct FilePart: Hashable, Sendable {
  /// From 0 to `count` - 1.
  let number: Int
  /// The nights after which every file was read.
  static let count = 30

  init(night: Int64) { number = Int(night % Int64(Self.count)) }

  func contains(_ digest: [UInt8]) -> Bool {
    digest.prefix(2).reduce(0) { $0 << 8 | Int($1) } % Self.count == number
  }
}

extension Connection {
  private static let damagedFilesName = "damaged_files"
  /// More are counted at the next check.
  private static let maxDamagedFiles = 100

  /// The paths of the files that the last checks have found damaged or missing.
  func damagedFiles() throws(SQLiteError) -> [String] {
    try setting(Self.damagedFilesName)?.split(separator: " ").map(String.init) ?? []
  }

  fileprivate func noteDamagedFiles(_ paths: [String]) throws(SQLiteError) {
    try keepSetting(Self.damagedFilesName, paths.prefix(Self.maxDamagedFiles).joined(separator: " "))
  }
}

extension Store {
  /// Writes nothing without a change.
  func noteDamagedFiles(_ files: [StoredFile]) async {
    let paths = files.map(\.path)
    do throws(Refusal) {
      let known = try await readInBackground { tx throws(Refusal) in
        try tx.run { connection in try connection.damagedFiles() }
      }
      guard known != paths else { return }
      try await write { tx throws(Refusal) in try tx.run { connection in try connection.noteDamagedFiles(paths) } }
    } catch {
      // The next check notes them.
      return
    }
  }
}

/// Pauses as long as the work since the last pause took.
private final class Throttle {
  private let sleep: (Duration) -> Void
  private var calls = 0
  private var started = ContinuousClock.now

  /// Calls for one pause: about a millisecond of work.
  private static let period = 50

  init(_ sleep: @escaping (Duration) -> Void) { self.sleep = sleep }

  func pause() {
    calls += 1
    guard calls.isMultiple(of: Self.period) else { return }
    sleep(.now - started)
    started = .now
  }
}

extension Connection {
  /// Names of the tables with pages of their own.
  fileprivate func storedTables() throws(SQLiteError) -> [String] {
    try all("select name from sqlite_schema where type = 'table' and rootpage > 0 order by name") { row in
      try row.text(0)
    }
  }

  /// The first result of `quick_check` for one table and its indexes; nil if they are sound. It checks pages and rows,
  /// but not whether each row is in each index.
  fileprivate func quickFault(in table: String) throws(SQLiteError) -> String? {
    do {
      let line = try first(SQL("pragma quick_check(\(Self.quoted(table)))")) { row in try row.text(0) }
      return line == "ok" ? nil : line
    } catch {
      guard error.refusal == .damaged else { throw error }
      return error.message
    }
  }
}
