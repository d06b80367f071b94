import Foundation
import TestSupport
import Testing

/// Acknowledged messages and changes survive a kill at any moment, exactly once and in their last state. `DiskTests`
/// covers power cuts.
@Suite(.serialized) struct CrashTests {
  /// Kills per folder, and the number of folders; more with `PARLEY_CRASHES`.
  static let rounds = 20
  static let folders = max(1, (ProcessInfo.processInfo.environment["PARLEY_CRASHES"].flatMap { Int($0) } ?? 0) / rounds)

  @Test(arguments: 1...UInt64(folders))
  func `every acknowledged message and change survives a kill exactly once and in order`(
    seed: UInt64
  ) async throws {
    let ledger = try Ledger()
    try await ledger.plant()
    var random = Seeded(seed: seed)
    for round in 1...Self.rounds {
      let moment: CrashingWriter.Moment =
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<2: .afterStart(milliseconds: Int.random(in: 0..<60, using: &random))
        case 2..<5: .inCheckpoint(microsecondsLater: UInt32.random(in: 0..<3_000, using: &random))
        default: .afterAnswers(Int.random(in: 1..<360, using: &random))
        }
      try await ledger.crash(moment)
      // Every other time the next writer starts from the crashed state, without a clean start in between.
      if round.isMultiple(of: 2) { try await ledger.start() }
      try #require(
        try ledger.faults(inSearch: round.isMultiple(of: 10)) == [], "round \(round), killed \(moment)")
    }
    // The unacknowledged sends of the last crash are repeated and must arrive.
    try await ledger.crash(.afterAnswers(2 * ledger.again.count))
    #expect(try ledger.faults() == [])
    #expect(ledger.messageCount > 20 * Self.rounds)
    #expect(ledger.changeCount > 40 * Self.rounds)
  }

  @Test func `a killed start can be repeated`() async throws {
    let whole = try Ledger()
    let clock = ContinuousClock()
    let time = try await clock.measure { try await whole.crash(.onceOpen, writers: 0) }
    let milliseconds = Int(time / .milliseconds(1))
    var random = Seeded(seed: 2)
    for round in 1...10 * Self.folders {
      let ledger = try Ledger()
      for _ in 0..<3 {
        try await ledger.crash(.afterStart(milliseconds: Int.random(in: 0...milliseconds, using: &random)), writers: 0)
      }
      try await ledger.start()
      try #require(try ledger.faults() == [], "round \(round)")
    }
  }

  @Test(arguments: [("posts", ", and there is "), ("changes", ", and is ")])
  func `a store that acknowledged before the commit would be detected`(lies: String, fault: String) async throws {
    let ledger = try Ledger()
    try await ledger.plant()
    var faults: [String] = []
    // During some commit.
    for round in 1...20 where faults.isEmpty {
      try await ledger.crash(.afterAnswers(2 * ledger.again.count + 5 * round), lies: lies)
      try await ledger.start()
      faults = try ledger.faults()
    }
    #expect(faults.contains { $0.contains(fault) })
  }
}
