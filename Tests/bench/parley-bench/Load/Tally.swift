/// The counters of a measurement, of one loop or all.
struct Tally: Sendable {
  var operations = 0
  /// Bytes received.
  var bytes = 0
  /// Nanoseconds.
  var latency = Histogram()
  /// The number of occurrences of each fault.
  var faults: [String: Int] = [:]

  mutating func add(_ other: Tally) {
    operations += other.operations
    bytes += other.bytes
    latency.add(other.latency)
    faults.merge(other.faults, uniquingKeysWith: +)
  }
}
