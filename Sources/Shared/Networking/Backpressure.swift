/// The marks of an output queue: its writers wait from the high-water mark until it has drained to the low-water mark.
struct Backpressure {
  private var highWater = Backpressure.defaultHighWater
  private var lowWater = Backpressure.defaultHighWater / 2
  /// Whether a writer should wait.
  private(set) var isFull = false

  /// The default queue length from which a writer should wait.
  private static let defaultHighWater = 262_144

  mutating func setHighWater(_ bytes: Int) {
    highWater = bytes
    lowWater = bytes / 2
  }

  mutating func queued(_ count: Int) {
    if count >= highWater { isFull = true }
  }

  /// A file does not count as queued memory, but its sender waits, too.
  mutating func queuedFile() { isFull = true }

  mutating func wait(until level: Int) {
    isFull = true
    lowWater = min(lowWater, max(0, level))
  }

  /// Returns true once when the queue has drained.
  mutating func hasDrained(to count: Int, hasFile: Bool) -> Bool {
    guard isFull, !hasFile, count <= lowWater else { return false }
    isFull = false
    lowWater = highWater / 2
    return true
  }
}
