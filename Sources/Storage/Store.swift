// The store as the community sees it: one writer, readers, and the log of what happened.

public import Model
import SQLite

public final class Store: Sendable {
  public let folder: DataFolder
  private let writer: Writer
  private let background: BackgroundReaders
  private let vfs: String?
  private let clock: @Sendable () -> Int64
  private let complain: @Sendable (String) -> Void
  let backups = Backups()
  /// Which history this is: a cursor of another one leads nowhere.
  public let epoch: String

  /// Opens the database, brings it to the schema that this program knows, and takes the pen.
  ///
  /// - Parameters:
  ///   - migrations: the folder with the numbered files.
  ///   - clock: milliseconds since 1970.
  ///   - deliver: gets committed events, in the order of the log.
  public init(
    _ folder: DataFolder, migrations: String, vfs: String? = nil, clock: @escaping @Sendable () -> Int64,
    deliver: @escaping @Sendable ([Event]) -> Void = { _ in },
    complain: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    self.folder = folder
    var options = Connection.Options()
    options.vfs = vfs
    let connection = try Connection.writer(folder.database, options)
    try Migrator(folder: migrations, known: MigrationHashes.all).migrate(connection, at: Int(clock()))
    epoch = try Epoch.readOrMake(connection)
    try SearchIndex.bringUpToDate(connection, tell: complain)
    writer = try Writer(connection, clock: clock, deliver: deliver, complain: complain)
    self.vfs = vfs
    self.clock = clock
    self.complain = complain
    let database = folder.database
    background = BackgroundReaders { Reader(database, vfs: vfs, clock: clock, complain: complain) }
  }

  /// A reader for one event loop.
  public func reader() -> Reader { Reader(folder.database, vfs: vfs, clock: clock, complain: complain) }

  /// Reads what may take long, on a thread apart; after `time` it is cut short and refused as `unavailable`.
  public func readInBackground<Value: Sendable>(
    within time: Duration = .seconds(10), _ body: @escaping @Sendable (ReadTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    try await background.read(within: time, body)
  }

  /// Runs a rule with the pen in its hand, and returns once what it changed is on the disk. The closure may run a moment
  /// later, on another thread, and does nothing but ask and change `tx`. When it throws, it changed nothing.
  public func write<Value: Sendable>(
    _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    let result: Result<Value, Refusal> = await withCheckedContinuation { continuation in
      writer.submit(
        Writer.Job(
          run: { transaction in
            do throws(Refusal) {
              let value = try rule(transaction)
              return .changed { isCommitted in
                continuation.resume(returning: isCommitted ? .success(value) : .failure(.unavailable))
              }
            } catch {
              return .refused { continuation.resume(returning: .failure(error)) }
            }
          },
          refuse: { continuation.resume(returning: .failure(.unavailable)) }))
    }
    return try result.get()
  }

  /// Copies everything to one file, while all goes on. One at a time. `program` is the version of Parley.
  public func backUp(
    to path: String, program: String, report: @escaping BackupProgress.Report
  ) async throws(BackupFault) -> BackupReport {
    try await backups.make(
      folder, to: path, program: program, at: clock(), report: report,
      afterWrites: { () throws(Refusal) in try await self.write { _ in } })
  }

  /// For whoever removes uploaded files that nothing names any longer: not now, a backup may still want to copy them. Ask
  /// inside `write`, and remove them there.
  public var isBackingUp: Bool { backups.isBusy }

  /// Takes no more writes, carries out those that wait, closes the database, and lets the folder go.
  public func close() async {
    await backups.close()
    await background.close()
    await writer.close()
    folder.release()
  }
}
