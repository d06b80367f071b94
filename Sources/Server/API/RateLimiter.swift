// Token buckets, one for each kind of work and each user or address. Of a bucket only one number is kept: the moment at
// which it will be full again (GCRA, ITU-T I.371). A full bucket need not be kept at all, so memory is bounded by two
// generations: when the younger has its fill, the elder, in which nothing was spent since the last time, is forgotten.

import Community
import ParleyModel
import ParleyWire
import Synchronization
import Web

/// Shared by all loops.
final class RateLimiter: Sendable {
  private let limits: RateLimits
  private let buckets = Mutex(Buckets())

  /// Buckets of a generation. Who spends from more addresses than this at once gets some of it back.
  static let maxBuckets = 32_768

  init(_ limits: RateLimits) {
    self.limits = limits
  }

  private struct Bucket: Hashable {
    let work: Work
    let owner: Owner
  }

  /// Who is counted. A user is that user wherever they are.
  private enum Owner: Hashable {
    case user(ID<User>)
    case address(IPAddress)
    /// Whose password is guessed, whether there is such a user or not.
    case name(String)
  }

  private struct Buckets {
    /// When each is full again, in microseconds.
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

  /// Refuses what is too much. `now` is in milliseconds.
  func count(_ work: Work, by caller: Caller, at address: IPAddress?, now: Int64) throws(Problem) {
    guard let owner = owner(of: work, caller, address) else { return }
    try spend(work, of: owner, now)
  }

  /// The same for one more password that is tried for a name. One that was right costs nothing: it is given back.
  func countGuess(at name: String, now: Int64) throws(Problem) {
    try spend(.guessing, of: .name(UserName.key(name)), now)
  }

  func giveBackGuess(at name: String, now: Int64) {
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

  /// Nil: what is not counted. Behind a socket in the file system is only what the host put there.
  private func owner(of work: Work, _ caller: Caller, _ address: IPAddress?) -> Owner? {
    switch work {
    // Who guesses at passwords, or makes users up, has as many users as they like.
    case .login, .registration: address.map { .address($0.subscriber) }
    // Counted by the name, which stands in the body.
    case .guessing: nil
    case .sending, .discovery, .previewing, .signalling, .writing:
      caller.user.map { .user($0) } ?? address.map { .address($0.subscriber) }
    }
  }

  /// For one.
  private static func microseconds(_ allowance: Allowance) -> Int64 { 86_400_000_000 / Int64(allowance.perDay) }

  /// Takes one; nil if there was one, else how long until there is. In microseconds.
  private func spend(_ bucket: Bucket, _ allowance: Allowance, _ now: Int64) -> Int64? {
    let each = Self.microseconds(allowance)
    let whole = each * Int64(allowance.burst)
    return buckets.withLock { buckets in
      // A clock that was set back makes no one wait longer than an empty bucket does.
      let kept = min(max(buckets[bucket] ?? now, now), now + whole)
      let wait = kept + each - now - whole
      buckets[bucket] = wait > 0 ? kept : kept + each
      return wait > 0 ? wait : nil
    }
  }
}

extension IPAddress {
  /// An IPv6 subscriber has a whole /64 (RFC 6177).
  fileprivate var subscriber: IPAddress { ipv4 == nil ? IPAddress(high: high, low: 0) : self }
}
