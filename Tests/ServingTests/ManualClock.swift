import Synchronization

@testable import ParleyNetworking

/// A clock that stands until a test lets time go by. So it is the server's limits that are measured, and not how long a
/// busy machine has held somebody up.
final class HandClock: Sendable {
  private let nanoseconds = Atomic<Int64>(1_000_000_000_000)

  var read: @Sendable () -> Int64 { { self.nanoseconds.load(ordering: .sequentiallyConsistent) } }

  func pass(milliseconds: Int) {
    nanoseconds.add(Int64(milliseconds) * 1_000_000, ordering: .sequentiallyConsistent)
  }
}

extension EventLoop {
  /// Looks at its clock, which a hand has moved.
  func look() { reactor.expire(on: self) }
}
