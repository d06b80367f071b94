// Token buckets, one per kind and per user or address. Two generations bound the memory: when the younger one is
// full, the elder one, without any spending since the last swap, is dropped.

import Community
import ParleyModel
import ParleyWire
import Synchronization
package import Web

/// The rate limiter, shared by all loops.
final class RateLimiter: Sendable {
  private let current: Mutex<RateLimits>
  private let buckets = Mutex(Buckets())

  /// The capacity of a generation. A client with more addresses than this regains some tokens.
  static let maxBuckets = 32_768
  /// A network may guess the passwords of so many names, and so many networks that of one name.
  static let wideFactor = 10

  init(_ limits: RateLimits) {
    current = Mutex(limits)
  }

  private var limits: RateLimits { current.withLock { $0 } }

  /// Replaces the limits. The buckets stay.
  func use(_ limits: RateLimits) { current.withLock { $0 = limits } }

  private struct Bucket: Hashable {
    let kind: RateLimitKind
    let owner: Owner
  }

  /// The owner of a bucket. A user has one bucket for all addresses.
  private enum Owner: Hashable {
    case user(ID<User>)
    /// A token with a rate of its own.
    case token(ID<Session>)
    case address(IPAddress)
    case guess(Guess)
  }

  /// Attempts with a password, code or secret that are counted together. The target may not exist.
  enum Guess: Hashable {
    /// On a device on which the user signed in before.
    case onDevice(String)
    /// From other devices of a network.
    case at(String, from: IPAddress?)
    /// The same for all names, and for one name from all networks.
    case from(IPAddress)
    case of(String)
    /// Codes after the right password, from all networks together: there are only a million.
    case code(ID<User>)
    /// Codes in proofs, from all sessions of the user together. Apart from `code`: neither locks the other.
    case proofCode(ID<User>)
    /// The user's own password, given in one session.
    case inSession(ID<Session>)
    /// The same, given with any token of the user.
    case byTokens(of: ID<User>)
    /// Unknown secrets of webhooks, from one network.
    case webhook(from: IPAddress?)

    /// A guess of a name's password, in the order in which it is counted: a network that has used up the guesses of one name takes
    /// none of the others, so that it alone locks out neither the name nor its neighbors.
    static func at(_ name: String, by client: IPAddress?) -> [Guess] {
      let (name, network) = (UserName.key(name), client?.network)
      return [.at(name, from: network)] + (network.map { [.from($0)] } ?? []) + [.of(name)]
    }

    static func webhook(by client: IPAddress?) -> Guess { .webhook(from: client?.network) }

    /// More than the usual guesses: these are of many names or of many networks.
    fileprivate var factor: Int {
      switch self {
      case .from, .of: RateLimiter.wideFactor
      case .onDevice, .at, .code, .proofCode, .inSession, .byTokens, .webhook: 1
      }
    }
  }

  private struct Buckets {
    var younger: [Bucket: TokenBucket] = [:]
    var elder: [Bucket: TokenBucket] = [:]

    subscript(_ bucket: Bucket) -> TokenBucket? {
      get { younger[bucket] ?? elder[bucket] }
      set {
        if younger.count >= RateLimiter.maxBuckets, younger[bucket] == nil {
          elder = younger
          younger = [:]
        }
        younger[bucket] = newValue
      }
    }

    /// Spends a token and returns nil, or returns the wait for the next token.
    mutating func spend(_ bucket: Bucket, _ allowance: Allowance, now: Int64) -> Int64? {
      var tokens = self[bucket] ?? TokenBucket()
      defer { self[bucket] = tokens }
      return tokens.spend(allowance, now: now)
    }
  }

  var bucketCount: Int { buckets.withLock { $0.younger.count + $0.elder.count } }

  /// Spends a token or throws 429. `now` is the monotonic clock in milliseconds.
  func count(_ kind: RateLimitKind, by caller: Caller, at address: IPAddress?, now: Int64) throws(Problem) {
    try spend(meters(of: kind, caller, address, limits), now)
  }

  /// Spends a token of each meter, or of none.
  private func spend(_ meters: [Meter], _ now: Int64) throws(Problem) {
    for (index, meter) in meters.enumerated() {
      guard let wait = buckets.withLock({ $0.spend(meter.bucket, meter.allowance, now: now * 1_000) }) else {
        continue
      }
      for spent in meters[..<index] { refund(spent, now) }
      throw .rateLimited(meter.allowance.burst, seconds: Self.seconds(wait))
    }
  }

  /// Gives back the token of `count`, for a request that turned out to burden only the caller.
  func refund(_ kind: RateLimitKind, by caller: Caller, at address: IPAddress?, now: Int64) {
    for meter in meters(of: kind, caller, address, limits) { refund(meter, now) }
  }

