/// A logarithmic histogram with 128 buckets per doubling. ReportSubject values are at most 1/128 too high, from nanoseconds
/// to an hour. Recording increments an array element.
struct Histogram: Sendable {
  private var counts: [Int]
  private(set) var count = 0
  private(set) var maximum: Int64 = 0
  private var sum = 0.0

  /// The base-2 logarithm of the buckets per doubling.
  private static let precision = 7
  /// Values below this have one bucket each.
  private static let exact: Int64 = 1 << (precision + 1)
  /// Longer times are clamped to this: 2⁴² ns, more than an hour.
  private static let ceiling: Int64 = 1 << 42

  init() {
    counts = Array(repeating: 0, count: Self.bucket(of: Self.ceiling) + 1)
  }

  mutating func record(_ value: Int64) {
    let value = max(0, value)
    counts[Self.bucket(of: min(value, Self.ceiling))] += 1
    count += 1
    maximum = max(maximum, value)
    sum += Double(value)
  }

  mutating func add(_ other: Histogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
    maximum = max(maximum, other.maximum)
    sum += other.sum
  }

  var mean: Double { count == 0 ? 0 : sum / Double(count) }

  /// The quantile: `fraction` of all values, between 0 and 1, are at most this. 0 without values.
  func value(at fraction: Double) -> Int64 {
    let rank = max(1, Int((fraction * Double(count)).rounded(.up)))
    var seen = 0
    for (index, count) in counts.enumerated() {
      seen += count
      if seen >= rank { return min(Self.last(in: index), maximum) }
    }
    return maximum
  }

  private static func bucket(of value: Int64) -> Int {
    guard value >= exact else { return Int(value) }
    let shift = Int64.bitWidth - 1 - value.leadingZeroBitCount - precision
    return shift << precision + Int(value >> Int64(shift))
  }

  /// The greatest value of a bucket.
  private static func last(in bucket: Int) -> Int64 {
    guard bucket >= exact else { return Int64(bucket) }
    let shift = bucket >> precision - 1
    let leading = bucket - shift << precision
    return Int64(leading + 1) << Int64(shift) - 1
  }
}
