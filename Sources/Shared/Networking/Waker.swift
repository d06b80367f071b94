import CParleyLinux
import Glibc
import Synchronization

/// Wakes a loop that sleeps in its poller. A poster increments the counter first and then checks the sleep flag; the
/// loop sets the flag first and then checks the counter. So at least one of the two sees the other.
final class Waker: Sendable {
  let event: Descriptor
  private let posted = Atomic<Int>(0)
  private let isAsleep = Atomic(false)

  init() throws(SystemError) {
    event = try Descriptor(checking: eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)), "eventfd")
  }

  /// Call before work is enqueued.
  func announce() {
    posted.add(1, ordering: .sequentiallyConsistent)
  }

  /// Call after work was enqueued.
  func wake() {
    if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { eventfd_write(event.number, 1) }
  }

  /// Call when the work starts.
  func begin() {
    posted.subtract(1, ordering: .relaxed)
  }

  var hasWork: Bool { posted.load(ordering: .sequentiallyConsistent) > 0 }

  /// Returns false if work is queued.
  func fallAsleep() -> Bool {
    isAsleep.store(true, ordering: .sequentiallyConsistent)
    guard hasWork else { return true }
    wakeUp()
    return false
  }

  func wakeUp() {
    isAsleep.store(false, ordering: .relaxed)
  }
}
