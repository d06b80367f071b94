import Glibc
import ParleyNetworking
import Synchronization

/// SIGINT and SIGTERM for a command that wants to leave nothing half done: the first asks it to stop, the second ends it.
final class Interruption: Sendable {
  private let count = Mutex(0)

  var hasCome: Bool { count.withLock { $0 > 0 } }

  private func come() {
    let count = count.withLock { count in
      count += 1
      return count
    }
    if count > 1 { exit(Outcome.Status.impossible.rawValue) }
  }

  /// Runs work that may block, on another thread than the one that hears of signals.
  static func during<Value: Sendable>(_ work: @escaping @Sendable (Interruption) async -> Value) async -> Value {
    let interruption = Interruption()
    let signals = Signals()
    for number in [SIGINT, SIGTERM] { signals.on(number) { interruption.come() } }
    defer { withExtendedLifetime(signals) {} }
    return await Task.detached { await work(interruption) }.value
  }
}
