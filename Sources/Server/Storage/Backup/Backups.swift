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

  typealias Work = @Sendable (Cancellation) throws(BackupFault) -> BackupReport

  nonisolated func make(
    _ work: @escaping Work, afterWrites: () async throws(Refusal) -> Void
  ) async throws(BackupFault) -> BackupReport {
    let cancellation = Cancellation()
    try begin(cancellation)
    defer { state.withLock { $0.current = nil } }
    // A removal of files that started before the backup has finished after this write.
    do throws(Refusal) { try await afterWrites() } catch { throw .impossible("The database can't be written to.") }
    let result = await withTaskCancellationHandler {
      await run(work, cancellation)
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

  private func run(_ work: Work, _ cancellation: Cancellation) -> Result<BackupReport, BackupFault> {
    do throws(BackupFault) { return .success(try work(cancellation)) } catch { return .failure(error) }
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
