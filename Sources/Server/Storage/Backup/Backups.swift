import ParleyModel
import Synchronization

/// Creates backups of a running store: one at a time, on a thread of its own.
actor Backups {
  private struct State {
    var current: Cancellation?
    var isClosed = false
  }

  private nonisolated let executor = SerialQueue("parley.backup")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private nonisolated let state = Mutex(State())

  nonisolated var isBusy: Bool { state.withLock { $0.current != nil } }
  nonisolated var isClosed: Bool { state.withLock { $0.isClosed } }

  nonisolated func make(
    _ folder: DataFolder, to path: String, isStream: Bool, program: String, at now: Int64,
    report: @escaping BackupProgress.Report,
    afterWrites: () async throws(Refusal) -> Void
  ) async throws(BackupFault) -> BackupReport {
    let cancellation = Cancellation()
    try begin(cancellation)
    defer { state.withLock { $0.current = nil } }
    // A removal of files that started before the backup has finished after this write.
    do throws(Refusal) { try await afterWrites() } catch { throw .impossible("The database can't be written to.") }
    let maker = BackupMaker(
      folder: folder, path: path, isStream: isStream, program: program, now: Int(now), cancellation: cancellation,
      report: report)
    let result = await withTaskCancellationHandler {
      await run(maker)
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }

  private nonisolated func begin(_ cancellation: Cancellation) throws(BackupFault) {
    try state.withLock { state throws(BackupFault) in
      guard !state.isClosed else { throw .cancelled }
      guard state.current == nil else { throw .impossible("Another backup is already running.") }
      state.current = cancellation
    }
  }

  private func run(_ maker: BackupMaker) -> Result<BackupReport, BackupFault> {
    do throws(BackupFault) { return .success(try maker.make()) } catch { return .failure(error) }
  }

  /// Rejects new backups and cancels the running one.
  nonisolated func close() async {
    state.withLock { state in
      state.isClosed = true
      state.current?.cancel()
    }
    await settle()
  }

  /// Runs after the cancelled backup has removed its leftovers. (The optimizer drops the hop to the actor for an empty
  /// body.)
  private func settle() {
    state.withLock { $0.current = nil }
  }
}
