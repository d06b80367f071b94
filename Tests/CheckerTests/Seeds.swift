import Foundation

/// The seeds of the schedules: fixed ones and as many new ones as a run has time for. `PARLEY_SCHEDULES=100000` draws that many
/// new ones, and `PARLEY_SCHEDULE=<seed>` replays one and prints its requests.
enum Seeds {
  private static func setting(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// Whether one seed is replayed.
  static var isReplay: Bool { setting("PARLEY_SCHEDULE") != nil }

  /// - Parameter failed: seeds that have failed.
  static func drawn(_ fixed: UInt64, new: UInt64, _ name: String, failed: [UInt64] = []) -> [UInt64] {
    if let one = setting("PARLEY_SCHEDULE") { return [one] }
    guard let count = setting("PARLEY_SCHEDULES") else { return failed + Array(0..<fixed) + random(new, name) }
    return random(count, name)
  }

  private static func random(_ count: UInt64, _ name: String) -> [UInt64] {
    let first = UInt64.random(in: 1...1_000_000) * 1_000_000
    print("new \(name): seeds \(first)..<\(first + count)")
    return Array(first..<first + count)
  }
}
