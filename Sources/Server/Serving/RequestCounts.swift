/// Counts of answered requests and their latency. Each loop has its own, so that a request takes no lock.
public struct RequestCounts: Sendable, Equatable {
  /// Upper bounds of the buckets, in nanoseconds. The last bucket has no bound.
  public static let bounds: [Int64] = [
    1_000_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000, 1_000_000_000,
    5_000_000_000,
  ]

  /// By the first digit of the status.
  public private(set) var byClass = [Int](repeating: 0, count: 6)
  /// By latency: the time from the first byte of a request to the last one of its response, as queued.
  public private(set) var buckets = [Int](repeating: 0, count: bounds.count + 1)
  /// The sum of all latencies, in nanoseconds.
  public private(set) var nanoseconds: Int64 = 0
  /// Requests that the server refused before it knew a method and a path.
  public private(set) var malformed = 0
  /// Responses that were cut off.
  public private(set) var aborted = 0

  public init() {}

  mutating func add(status: Int, nanoseconds taken: Int64, isAborted: Bool) {
    byClass[min(max(status / 100, 0), 5)] += 1
    var bucket = 0
    while bucket < Self.bounds.count, taken > Self.bounds[bucket] { bucket += 1 }
    buckets[bucket] += 1
    nanoseconds += taken
    if isAborted { aborted += 1 }
  }

  mutating func addMalformed() { malformed += 1 }

  mutating func add(_ other: RequestCounts) {
    for index in byClass.indices { byClass[index] += other.byClass[index] }
    for index in buckets.indices { buckets[index] += other.buckets[index] }
    nanoseconds += other.nanoseconds
    malformed += other.malformed
    aborted += other.aborted
  }
}

/// Counters of a server's loops.
public struct ServingCounts: Sendable {
  public internal(set) var requests = RequestCounts()
  public internal(set) var httpConnections = 0
  public internal(set) var webSockets = 0
}
