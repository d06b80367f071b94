import Dispatch
import ParleyNetworking

/// Extends the start limit of the service manager (`TimeoutStartSec=`) until its end: a migration takes as long as it needs.
final class StartLimit {
  private let timer: any DispatchSourceTimer

  /// The time between two messages.
  private static let interval: DispatchTimeInterval = .seconds(2)
  /// The time that the service manager waits for the next message.
  private static let microseconds = 60_000_000

  init() {
    // A queue of its own: the start blocks the threads of the pool.
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "parley.start"))
    timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
    timer.setEventHandler { ServiceManager.notify("EXTEND_TIMEOUT_USEC=\(Self.microseconds)") }
    timer.activate()
  }

  deinit { timer.cancel() }

  func end() { timer.cancel() }
}
