import CParleyLinux
import Glibc
import Synchronization

/// How work for a loop reaches it while it sleeps in its poller. Whoever posts work counts it first and wakes the sleeper
/// after; whoever wants to sleep says so first and looks at the count after: so one of the two always sees the other.
final class Waker: Sendable {
  let event: Descriptor
  private let posted = Atomic<Int>(0)
  private let isAsleep = Atomic(false)

  init() throws(SystemError) {
    event = try Descriptor(checking: eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)), "eventfd")
  }

  /// Work will be put on the loop's queue.
  func announce() {
    posted.add(1, ordering: .sequentiallyConsistent)
  }

  /// That work is on the queue.
  func wake() {
    if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { eventfd_write(event.number, 1) }
  }

  /// That work begins.
  func take() {
    posted.subtract(1, ordering: .relaxed)
  }

  var hasWork: Bool { posted.load(ordering: .sequentiallyConsistent) > 0 }

  /// False when there is work on the queue.
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
