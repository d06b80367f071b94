// The store as the community sees it: one writer, readers, and the log of what happened.

public import ParleyModel
import ParleySQLite

public final class Store: Sendable {
  public let folder: DataFolder
  /// The migrations that opening it has applied.
  public let migrated: [String]
  let clock: @Sendable () -> Int64
  let complain: @Sendable (String) -> Void
  let jobs: JobRunner
  private let writer: Writer
  private let background: BackgroundReaders
  private let vfs: String?
  let backups = Backups()
  /// The content of what people upload.
  public let blobs: Blobs
  /// Which history this is: a cursor of another one leads nowhere.
  public let epoch: String
  private let jobStarts: AsyncStream<Void>.Continuation

  /// Opens the database, brings it to the schema that this program knows, takes the pen, and goes on with the jobs that
  /// were not finished.
  ///
  /// - Parameters:
  ///   - migrations: the folder with the numbered files.
  ///   - jobs: every kind of large work that rules start.
  ///   - clock: milliseconds since 1970.
  ///   - deliver: gets what was committed, in the order of the log.
  public init(
    _ folder: DataFolder, migrations: String, vfs: String? = nil, jobs: [JobKind] = [],
    clock: @escaping @Sendable () -> Int64, deliver: @escaping @Sendable (Delivery) -> Void = { _ in },
    complain: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreFault) {
    self.folder = folder
    self.vfs = vfs
    self.clock = clock
    self.complain = complain
    blobs = Blobs(folder.files, complain: complain)
    let (starts, jobStarts) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.jobStarts = jobStarts
    let connection: Connection
    (connection, migrated) = try Schema.open(folder, migrations: migrations, vfs: vfs, at: clock())
    do {
      epoch = try Epoch.readOrMake(connection)
      try SearchIndex.bringUpToDate(connection, tell: complain)
      try connection.endUnfinishedBackups(at: clock())
      writer = try Writer(
        connection, clock: clock, deliver: deliver, startJobs: { jobStarts.yield() }, complain: complain)
    } catch {
      throw StoreFault(error, opening: folder.database)
    }
    self.jobs = JobRunner(writer, jobs, starts: starts, clock: clock, complain: complain)
    let database = folder.database
    background = BackgroundReaders { Reader(database, vfs: vfs, clock: clock, complain: complain) }
    jobStarts.yield()
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
  /// later, on another thread, and twice if another's changes have to be taken back; it does nothing but ask and change
  /// `tx`. When it throws, it changed nothing.
  ///
  /// A closure that takes more than 100 ms of the processor or changes more than 10,000 rows changes nothing either: it is
  /// refused as `unavailable`, and the log names the place. Larger work is a job.
  @discardableResult public func write<Value: Sendable>(
    file: StaticString = #fileID, line: Int = #line,
    _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    try await writer.write(Place(file: file, line: line), rule)
  }

  /// Copies everything to one file, while all goes on. One at a time. `program` is the version of Parley.
  public func backUp(
    to path: String, program: String, report: @escaping BackupProgress.Report
  ) async throws(BackupFault) -> BackupReport {
    let made = try await backups.make(
      folder, to: path, program: program, at: clock(), report: report,
      afterWrites: { () throws(Refusal) in try await self.write { _ in } })
    // It is whole, whether or not that can be written down.
    try? await write { tx throws(Refusal) in try tx.noteBackup(size: made.size) }
    return made
  }

  /// For whoever removes uploaded files that nothing names any longer: not now, a backup may still want to copy them. Ask
  /// inside `write`, and remove them there.
  public var isBackingUp: Bool { backups.isBusy }

  /// Uses the writer's connection between two batches, outside of any transaction: for checkpoints and merges. It holds up
  /// everyone who writes, so it is short, and else cut short.
  func aside<Value: Sendable>(
    isLimited: Bool = true, file: StaticString = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws(Refusal) -> Value {
    try await writer.aside(Place(file: file, line: line), isLimited: isLimited, body)
  }

  /// Whether what is asked for now can be expected to become durable: it is open, and the last change reached the disk.
  public var isReady: Bool { writer.isReady }

  /// How many writes have not been answered yet.
  public var waitingCount: Int { writer.waitingCount }

  /// Jobs whose chunk failed are looked at again.
  func wakeJobs() { jobStarts.yield() }

  /// Takes no more writes, carries out those that wait, closes the database, and lets the folder go.
  public func close() async {
    await backups.close()
    jobStarts.finish()
    await jobs.close()
    await background.close()
    await writer.close()
    folder.release()
  }
}
