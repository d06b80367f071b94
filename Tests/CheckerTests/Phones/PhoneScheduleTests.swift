import Foundation
import Testing

/// ParleyKit, driven by a scheduler: whatever happens in whatever order, every app ends up with what the server holds, and has
/// said everything once.
@Suite(.serialized) struct PhoneScheduleTests {
  private static let seeds = Seeds.drawn(1_000, "phone schedules")

  /// Nothing here waits for long; whoever waits for ever is found, too.
  private static var patience: Testing.TimeLimitTrait.Duration { .minutes(10 + seeds.count / 50) }

  @Test(.timeLimit(patience)) func `whatever happens, every app ends up with what the server holds`() async throws {
    let began = ContinuousClock.now
    let failures = try await failures(of: Self.seeds)
    for failure in failures.prefix(3) { Issue.record("\(failure)") }
    #expect(failures.isEmpty, "\(failures.count) of \(Self.seeds.count)")
    print("\(Self.seeds.count) phone schedules in \(ContinuousClock.now - began)")
  }

  @Test(.timeLimit(patience), arguments: InjectedNetwork.allCases)
  func `a network that is broken is found out`(_ fault: InjectedNetwork) async throws {
    let found = try await failures(of: Array(0..<20), fault).count
    print("\(fault) is found in \(found) of 20 phone schedules")
    #expect(found >= 4)
  }

  /// Two at a time: what failed, each with its seed and what was done.
  private func failures(of seeds: [UInt64], _ fault: InjectedNetwork? = nil) async throws -> [String] {
    let place = try await CheckedPlace.make()
    defer { place.remove() }
    return await withTaskGroup(of: [String].self) { group in
      for part in 0..<2 {
        let mine = seeds.enumerated().filter { $0.offset % 2 == part }.map(\.element)
        group.addTask {
          let found = Found()
          let isWhole = await Lane.run { lane in
            for seed in mine {
              found.begin(seed)
              if let failure = await PhoneSchedule.failure(of: place, seed: seed, on: lane, fault) {
                found.add(failure)
              }
            }
          }
          return found.all + (isWhole ? [] : ["seed \(found.last): nothing goes on"])
        }
      }
      var all: [String] = []
      for await failures in group { all += failures }
      return all
    }
  }
}

extension PhoneSchedule {
  /// What failed. Where the machine stood still for so long that the store took something back, all of it is done again: a
  /// fault comes back.
  fileprivate static func failure(
    of place: CheckedPlace, seed: UInt64, on lane: Lane, _ fault: InjectedNetwork?
  ) async -> String? {
    var failure: String?
    for _ in 0..<3 {
      do {
        let schedule = try PhoneSchedule(place, seed: seed, on: lane, injected: fault)
        failure = await schedule.failure(steps: 12, phones: 2 + Int(seed % 2))
        guard failure != nil, schedule.complaints.areOfStandstill else { return failure }
        print("seed \(seed) is tried again: \(schedule.complaints.all)")
      } catch {
        return "seed \(seed): \(error)"
      }
    }
    return failure
  }
}
