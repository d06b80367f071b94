// The store: one writer, readers, and the event log.

public import ParleyCrypto
public import ParleyModel
import ParleySQLite

public final class Store: Sendable {
  public let folder: DataFolder
  /// The migrations that opening it has applied.
  public let migrated: [String]
  let clock: @Sendable () -> Int64
  let log: @Sendable (String) -> Void
  let jobs: JobRunner
  let writer: Writer
  let background: BackgroundReaders
  let gate: WriteGate
  private let integrityCheck: IntegrityCheck
  /// Long work on the data folder.
  let folderQueue = SerialQueue("parley.folder")
  private let vfs: String?
  let backups = Backups()
  private let restoreTests = Backups()
  let exports = ExportQueue()
  /// The content of uploaded files.
  public let blobs: Blobs
  /// Seals secrets in the database with the key of the data folder.
  public let secrets: SealedBox
  /// Signs checkpoints. Only its public half leaves the server.
  public let siteKey: Ed25519
  /// The identity of this history: a cursor of another one leads nowhere.
  public let epoch: String
  public let starts: Starts
  /// Erasures after the backup from which the site was restored.
  private let missingErasures: MissingErasures
  private let cursorPrefix: String
  private let jobStarts: AsyncStream<Void>.Continuation

  /// Opens the database, applies migrations, starts the writer and resumes unfinished jobs.
  ///
  /// - Parameters:
  ///   - migrations: the folder with the numbered files.
  ///   - jobs: every kind of job that rules start.
  ///   - keepsReserve: whether a reserve file is kept for the case of a full disk.
  ///   - clock: milliseconds since 1970.
  ///   - deliver: receives committed events, in the order of the log.
  public init(
    _ folder: DataFolder, migrations: String, vfs: String? = nil, jobs: [JobKind] = [],
    keepsReserve: Bool = false, clock: @escaping @Sendable () -> Int64,
    deliver: @escaping @Sendable (Delivery) -> Void = { _ in },
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreFault) {
    self.folder = folder
    self.vfs = vfs
    self.clock = clock
    self.log = log
    let gate = WriteGate(folder.path, reserve: keepsReserve ? DiskReserve(folder) : nil, log: log)
    self.gate = gate
    // Before the database is opened, which needs some space.
    gate.examineDisk()
    blobs = Blobs(folder.files, gate: gate, log: log)
    let hadKey = SecretsKey.exists(in: folder.path)
    let hadSiteKey = SiteKey.exists(in: folder.path)
    secrets = try SecretsKey.load(folder.path, log: log)
    siteKey = try SiteKey.load(folder.path, log: log)
    let (starts, jobStarts) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.jobStarts = jobStarts
    let connection: Connection
    (connection, migrated) = try Schema.open(folder, migrations: migrations, vfs: vfs, at: clock())
    if !migrated.isEmpty, let notice = PreviousDatabase(folder: folder).notice { log(notice) }
    do {
      if !hadKey, try connection.hasSealedSecrets() { log(SecretsKey.loss(in: folder.path)) }
      if !hadSiteKey, try connection.hasChains() { log(SiteKey.loss(in: folder.path)) }
      epoch = try Epoch.readOrMake(connection)
      self.starts = try Starts.begin(connection, at: clock())
      cursorPrefix = "\(epoch).\(self.starts.current)."
      try SearchIndex.rebuildIfOutdated(connection, log: log)
      try connection.failUnfinishedBackups(at: clock())
      // Migrations and the search index have filled the page cache.
      try connection.releaseMemory()
      var journal = ErasureJournal(folder.path, log: log)
      do throws(SQLiteError) {
        journal.add(try connection.erasures())
        missingErasures = try connection.missing(journal.erasures)
      } catch {
        // Damage does not stop the start: reading works as far as pages are intact.
        log("The journal of erasures can't be compared with the database: \(error)")
        gate.close(after: error)
        missingErasures = MissingErasures()
      }
      writer = try Writer(
        connection, journal: journal, clock: clock, deliver: deliver, startJobs: { jobStarts.yield() }, gate: gate,
        log: log)
    } catch {
      throw StoreFault(error, opening: folder.database)
    }
    self.jobs = JobRunner(writer, jobs, starts: starts, clock: clock, log: log)
    let database = folder.database
    background = BackgroundReaders { Reader(database, vfs: vfs, clock: clock, gate: gate, log: log) }
    integrityCheck = IntegrityCheck(database, vfs: vfs, gate: gate, log: log)
    jobStarts.yield()
  }

