import Glibc
import ParleyNetworking
import Synchronization

/// SIGINT and SIGTERM during a command. The first signal requests a clean stop, the second one exits at once.
final class Interruption: Sendable {
  private let count = Mutex(0)

  var isRequested: Bool { count.withLock { $0 > 0 } }

  private func signal() {
    let count = count.withLock { count in
      count += 1
      return count
    }
    if count > 1 { exit(Outcome.Status.error.rawValue) }
  }

  /// Runs `work`, which may block, on another thread than the signal handlers.
  static func during<Value: Sendable>(_ work: @escaping @Sendable (Interruption) async -> Value) async -> Value {
    let interruption = Interruption()
    let signals = Signals()
    for number in [SIGINT, SIGTERM] { signals.on(number) { interruption.signal() } }
    defer { withExtendedLifetime(signals) {} }
    return await Task.detached { await work(interruption) }.value
  }
}
