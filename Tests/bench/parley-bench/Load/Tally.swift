/// What was counted while measuring, on one loop or on all.
struct Tally: Sendable {
  var operations = 0
  /// Bytes received.
  var bytes = 0
  /// Nanoseconds.
  var latency = Histogram()
  /// What went wrong, and how often.
  var faults: [String: Int] = [:]

  mutating func add(_ other: Tally) {
    operations += other.operations
    bytes += other.bytes
    latency.add(other.latency)
    faults.merge(other.faults, uniquingKeysWith: +)
  }
}
