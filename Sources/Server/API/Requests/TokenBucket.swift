/// A token bucket as one number, the time at which it is full again (GCRA, ITU-T I.371). Times are in microseconds.
struct TokenBucket: Sendable, Hashable {
  private var fullAt: Int64 = 0

  /// Spends a token and returns nil, or returns the wait for the next token.
  mutating func spend(_ allowance: Allowance, now: Int64) -> Int64? {
    let each = Self.refillTime(allowance)
    let whole = each * Int64(allowance.burst)
    // Bounds the wait to that of an empty bucket if the clock was set back.
    fullAt = min(max(fullAt, now), now + whole)
    let wait = fullAt + each - now - whole
    guard wait <= 0 else { return wait }
    fullAt += each
    return nil
  }

  /// The tokens that are left, and the wait for the next one; 0 for a full bucket.
  func level(_ allowance: Allowance, now: Int64) -> (remaining: Int, wait: Int64) {
    let each = Self.refillTime(allowance)
    let missing = min(max(fullAt - now, 0), each * Int64(allowance.burst))
    let spent = (missing + each - 1) / each
    return (allowance.burst - Int(spent), spent == 0 ? 0 : missing - (spent - 1) * each)
  }

  /// Returns a spent token.
  mutating func refund(_ allowance: Allowance, now: Int64) { fullAt = max(fullAt - Self.refillTime(allowance), now) }

  /// The refill time of one token.
  private static func refillTime(_ allowance: Allowance) -> Int64 { 86_400_000_000 / Int64(allowance.perDay) }
}
