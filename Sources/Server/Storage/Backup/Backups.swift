import ParleyModel
import Synchronization

/// Makes the backups of a running store: one at a time, on a thread of its own.
actor Backups {
  private struct State {
    var underWay: Cancellation?
    var isClosed = false
  }

  private nonisolated let executor = SerialQueue("parley.backup")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private nonisolated let state = Mutex(State())

  nonisolated var isBusy: Bool { state.withLock { $0.underWay != nil } }
  nonisolated var isClosed: Bool { state.withLock { $0.isClosed } }

  nonisolated func make(
    _ folder: DataFolder, to path: String, program: String, at now: Int64, report: @escaping BackupProgress.Report,
    afterWrites: () async throws(Refusal) -> Void
  ) async throws(BackupFault) -> BackupReport {
    let cancellation = Cancellation()
    try begin(cancellation)
    defer { state.withLock { $0.underWay = nil } }
    // Whoever removed files before a backup was under way has come to the end of it then.
    do throws(Refusal) { try await afterWrites() } catch { throw .impossible("The database can't be written to.") }
    let maker = BackupMaker(
      folder: folder, path: path, program: program, now: Int(now), cancellation: cancellation, report: report)
    let result = await withTaskCancellationHandler {
      await run(maker)
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }

  private nonisolated func begin(_ cancellation: Cancellation) throws(BackupFault) {
    try state.withLock { state throws(BackupFault) in
      guard !state.isClosed else { throw .stopped }
      guard state.underWay == nil else { throw .impossible("A backup is being made already.") }
      state.underWay = cancellation
    }
  }

  private func run(_ maker: BackupMaker) -> Result<BackupReport, BackupFault> {
    do throws(BackupFault) { return .success(try maker.make()) } catch { return .failure(error) }
  }

  /// Begins none any more, and ends the one that is under way.
  nonisolated func close() async {
    state.withLock { state in
      state.isClosed = true
      state.underWay?.cancel()
    }
    await settle()
  }

  /// Runs behind what was cancelled, when its leftovers are removed. (The optimizer leaves out the way to an actor where
  /// nothing is done.)
  private func settle() {
    state.withLock { $0.underWay = nil }
  }
}
