import Synchronization

@testable import ParleyNetworking

/// A clock that a test advances, so that timeouts do not depend on the speed of the machine.
final class ManualClock: Sendable {
  private let nanoseconds = Atomic<Int64>(1_000_000_000_000)

  var read: @Sendable () -> Int64 { { self.nanoseconds.load(ordering: .sequentiallyConsistent) } }

  func advance(milliseconds: Int) {
    nanoseconds.add(Int64(milliseconds) * 1_000_000, ordering: .sequentiallyConsistent)
  }
}

extension EventLoop {
  /// Checks the deadlines after the clock was advanced.
  func expireDeadlines() { reactor.expire(on: self) }
}
