import Testing

/// Model checker for sync: for any order of steps, every device ends with the server's state and never receives a wrong
/// event.
@Suite(.serialized) struct ScheduleTests {
  private static let seeds = Seeds.drawn(250, new: 150, "schedules")

  /// No schedule takes long; the limit detects deadlocks.
  private static var timeLimit: Testing.TimeLimitTrait.Duration { .minutes(10 + seeds.count / 100) }

  @Test(.timeLimit(timeLimit)) func `every device ends with the state of the server`() async throws {
    let began = ContinuousClock.now
    let failures = try await failures(of: Self.seeds)
    for failure in failures.prefix(3) { Issue.record("\(failure)") }
    #expect(failures.isEmpty, "\(failures.count) of \(Self.seeds.count)")
    print("\(Self.seeds.count) schedules in \(ContinuousClock.now - began)")
  }

  @Test(.timeLimit(timeLimit), arguments: InjectedFault.allCases)
  func `the checker detects a broken hub`(_ fault: InjectedFault) async throws {
    let found = try await failures(of: Array(0..<20), fault).count
    print("\(fault) is detected in \(found) of 20 schedules")
    #expect(found >= 4)
  }

  private func failures(of seeds: [UInt64], _ fault: InjectedFault? = nil) async throws -> [String] {
    try await ScheduleRunner.failures(of: seeds) { site, seeds in
      var failures: [String] = []
      for seed in seeds {
        let failure = await ScheduleRunner.failure(of: seed) {
          let schedule = try Schedule(site, seed: seed, injected: fault)
          return (await schedule.failure(), schedule.storeLog)
        }
        if let failure { failures.append(failure) }
      }
      return failures
    }
  }
}

extension Schedule {
  static let length = 12

  fileprivate func failure() async -> String? {
    do {
      try await run(steps: Self.length, devices: 2 + Int(seed % 3))
    } catch {
      fail("\(error)")
    }
    await end()
    return stage.failure(of: seed)
  }
}
