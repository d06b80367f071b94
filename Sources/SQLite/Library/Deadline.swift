import Glibc

/// When a time limit is over. The clock on the wall is asked, since that costs next to nothing. But while it went on the
/// thread may have waited for a processor, or the machine for its host: so a limit that is over by this clock gives its
/// thread as much of the processor before it is over indeed, and ends after so many times its length in any case.
final class Deadline {
  private let length: Duration
  let soonest: ContinuousClock.Instant
  private let latest: ContinuousClock.Instant
  /// In the processor's time of the thread, once the limit was seen to be over by the clock.
  private var processorEnd: Duration?

  init(after length: Duration, patience: Int) {
    self.length = length
    soonest = .now + length
    latest = soonest + length * max(0, patience - 1)
  }

  var isOver: Bool {
    let now = ContinuousClock.now
    guard soonest < now else { return false }
    guard now < latest else { return true }
    let used = Self.processorTime
    guard let processorEnd else {
      processorEnd = used + length
      return false
    }
    return processorEnd < used
  }

  /// What this thread has used so far: a connection that is limited stays on one until the end of it.
  private static var processorTime: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
