import ParleySQLite
import Synchronization

/// Ends a backup under way, from any thread: between two steps, or in the middle of a long query.
final class Cancellation: Sendable {
  private struct State {
    var isCancelled = false
    var interrupter: Interrupter?
  }

  private let state = Mutex(State())

  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.interrupter?.interrupt()
    }
  }

  func check() throws(BackupFault) {
    if state.withLock({ $0.isCancelled }) { throw .stopped }
  }

  /// Cancelling cuts short what this connection does.
  func watch(_ connection: Connection) throws {
    let interrupter = try connection.interrupter
    state.withLock { $0.interrupter = interrupter }
    try check()
  }
}
