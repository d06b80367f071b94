import FoundationEssentials

/// The rounds of each fuzz test: `PARLEY_FUZZ_ROUNDS=1000000 swift test -c release` for a long run.
enum Fuzz {
  static let rounds = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 2000
}
