import FoundationEssentials

/// How often each fuzz test tries: `PARLEY_FUZZ_ROUNDS=1000000 swift test -c release` for a long run.
enum Fuzz {
  static let rounds = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 2000
}
