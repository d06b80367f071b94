import ParleySQLite
import Synchronization

/// Cancels a running backup from any thread: between two steps, or during a long query.
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

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func check() throws(BackupFault) {
    if isCancelled { throw .cancelled }
  }

  /// Interrupts this connection on cancellation.
  func watch(_ connection: Connection) throws {
    let interrupter = try connection.interrupter
    state.withLock { $0.interrupter = interrupter }
    try check()
  }
}
