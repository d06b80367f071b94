import Testing

@testable import ParleyProgram

@Suite struct OrderStateTests {
  private static let (day, week): (Int64, Int64) = (86_400, 604_800)

  @Test(arguments: [(0, 60), (1, 60), (2, 120), (5, 960), (11, 61_440), (12, 86_400), (1_000_000, 86_400)])
  func `the delay doubles at each failure up to a day, with up to a quarter more`(failures: Int, least: Int) {
    let least = Int64(least)
    let delays = (0..<200).map { _ in OrderState.delay(failures: failures, retryAfter: nil) }
    #expect(delays.allSatisfy { (least...least + least / 4).contains($0) })
    #expect(Set(delays).count > 1)
  }

  @Test func `an authority delays the next attempt, by a week at most`() {
    #expect(OrderState.delay(failures: 1, retryAfter: 7_200) == 7_200)
    #expect(OrderState.delay(failures: 1, retryAfter: .max) == Self.week)
    // An authority does not hurry the daemon.
    for seconds in [0, 10, -1, .min] {
      #expect(OrderState.delay(failures: 12, retryAfter: seconds) >= Self.day)
    }
  }
}
