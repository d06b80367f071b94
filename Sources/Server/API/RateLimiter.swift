// Token buckets, one per kind of work and per user or address. A bucket is stored as one number, the time at which it
// is full again (GCRA, ITU-T I.371). Full buckets are not stored. Two generations bound the memory: when the younger
// one is full, the elder one, without any spending since the last swap, is dropped.

import Community
import ParleyModel
import ParleyWire
import Synchronization
import Web

/// The rate limiter, shared by all loops.
final class RateLimiter: Sendable {
  private let limits: RateLimits
  private let buckets = Mutex(Buckets())

  /// The capacity of a generation. A client with more addresses than this regains some tokens.
  static let maxBuckets = 32_768

  init(_ limits: RateLimits) {
    self.limits = limits
  }

  private struct Bucket: Hashable {
    let work: Work
    let owner: Owner
  }

  /// The owner of a bucket. A user has one bucket for all addresses.
  private enum Owner: Hashable {
    case user(ID<User>)
    case address(IPAddress)
    /// The target of a sign-in attempt, whether the user exists or not.
    case name(String)
  }

  private struct Buckets {
    /// The time at which each bucket is full again, in microseconds.
    var younger: [Bucket: Int64] = [:]
    var elder: [Bucket: Int64] = [:]

    subscript(_ bucket: Bucket) -> Int64? {
      get { younger[bucket] ?? elder[bucket] }
      set {
        if younger.count >= RateLimiter.maxBuckets, younger[bucket] == nil {
          elder = younger
          younger = [:]
        }
        younger[bucket] = newValue
      }
    }
  }

  var bucketCount: Int { buckets.withLock { $0.younger.count + $0.elder.count } }

  /// Spends a token or throws 429. `now` is in milliseconds.
  func count(_ work: Work, by caller: Caller, at address: IPAddress?, now: Int64) throws(Problem) {
    guard let owner = owner(of: work, caller, address) else { return }
    try spend(work, of: owner, now)
  }

  /// Spends a token for a password attempt on a name. A correct password is refunded with `refundGuess`.
  func countGuess(at name: String, now: Int64) throws(Problem) {
    try spend(.guessing, of: .name(UserName.key(name)), now)
  }

  func refundGuess(at name: String, now: Int64) {
    let each = Self.microseconds(limits[.guessing])
    let bucket = Bucket(work: .guessing, owner: .name(UserName.key(name)))
    buckets.withLock { buckets in
      if let kept = buckets[bucket] { buckets[bucket] = max(kept - each, now * 1_000) }
    }
  }

  private func spend(_ work: Work, of owner: Owner, _ now: Int64) throws(Problem) {
    let allowance = limits[work]
    guard let wait = spend(Bucket(work: work, owner: owner), allowance, now * 1_000) else { return }
    throw .rateLimited(allowance.burst, seconds: Int((wait + 999_999) / 1_000_000))
  }

  /// The bucket's owner; nil for unlimited work. Unix sockets, which only the operator sets up, are not limited.
  private func owner(of work: Work, _ caller: Caller, _ address: IPAddress?) -> Owner? {
    switch work {
    // Counted by address even for users: an attacker can create any number of users.
    case .login, .registration: address.map { .address($0.subscriber) }
    // Counted by the name in the body: see `countGuess`.
    case .guessing: nil
    case .sending, .discovery, .previewing, .signalling, .writing:
      caller.user.map { .user($0) } ?? address.map { .address($0.subscriber) }
    }
  }

  /// The refill time of one token.
  private static func microseconds(_ allowance: Allowance) -> Int64 { 86_400_000_000 / Int64(allowance.perDay) }

  /// Spends a token and returns nil, or returns the wait for the next token. In microseconds.
  private func spend(_ bucket: Bucket, _ allowance: Allowance, _ now: Int64) -> Int64? {
    let each = Self.microseconds(allowance)
    let whole = each * Int64(allowance.burst)
    return buckets.withLock { buckets in
      // Bounds the wait to that of an empty bucket if the clock was set back.
      let kept = min(max(buckets[bucket] ?? now, now), now + whole)
      let wait = kept + each - now - whole
      buckets[bucket] = wait > 0 ? kept : kept + each
      return wait > 0 ? wait : nil
    }
  }
}

extension IPAddress {
  /// The address to count by. An IPv6 subscriber has a whole /64 (RFC 6177).
  fileprivate var subscriber: IPAddress { ipv4 == nil ? IPAddress(high: high, low: 0) : self }
}