  /// The cursor of a client that has applied every event up to this id.
  public func cursor(at event: Int) -> String { "\(cursorPrefix)\(event)" }

  /// A reader for one event loop.
  public func reader() -> Reader { Reader(folder.database, vfs: vfs, clock: clock, gate: gate, log: log) }

  /// Runs a long query on a background thread of the lane. The callers take turns. After `time` the query is interrupted
  /// and refused as `unavailable`.
  public func readInBackground<Value: Sendable>(
    _ lane: ReadLane = .queries, for turn: Turn = .server, within time: Duration = .seconds(10),
    _ body: @escaping @Sendable (ReadTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    try await background.read(lane, for: turn, within: time, body)
  }

  /// Runs `rule` in the writer's transaction and returns after the commit is durable. The closure runs on the writer's
  /// thread, and twice if another closure of the batch is rolled back; it must only read and change `tx`. If it throws,
  /// its changes are rolled back.
  ///
  /// A closure that exceeds the limits of `Writer` in time or rows is rolled back, refused as `unavailable`, and logged
  /// with its call site. Larger work is a job.
  @discardableResult public func write<Value: Sendable>(
    file: StaticString = #fileID, line: Int = #line,
    _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    try await writer.write(CallSite(file: file, line: line), rule)
  }

  /// Erases the users again that a restore brought back, and destroys messages and files again.
  public func eraseAgain() async {
    for user in missingErasures.users.map({ ID<User>($0) }) {
      await eraseAgain("The user \(user)") { tx throws(Refusal) in _ = try tx.depart(user, as: .erased, by: user) }
    }
    for user in missingErasures.destroyedUsers.map({ ID<User>($0) }) {
      await eraseAgain("The user \(user)") { tx throws(Refusal) in
        let owner = try tx.owner() ?? user
        _ = try tx.depart(user, as: .erased, destroyingFiles: true, by: user)
        // The next start finds it done.
        try tx.audit(.userDestroyed, by: owner, subject: user.number)
      }
    }
    for message in missingErasures.messages.map({ ID<Message>($0) }) {
      await eraseAgain("The message \(message)") { tx throws(Refusal) in
        _ = try tx.destroyMessage(message, by: try tx.state(of: message).author)
      }
    }
    for digest in missingErasures.contents {
      await eraseAgain("The content \(Hex.text(digest)) of files") { tx throws(Refusal) in
        guard let owner = try tx.owner() else { throw .lastOwner }
        _ = try tx.destroyContents([digest], by: owner)
      }
    }
  }

  private func eraseAgain(
    _ subject: String, _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Void
  ) async {
    do throws(Refusal) {
      try await write(rule)
      log("\(subject) was erased after the backup that was restored, and is now erased again.")
    } catch {
      log("\(subject), erased after the backup that was restored, can't be erased again: \(error.code).")
    }
  }

  /// Writes an online backup to one file, or to a named pipe. One at a time. `program` is the version of Parley.
  public func backUp(
    to path: String, isStream: Bool = false, program: String, report: @escaping BackupProgress.Report
  ) async throws(BackupFault) -> BackupReport {
    let (folder, now) = (folder, Int(clock()))
    let made = try await makeBackup { cancellation throws(BackupFault) in
      try BackupMaker(
        folder: folder, path: path, isStream: isStream, program: program, now: now, cancellation: cancellation,
        report: report
      ).make()
    }
    // No reader has read a stream again.
    if !isStream { await noteBackup(made) }
    return made
  }

  /// Adds an online backup to a backup folder.
  ///
  /// - Parameters:
  ///   - now: its time in milliseconds since 1970.
  ///   - comparesFiles: whether files that the backup folder has are compared. A damaged one is then written again.
  func backUp(
    into target: BackupFolder, at now: Int64, program: String, comparesFiles: Bool,
    report: @escaping BackupProgress.Report = { _ in }
  ) async throws(BackupFault) -> BackupReport {
    let folder = folder
    let made = try await makeBackup { cancellation throws(BackupFault) in
      try FolderBackupMaker(
        folder: folder, target: target, program: program, now: Int(now), comparesFiles: comparesFiles,
        cancellation: cancellation, report: report
      ).make()
    }
    await noteBackup(made, in: target)
    return made
  }

  /// Restores a backup into a scratch folder, verifies it and deletes it. `restores` is whether there is room for that; otherwise the
  /// digests are compared alone.
  func testRestore(of backup: FolderBackup, restores: Bool) async throws(BackupFault) -> BackupReport {
    let (folder, now) = (folder, clock())
    let work: Backups.Work = { cancellation throws(BackupFault) in
      try RestoreTest(backup: backup, folder: folder, restores: restores, now: now, cancellation: cancellation).run()
    }
    return try await restoreTests.make(work, afterWrites: {})
  }

  private func makeBackup(_ work: @escaping Backups.Work) async throws(BackupFault) -> BackupReport {
    try await backups.make(work, afterWrites: { () throws(Refusal) in try await self.write { _ in } })
  }

  /// The backup is complete even if recording it fails.
  private func noteBackup(_ made: BackupReport, in folder: BackupFolder? = nil) async {
    try? await write { tx throws(Refusal) in
      try tx.noteBackup(size: made.size)
      if let folder { try tx.noteBackupFolder(folder) }
    }
  }

  /// Whether a backup is running. Unreferenced files must not be removed then, since the backup may still copy them.
  /// Check inside `write` and remove them there.
  public var isBackingUp: Bool { backups.isBusy }

  /// Uses the writer's connection between two batches, outside of a transaction, for checkpoints and merges. It delays
  /// all writes, so it has a time limit.
  func aside<Value: Sendable>(
    isLimited: Bool = true, file: StaticString = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws(Refusal) -> Value {
    try await writer.aside(CallSite(file: file, line: line), isLimited: isLimited, body)
  }

  /// Whether the store accepts writes: it is open and sound, and the last commit succeeded.
  public var isReady: Bool { writeRefusal == nil }

  /// The refusal that a write would get now; nil if the store is ready.
  public var writeRefusal: Refusal? {
    gate.refusal ?? (gate.isDiskFull ? .diskFull : writer.isReady ? nil : .unavailable)
  }

  /// While the disk is full, operations that add content are refused before they reach the store.
  public var isDiskFull: Bool { gate.isDiskFull }

  /// Whether the free space is left to messages: uploads are refused earlier.
  public var refusesUploads: Bool { gate.refusesUploads }

  /// Looks at the free space of the disk.
  func examineDisk() { gate.examineDisk() }

  /// Reads the whole database and a part of the uploaded files in the background. Damage of the database stops all writes. No-op
  /// while a check runs.
  func startIntegrityCheck(filesOf part: FilePart? = nil, didEnd: @escaping @Sendable () -> Void = {}) {
    integrityCheck.start(filesOf: part, note: { await self.noteDamagedFiles($0) }, didEnd: didEnd)
  }

  /// Waits for the running check.
  func finishIntegrityCheck() async { await integrityCheck.finish() }

  /// The number of unanswered writes.
  public var waitingCount: Int { writer.waitingCount }

  /// The version of the database. It rises with each commit, before the writes are answered: what a transaction reads that
  /// begins after this was read is current as long as it stays the same.
  public var version: Int { writer.version }

  /// Retries failed jobs.
  func wakeJobs() { jobStarts.yield() }

  /// Takes no more writes, carries out those that wait, closes the database, and lets the folder go.
  public func close() async {
    await restoreTests.close()
    await backups.close()
    await exports.close()
    await integrityCheck.close()
    jobStarts.finish()
    await jobs.close()
    await background.close()
    await writer.close()
    folder.release()
  }
}

/// The source location of a call, for log entries about slow or failed closures.
struct CallSite: Sendable, CustomStringConvertible {
  let file: StaticString
  let line: Int

  init(file: StaticString = #fileID, line: Int = #line) {
    self.file = file
    self.line = line
  }

  var description: String { "\(file):\(line)" }
}
