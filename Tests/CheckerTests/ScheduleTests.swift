import Testing

/// Following along, driven by a scheduler: whatever happens in whatever order, every device ends up with what the server
/// holds, and was never told anything else.
@Suite(.serialized) struct ScheduleTests {
  private static let seeds = Seeds.drawn(2_000, "schedules")

  /// Nothing here waits for long; whoever waits for ever is found, too.
  private static var patience: Testing.TimeLimitTrait.Duration { .minutes(10 + seeds.count / 100) }

  @Test(.timeLimit(patience)) func `whatever happens, every device ends up with what the server holds`() async throws {
    let began = ContinuousClock.now
    let failures = try await failures(of: Self.seeds)
    for failure in failures.prefix(3) { Issue.record("\(failure)") }
    #expect(failures.isEmpty, "\(failures.count) of \(Self.seeds.count)")
    print("\(Self.seeds.count) schedules in \(ContinuousClock.now - began)")
  }

  @Test(.timeLimit(patience), arguments: InjectedFault.allCases)
  func `a hub that is broken is found out`(_ fault: InjectedFault) async throws {
    let found = try await failures(of: Array(0..<20), fault).count
    print("\(fault) is found in \(found) of 20 schedules")
    #expect(found >= 4)
  }

  /// Two at a time: what failed, each with its seed and what was done.
  private func failures(of seeds: [UInt64], _ fault: InjectedFault? = nil) async throws -> [String] {
    let place = try await CheckedPlace.make()
    defer { place.remove() }
    return try await withThrowingTaskGroup(of: [String].self) { group in
      for part in 0..<2 {
        group.addTask {
          var failures: [String] = []
          for (number, seed) in seeds.enumerated() where number % 2 == part {
            if let failure = try await Schedule.failure(of: place, seed: seed, fault) { failures.append(failure) }
          }
          return failures
        }
      }
      var all: [String] = []
      for try await failures in group { all += failures }
      return all
    }
  }
}

extension Schedule {
  static let length = 12

  /// What failed. Where the machine stood still for so long that the store took something back, all of it is done again: a
  /// fault comes back.
  fileprivate static func failure(
    of place: CheckedPlace, seed: UInt64, _ fault: InjectedFault?
  ) async throws -> String? {
    var failure: String?
    for _ in 0..<3 {
      let schedule = try Schedule(place, seed: seed, injected: fault)
      failure = await schedule.failure()
      guard failure != nil, schedule.complaints.areOfStandstill else { return failure }
      print("seed \(seed) is tried again: \(schedule.complaints.all)")
    }
    return failure
  }

  private func failure() async -> String? {
    do {
      try await run(steps: Self.length, devices: 2 + Int(seed % 3))
    } catch {
      fail("\(error)")
    }
    await end()
    return stage.failure(of: seed)
  }
}
