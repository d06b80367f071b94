/// Time limit by the wall clock, which is cheap to read, with an extension by CPU time: the thread may have waited for
/// a processor, or the machine for its host. When the wall clock limit has passed, the thread receives the same amount
/// of CPU time, up to `patience` times the limit by the wall clock. The thread must not change during a limit.
final class Deadline {
  private let length: Duration
  private let wallEnd: ContinuousClock.Instant
  private let maxWallEnd: ContinuousClock.Instant
  /// Thread CPU time at which the limit ends; set when the wall clock limit has passed.
  private var cpuEnd: Duration?
  /// The enclosing limit: the earlier one ends both.
  private let outer: Deadline?

  init(after length: Duration, patience: Int, within outer: Deadline?) {
    self.length = length
    self.outer = outer
    wallEnd = .now + length
    maxWallEnd = wallEnd + length * max(0, patience - 1)
  }

  var isOver: Bool { isOver(.now) }

  private func isOver(_ now: ContinuousClock.Instant) -> Bool { isOverItself(now) || outer?.isOver(now) == true }

  private func isOverItself(_ now: ContinuousClock.Instant) -> Bool {
    guard wallEnd < now else { return false }
    guard now < maxWallEnd else { return true }
    let used = ProcessorTime.ofThread
    guard let cpuEnd else {
      cpuEnd = used + length
      return false
    }
    return cpuEnd < used
  }
}
