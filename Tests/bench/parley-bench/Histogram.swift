// Counts values in buckets whose width grows with the value: 128 buckets for each doubling. So what it tells of a value
// is at most 1/128 too high, whether that is a microsecond or an hour, and recording is an addition in an array.

/// How often which values occurred.
struct Histogram: Sendable {
  private var counts: [Int]
  private(set) var count = 0
  private(set) var greatest: Int64 = 0
  private var sum = 0.0

  /// The base-2 logarithm of the number of buckets for each doubling.
  private static let precision = 7
  /// Values below this have a bucket of their own.
  private static let exact: Int64 = 1 << (precision + 1)
  /// 2⁴² ns are more than an hour; what is longer counts as that long.
  private static let ceiling: Int64 = 1 << 42

  init() {
    counts = Array(repeating: 0, count: Self.bucket(of: Self.ceiling) + 1)
  }

  mutating func record(_ value: Int64) {
    let value = max(0, value)
    counts[Self.bucket(of: min(value, Self.ceiling))] += 1
    count += 1
    greatest = max(greatest, value)
    sum += Double(value)
  }

  mutating func add(_ other: Histogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
    greatest = max(greatest, other.greatest)
    sum += other.sum
  }

  var mean: Double { count == 0 ? 0 : sum / Double(count) }

  /// The value that this share of all values, between 0 and 1, does not exceed; 0 when there are none.
  func value(at share: Double) -> Int64 {
    let rank = max(1, Int((share * Double(count)).rounded(.up)))
    var seen = 0
    for (index, count) in counts.enumerated() {
      seen += count
      if seen >= rank { return min(Self.last(in: index), greatest) }
    }
    return greatest
  }

  private static func bucket(of value: Int64) -> Int {
    guard value >= exact else { return Int(value) }
    let shift = Int64.bitWidth - 1 - value.leadingZeroBitCount - precision
    return shift << precision + Int(value >> Int64(shift))
  }

  /// The greatest value that falls into a bucket.
  private static func last(in bucket: Int) -> Int64 {
    guard bucket >= exact else { return Int64(bucket) }
    let shift = bucket >> precision - 1
    let leading = bucket - shift << precision
    return Int64(leading + 1) << Int64(shift) - 1
  }
}
