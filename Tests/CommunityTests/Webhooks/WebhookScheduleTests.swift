import Testing

@testable import Community

/// The delays between the attempts to deliver an event.
@Suite struct WebhookScheduleTests {
  @Test(
    arguments: [
      (1, nil, 1_000), (2, nil, 2_000), (5, nil, 16_000), (14, nil, 8_192_000), (15, nil, 10_800_000),
      (1_000, nil, 10_800_000), (1, 30_000, 30_000), (8, 30_000, 128_000), (1, 86_400_000, 21_600_000), (1, -5, 1_000),
    ] as [(Int, Int64?, Int64)])
  func `each failure doubles the delay, and a server may ask for more`(failures: Int, asked: Int64?, delay: Int64) {
    #expect(WebhookSchedule.delay(after: failures, asked: asked, jitter: 1, Bounds()) == delay)
  }

  @Test func `the delay varies`() {
    #expect(WebhookSchedule.delay(after: 3, asked: nil, jitter: 0.75, Bounds()) == 3_000)
    #expect(WebhookSchedule.delay(after: 3, asked: nil, jitter: 1.25, Bounds()) == 5_000)
  }

  @Test func `three days have enough attempts`() {
    var (time, attempts): (Int64, Int) = (0, 0)
    while time < Bounds().webhookPatience {
      attempts += 1
      time += WebhookSchedule.delay(after: attempts, asked: nil, jitter: 1.25, Bounds())
    }
    #expect(attempts > Bounds().webhookMinFailures)
  }
}
