/// When a time limit is over. The clock on the wall is asked, since that costs next to nothing. But while it went on the
/// thread may have waited for a processor, or the machine for its host: so a limit that is over by this clock gives its
/// thread as much of the processor before it is over indeed, and ends after so many times its length in any case. A
/// connection that is limited stays on one thread until the end of it.
final class Deadline {
  private let length: Duration
  private let soonest: ContinuousClock.Instant
  private let latest: ContinuousClock.Instant
  /// In the processor's time of the thread, once the limit was seen to be over by the clock.
  private var processorEnd: Duration?
  /// The limit of what this is a part of: whichever is over first ends both.
  private let outer: Deadline?

  init(after length: Duration, patience: Int, within outer: Deadline?) {
    self.length = length
    self.outer = outer
    soonest = .now + length
    latest = soonest + length * max(0, patience - 1)
  }

  var isOver: Bool { isOver(.now) }

  private func isOver(_ now: ContinuousClock.Instant) -> Bool { isOverItself(now) || outer?.isOver(now) == true }

  private func isOverItself(_ now: ContinuousClock.Instant) -> Bool {
    guard soonest < now else { return false }
    guard now < latest else { return true }
    let used = ProcessorTime.ofThread
    guard let processorEnd else {
      processorEnd = used + length
      return false
    }
    return processorEnd < used
  }
}
