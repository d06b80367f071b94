import FoundationEssentials

/// SplitMix64: the same seed gives the same numbers on every machine, so that what a fuzz test found it finds again.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// How often each fuzz test tries: `PARLEY_FUZZ_ROUNDS=1000000 swift test -c release` for a long run.
enum Fuzz {
  static let rounds = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 2000
}
