import Foundation
import SeededRandom
import Testing

/// What was acknowledged is there, exactly once, whenever the process was killed. (What a power cut takes besides is
/// `DiskTests`.)
@Suite(.serialized) struct CrashTests {
  /// How many processes are killed; more with `PARLEY_CRASHES`.
  static let rounds = ProcessInfo.processInfo.environment["PARLEY_CRASHES"].flatMap { Int($0) } ?? 50

  @Test func `every acknowledged message survives the death of its process, once and in its place`() async throws {
    let ledger = try Ledger()
    try await ledger.plant()
    var random = Seeded(seed: 1)
    for round in 1...Self.rounds {
      let moment: CrashingWriter.Moment =
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<2: .afterStart(milliseconds: Int.random(in: 0..<60, using: &random))
        case 2..<5: .inCheckpoint(microsecondsLater: UInt32.random(in: 0..<3_000, using: &random))
        default: .afterAcknowledged(Int.random(in: 1..<120, using: &random))
        }
      try await ledger.crash(moment)
      // Every other time the next writer finds what the crash left, and not what a start has put in order.
      if round.isMultiple(of: 2) { try await ledger.start() }
      try #require(
        try ledger.faults(inSearch: round.isMultiple(of: 10)) == [], "round \(round), killed \(moment)")
    }
    // What was under way when the last died is sent again, and then it is there.
    let open = ledger.open.count
    try await ledger.crash(.afterAcknowledged(2 * open))
    #expect(try ledger.faults() == [])
    #expect(ledger.toldCount > 20 * Self.rounds)
  }

  @Test func `a start that is killed leaves what the next start goes on from`() async throws {
    let whole = try Ledger()
    let clock = ContinuousClock()
    let time = try await clock.measure { try await whole.crash(.onceOpen, writers: 0) }
    let milliseconds = Int(time / .milliseconds(1))
    var random = Seeded(seed: 2)
    for round in 1...max(10, Self.rounds / 5) {
      let ledger = try Ledger()
      for _ in 0..<3 {
        try await ledger.crash(.afterStart(milliseconds: Int.random(in: 0...milliseconds, using: &random)), writers: 0)
      }
      try await ledger.start()
      try #require(try ledger.faults() == [], "round \(round)")
    }
  }

  @Test func `a store that acknowledged before the commit would be found out`() async throws {
    let ledger = try Ledger()
    try await ledger.plant()
    var faults: [String] = []
    for _ in 0..<20 where faults.isEmpty {
      try await ledger.crash(.afterAcknowledged(10), lies: true)
      try await ledger.start()
      faults = try ledger.faults()
    }
    #expect(faults.contains { $0.contains("was acknowledged as") })
  }
}