  private func refund(_ meter: Meter, _ now: Int64) {
    buckets.withLock { $0[meter.bucket]?.refund(meter.allowance, now: now * 1_000) }
  }

  /// The state of a limit, for the fields of a response.
  struct Quota: Hashable {
    /// The size of the burst.
    let limit: Int
    let remaining: Int
    /// Seconds until the next token; 0 for a full bucket.
    let reset: Int
  }

  /// The state of the caller's emptiest bucket; nil without a limit.
  func quota(_ kind: RateLimitKind, of caller: Caller, at address: IPAddress?, now: Int64) -> Quota? {
    let quotas = meters(of: kind, caller, address, limits).map { meter in
      let bucket = buckets.withLock { $0[meter.bucket] } ?? TokenBucket()
      let level = bucket.level(meter.allowance, now: now * 1_000)
      return Quota(limit: meter.allowance.burst, remaining: level.remaining, reset: Self.seconds(level.wait))
    }
    return quotas.min { $0.remaining < $1.remaining }
  }

  /// A bucket that an operation of a caller counts against.
  private struct Meter {
    let bucket: Bucket
    let allowance: Allowance
  }

  /// The rate of a token limits it besides its user. That of a bot's token, which staff have set, replaces the limit.
  private func meters(
    of kind: RateLimitKind, _ caller: Caller, _ address: IPAddress?, _ limits: RateLimits
  ) -> [Meter] {
    let own = owner(of: kind, caller, address).map {
      Meter(bucket: Bucket(kind: kind, owner: $0), allowance: limits[kind])
    }
    guard kind == .sending || kind == .writing, let rate = caller.limits.rate, let token = caller.session else {
      return own.map { [$0] } ?? []
    }
    let limited = Meter(
      bucket: Bucket(kind: kind, owner: .token(token)), allowance: Allowance(burst: rate, perMinute: rate))
    return caller.role == .bot ? [limited] : [limited] + (own.map { [$0] } ?? [])
  }

  /// Rounds microseconds up.
  private static func seconds(_ wait: Int64) -> Int { Int((wait + 999_999) / 1_000_000) }

  /// Spends a token of each guess for a password attempt, or of none. A correct password is refunded with `refund`.
  func count(_ guesses: [Guess], now: Int64) throws(Problem) { try spend(meters(of: guesses), now) }

  func refund(_ guesses: [Guess], now: Int64) {
    for meter in meters(of: guesses) { refund(meter, now) }
  }

  private func meters(of guesses: [Guess]) -> [Meter] {
    let allowance = limits[.guessing]
    return guesses.map { guess in
      Meter(
        bucket: Bucket(kind: .guessing, owner: .guess(guess)),
        allowance: Allowance(burst: allowance.burst * guess.factor, perDay: allowance.perDay * guess.factor))
    }
  }

  /// The bucket's owner; nil without a limit. Unix sockets, which only the operator sets up, are not limited.
  private func owner(of kind: RateLimitKind, _ caller: Caller, _ address: IPAddress?) -> Owner? {
    switch kind {
    // Counted by address even for users: an attacker can create any number of users.
    case .login, .registration, .oauth, .registeringApps: address.map { .address($0.subscriber) }
    // Visitors of one network are counted together: an address is easily changed.
    case .reporting: address.map { .address($0.network) }
    // Counted by the name in the body: see `Guess`.
    case .guessing: nil
    case .sending, .delivering, .discovery, .previewing, .searching, .digesting, .signalling, .exporting,
      .writing:
      caller.user.map { .user($0) } ?? address.map { .address($0.subscriber) }
    }
  }
}

extension RateLimiter.Quota {
  /// `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (draft-ietf-httpapi-ratelimit-headers-07).
  func add(to fields: inout Fields) {
    guard !fields.has("ratelimit-limit") else { return }
    fields.add("RateLimit-Limit", String(limit))
    fields.add("RateLimit-Remaining", String(remaining))
    fields.add("RateLimit-Reset", String(reset))
  }
}

extension Context {
  /// The hash of the network that the client is counted by.
  package var networkHash: Int { client?.subscriber.hashValue ?? 0 }
}

extension IPAddress {
  /// The address to count by. An IPv6 subscriber has a whole /64 (RFC 6177).
  fileprivate var subscriber: IPAddress { ipv4 == nil ? IPAddress(high: high, low: 0) : self }

  /// The same as text, such as `192.0.2.0/24`.
  var networkText: String { "\(network)/\(ipv4 == nil ? 48 : 24)" }
}
