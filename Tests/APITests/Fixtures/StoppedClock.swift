import Synchronization

/// A clock that advances only by `add`.
final class StoppedClock: Sendable {
  private let milliseconds = Atomic<Int>(1_800_000_000_000)

  var read: @Sendable () -> Int64 { { Int64(self.milliseconds.load(ordering: .relaxed)) } }

  func add(_ count: Int) { milliseconds.add(count, ordering: .relaxed) }
}
