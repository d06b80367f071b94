import Glibc

/// Random texts of about 75 bytes with a natural word distribution: the nth word is 1/n as frequent as the first.
/// Deterministic by seed.
struct Phrases {
  private var state: UInt64

  init(seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9e37_79b9_7f4a_7c15 | 1 }

  private static let first = [
    "the", "and", "to", "of", "in", "it", "is", "for", "on", "with", "seeds", "garden", "rain", "when", "this", "roses",
  ]
  private static let syllables = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "wa",
  ]
  private static let wordCount = 20_000.0

  private static func word(_ rank: Int) -> String {
    if rank < first.count { return first[rank] }
    var remaining = rank
    var word = ""
    while remaining > 0 {
      word += syllables[remaining & 15]
      remaining >>= 4
    }
    return word
  }

  /// xorshift64*
  private mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_f491_4f6c_dd1d
  }

  /// A random number in `0..<end`.
  mutating func number(below end: Int) -> Int { Int(next() % UInt64(max(1, end))) }

  mutating func clientID() -> String { String(next(), radix: 16) }

  mutating func text() -> String {
    var text = ""
    while text.utf8.count < 70 {
      if !text.isEmpty { text += " " }
      text += Self.word(rank())
    }
    return text
  }

  /// A random rank with probability 1/n.
  private mutating func rank() -> Int {
    let exponent = Double(next() >> 11) / Double(1 << 53)
    return Int(exp(exponent * Self.logarithm)) - 1
  }

  private static let logarithm = log(wordCount)
}
