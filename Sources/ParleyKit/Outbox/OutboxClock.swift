extension Outbox.Clock {
  /// 128 random bits in hex.
  @Sendable public static func randomName() -> String {
    var random = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(random.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Half a second, twice as long after each attempt up to 30 s, and up to a half more or less, so that many clients do not
  /// come back together.
  @Sendable public static func backOff(_ attempts: Int) -> Duration {
    let milliseconds = min(30_000, 500 << min(max(attempts - 1, 0), 6))
    return .milliseconds(Int.random(in: milliseconds / 2...milliseconds * 3 / 2))
  }
}
