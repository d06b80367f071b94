import Testing

@testable import Serving

@Suite struct RequestCountTests {
  @Test func `requests are counted by class and latency`() {
    var counts = RequestCounts()
    for (status, nanoseconds) in [
      (200, Int64(0)), (204, 1_000_000), (404, 1_000_001), (503, 6_000_000_000), (101, 5), (999, 5),
    ] {
      counts.add(status: status, nanoseconds: nanoseconds, isAborted: status == 503)
    }
    #expect(counts.byClass == [0, 1, 2, 0, 1, 2])
    #expect(counts.buckets.first == 4 && counts.buckets[1] == 1 && counts.buckets.last == 1)
    #expect(counts.buckets.reduce(0, +) == 6 && counts.nanoseconds == 6_002_000_011 && counts.aborted == 1)
    var sum = counts
    sum.add(counts)
    #expect(sum.byClass == [0, 2, 4, 0, 2, 4] && sum.nanoseconds == 12_004_000_022 && sum.aborted == 2)
  }
}
