import Glibc

/// Texts of some 75 bytes in which words are as common as in a language: the nth word comes about 1/n as often as the first.
/// The same seed says the same.
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
    var rest = rank
    var word = ""
    while rest > 0 {
      word += syllables[rest & 15]
      rest >>= 4
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

  /// From 0 until `end`.
  mutating func number(below end: Int) -> Int { Int(next() % UInt64(max(1, end))) }

  /// What a sender calls its message.
  mutating func clientID() -> String { String(next(), radix: 16) }

  mutating func text() -> String {
    var text = ""
    while text.utf8.count < 70 {
      if !text.isEmpty { text += " " }
      text += Self.word(rank())
    }
    return text
  }

  /// With a chance of 1/n each.
  private mutating func rank() -> Int {
    let exponent = Double(next() >> 11) / Double(1 << 53)
    return Int(exp(exponent * Self.logarithm)) - 1
  }

  private static let logarithm = log(wordCount)
}
