import Foundation
import Testing

/// Model checker for ParleyKit: for any order of steps, every app ends with the server's state and has posted each
/// message once.
@Suite(.serialized) struct PhoneScheduleTests {
  private static let seeds = Seeds.drawn(
    150, new: 150, "phone schedules",
    failed: [
      40_424_002_096, 154_850_000_447, 202_175_007_878, 202_175_010_662, 202_175_012_817, 343_581_002_356,
      446_012_000_378, 538_030_000_170, 555_458_019_277, 555_458_022_200, 53_036_024_415,
    ])

  /// No schedule takes long; the limit detects deadlocks.
  private static var timeLimit: Testing.TimeLimitTrait.Duration { .minutes(10 + seeds.count / 50) }

  @Test(.timeLimit(timeLimit)) func `every app ends with the state of the server`() async throws {
    let began = ContinuousClock.now
    let failures = try await failures(of: Self.seeds)
    for failure in failures.prefix(3) { Issue.record("\(failure)") }
    #expect(failures.isEmpty, "\(failures.count) of \(Self.seeds.count)")
    print("\(Self.seeds.count) phone schedules in \(ContinuousClock.now - began)")
  }

  @Test(.timeLimit(timeLimit), arguments: InjectedNetworkFault.allCases)
  func `the checker detects a broken network`(_ fault: InjectedNetworkFault) async throws {
    let found = try await failures(of: Array(0..<20), fault).count
    print("\(fault) is detected in \(found) of 20 phone schedules")
    #expect(found >= 4)
  }

  @Test(.timeLimit(timeLimit)) func `a seed is reproducible`() async throws {
    let failures = try await ScheduleRunner.failures(of: Array(0..<20)) { site, seeds in
      let found = FailureList()
      let isWhole = await Lane.run { lane in
        for seed in seeds {
          found.begin(seed)
          var traces: [[String]] = []
          let failure = await ScheduleRunner.failure(of: seed) {
            traces = []
            for _ in 0..<2 {
              let schedule = try PhoneSchedule(site, seed: seed, on: lane)
              if let failure = await schedule.failure() { return (failure, schedule.storeLog) }
              traces.append(await schedule.trace)
            }
            return (nil, StoreLog())
          }
          if let failure { found.add(failure) }
          guard traces.count == 2, let site = traces[0].firstDifference(from: traces[1]) else { continue }
          found.add("seed \(seed): \(traces.map { $0.dropFirst(max(0, site - 3)).prefix(6) })")
        }
      }
      return found.all + (isWhole ? [] : ["seed \(found.last): all work is blocked"])
    }
    for failure in failures.prefix(3) { Issue.record("\(failure)") }
    #expect(failures.isEmpty)
  }

  private func failures(of seeds: [UInt64], _ fault: InjectedNetworkFault? = nil) async throws -> [String] {
    try await ScheduleRunner.failures(of: seeds) { site, seeds in
      let found = FailureList()
      let isWhole = await Lane.run { lane in
        for seed in seeds {
          found.begin(seed)
          let failure = await ScheduleRunner.failure(of: seed) {
            let schedule = try PhoneSchedule(site, seed: seed, on: lane, injected: fault)
            return (await schedule.failure(), schedule.storeLog)
          }
          if let failure { found.add(failure) }
        }
      }
      return found.all + (isWhole ? [] : ["seed \(found.last): all work is blocked"])
    }
  }
}

extension [String] {
  /// The first index with different elements.
  fileprivate func firstDifference(from other: [String]) -> Int? {
    if let index = zip(self, other).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset { return index }
    return count == other.count ? nil : Swift.min(count, other.count)
  }
}
