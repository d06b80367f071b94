import Foundation

/// Which schedules are drawn: always the same ones, or with `PARLEY_SCHEDULES=100000` so many that nobody has seen; with
/// `PARLEY_SCHEDULE=<seed>` one again.
enum Seeds {
  private static func setting(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  static func drawn(_ usual: UInt64, _ name: String) -> [UInt64] {
    if let one = setting("PARLEY_SCHEDULE") { return [one] }
    guard let count = setting("PARLEY_SCHEDULES") else { return Array(0..<usual) }
    let first = UInt64.random(in: 1...1_000_000) * 1_000_000
    print("\(name) \(first) to \(first + count - 1)")
    return Array(first..<first + count)
  }
}
