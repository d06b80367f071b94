import ParleyModel
import Synchronization

/// Writes one export after another, on a thread of its own.
final class ExportQueue: Sendable {
  private struct State {
    var isRunning = false
    /// Whether a request came since the last look for exports that wait.
    var isWoken = false
    var isClosed = false
    /// Purges that run. No export begins while one does: its read transaction would keep deleted bytes.
    var purges = 0
    /// Waits for the end of the purges.
    var waiting: CheckedContinuation<Void, Never>?
    /// Waits for the end of the last look.
    var closing: CheckedContinuation<Void, Never>?
    var current: (id: ID<DataExport>, cancellation: Cancellation, work: Task<Outcome, Never>)?
  }

  /// Nil for a cancelled export.
  typealias Outcome = Result<ExportArchive.Report, BackupFault>?
  typealias Work = @Sendable (Cancellation) throws(BackupFault) -> ExportArchive.Report

  private let thread = SerialQueue("parley.export")
  private let state = Mutex(State())

  var isClosed: Bool { state.withLock { $0.isClosed } }
  var isBusy: Bool { current != nil }
  /// The export that is being written, until its row has the result.
  var current: ID<DataExport>? { state.withLock { $0.current?.id } }

  /// Returns whether the caller writes the exports. Otherwise another one does, and looks again.
  func begin() -> Bool {
    state.withLock { state in
      state.isWoken = true
      guard !state.isRunning, !state.isClosed else { return false }
      (state.isRunning, state.isWoken) = (true, false)
      return true
    }
  }

  /// Returns whether the caller has to look again.
  func end() -> Bool {
    let (isWoken, closing) = state.withLock { state in
      let isWoken = state.isWoken && !state.isClosed
      (state.isRunning, state.isWoken) = (isWoken, false)
      return (isWoken, isWoken ? nil : state.closing)
    }
    closing?.resume()
    return isWoken
  }

  func beginPurge() { state.withLock { $0.purges += 1 } }

  func endPurge() {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.purges -= 1
      guard state.purges == 0 else { return nil }
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Waits until no purge runs. Only the task that writes the exports calls it.
  func waitForPurges() async {
    await withCheckedContinuation { waiting in
      let mayBegin = state.withLock { state in
        guard state.purges > 0, !state.isClosed else { return true }
        state.waiting = waiting
        return false
      }
      if mayBegin { waiting.resume() }
    }
  }

  func run(_ id: ID<DataExport>, _ work: @escaping Work) async -> Outcome {
    let cancellation = Cancellation()
    let task = state.withLock { state in
      if state.isClosed { cancellation.cancel() }
      let task = Task { [thread] () -> Outcome in
        do throws(BackupFault) {
          return .success(try await thread.run { () throws(BackupFault) in try work(cancellation) })
        } catch {
          return cancellation.isCancelled ? nil : .failure(error)
        }
      }
      state.current = (id, cancellation, task)
      return task
    }
    return await task.value
  }

  /// The row of the current export has the result.
  func release() { state.withLock { $0.current = nil } }

  /// Cancels the export if it is being written, and waits until its files are closed and removed.
  func cancel(_ id: ID<DataExport>) async {
    let current = state.withLock { $0.current }
    guard let current, current.id == id else { return }
    current.cancellation.cancel()
    _ = await current.work.value
  }

  /// Cancels the current export. A later start continues with it.
  func close() async {
    let (current, waiting) = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = nil }
      return (state.current, state.waiting)
    }
    waiting?.resume()
    current?.cancellation.cancel()
    await withCheckedContinuation { closing in
      let isRunning = state.withLock { state in
        if state.isRunning { state.closing = closing }
        return state.isRunning
      }
      if !isRunning { closing.resume() }
    }
  }
}
