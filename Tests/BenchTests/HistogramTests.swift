import Testing

@testable import parley_bench

struct HistogramTests {
  @Test(arguments: [0, 1, 127, 128, 255, 256, 257, 511, 512, 1_000, 65_535, 65_536, 1_234_567_890, 1 << 42] as [Int64])
  func `a value is reported at most one part in 128 too high`(value: Int64) {
    var histogram = Histogram()
    histogram.record(value)
    histogram.record(1 << 42)  // So that the maximum does not correct the result.
    let reported = histogram.value(at: 0.5)
    #expect(reported >= value)
    #expect(reported - value <= value / 128)
  }

  @Test func `percentiles match those of a hundred thousand sorted values`() {
    var histogram = Histogram()
    var values: [Int64] = []
    var state: UInt64 = 1
    for _ in 0..<100_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let value = Int64(state >> 34) >> Int64(state >> 32 & 15)
      values.append(value)
      histogram.record(value)
    }
    values.sort()
    for share in [0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1] {
      let sorted = values[Int((share * 100_000).rounded(.up)) - 1]
      let reported = histogram.value(at: share)
      #expect(reported >= sorted)
      #expect(reported - sorted <= sorted / 128)
    }
    #expect(histogram.maximum == values.last)
  }

  @Test func `merged histograms equal that of all values`() {
    var odd = Histogram()
    var even = Histogram()
    var all = Histogram()
    for value in Int64(1)...10_000 {
      if value.isMultiple(of: 2) { even.record(value) } else { odd.record(value) }
      all.record(value)
    }
    odd.add(even)
    #expect(odd.count == all.count)
    #expect(odd.mean == all.mean)
    for share in [0.01, 0.5, 0.99, 1] { #expect(odd.value(at: share) == all.value(at: share)) }
  }

  @Test func `an empty histogram reports zero`() {
    #expect(Histogram().value(at: 0.5) == 0)
    #expect(Histogram().mean == 0)
  }

  @Test func `values out of range count as the minimum or maximum`() {
    var histogram = Histogram()
    histogram.record(-5)
    histogram.record(.max)
    #expect(histogram.value(at: 0.5) == 0)
    #expect(histogram.count == 2)
    #expect(histogram.maximum == .max)
  }
}
