// Fetches what an address leads to, for people who may have given a hostile one. The order is the defence: the text is read
// in one way, its name is looked up once, every address of the name is checked, and the connection goes to one that was
// checked. Nothing is looked up a second time, so a name that changes its mind changes nothing. Each redirect begins anew.

public import Networking
import Synchronization
public import Wire

/// Asks others over HTTP, within limits. Shared by all loops; it has a loop of its own.
public final class OutgoingClient: Sendable {
  public typealias Resolve =
    @Sendable (_ host: String, _ port: UInt16, _ milliseconds: Int) async throws(OutgoingFault) ->
    [SocketAddress]

  private let policy: OutgoingPolicy
  private let limits: OutgoingLimits
  private let trust: TLSConfiguration.Trust
  private let names: NameLookup
  private let resolve: Resolve?
  private let loop: EventLoop
  private let underWay = Atomic<Int>(0)

  /// `resolve` is for tests, which have names of their own.
  public init(
    _ policy: OutgoingPolicy = .strict, limits: OutgoingLimits = OutgoingLimits(),
    trust: TLSConfiguration.Trust = .system, resolve: Resolve? = nil
  ) throws(SystemError) {
    self.policy = policy
    self.limits = limits
    self.trust = trust
    names = NameLookup(most: limits.lookups)
    self.resolve = resolve
    loop = try EventLoop(label: "parley.outgoing")
  }

  public func start() async { await loop.start() }
  public func stop() async { await loop.stop() }

  /// What a link means, in one spelling; nil where it is not asked in any case.
  public func address(of link: String) -> WebAddress? {
    do throws(OutgoingFault) { return try policy.target(link).address } catch { return nil }
  }

  public func fetch(_ link: String, _ wish: OutgoingWish) async throws(OutgoingFault) -> OutgoingAnswer {
    guard underWay.add(1, ordering: .relaxed).newValue <= limits.fetches else {
      underWay.subtract(1, ordering: .relaxed)
      throw .busy
    }
    defer { underWay.subtract(1, ordering: .relaxed) }
    let end = ContinuousClock.now + .milliseconds(limits.time)
    var target = try policy.target(link)
    for _ in 0...limits.redirects {
      switch try await exchange(target, wish, end) {
      case .body(let type, let body): return OutgoingAnswer(address: target.address, type: type, body: body)
      case .redirect(let reference): target = try policy.target(target.address.text(of: reference))
      }
    }
    throw .tooManyRedirects
  }

  /// To the first address that can be reached of those that a name has.
  private func exchange(
    _ target: OutgoingTarget, _ wish: OutgoingWish, _ end: ContinuousClock.Instant
  ) async throws(OutgoingFault) -> OutgoingExchange.Outcome {
    var fault = OutgoingFault.unknownHost
    for address in try await addresses(of: target, end).prefix(Self.mostAddresses) {
      do throws(OutgoingFault) {
        return try await exchange(target, at: address, wish, try Self.left(until: end))
      } catch .unreachable {
        fault = .unreachable
      }
    }
    throw fault
  }

  /// Of one name that are tried.
  private static let mostAddresses = 4

  /// All of them checked. A name that leads inside with one of its addresses is refused with all.
  private func addresses(
    of target: OutgoingTarget, _ end: ContinuousClock.Instant
  ) async throws(OutgoingFault) -> [SocketAddress] {
    let port = UInt16(truncatingIfNeeded: target.address.port)
    switch target.meaning {
    case .address(let ip):
      return [ip.socket(port: port)]
    case .name(let name):
      var found: [SocketAddress] = []
      for address in try await lookUp(name, port, try Self.left(until: end)) {
        guard let ip = IPAddress(address), policy.allows(ip, port: Int(address.port ?? 0)) else { throw .refused }
        let checked = ip.socket(port: address.port ?? port)
        if !found.contains(checked) { found.append(checked) }
      }
      return found
    }
  }

  private func lookUp(
    _ name: String, _ port: UInt16, _ milliseconds: Int
  ) async throws(OutgoingFault) -> [SocketAddress] {
    if let resolve { return try await resolve(name, port, milliseconds) }
    // With the dot of the root, so that no search domain of this machine is tried behind it.
    return try await names.addresses(of: name + ".", port: port, within: milliseconds)
  }

  private func exchange(
    _ target: OutgoingTarget, at address: SocketAddress, _ wish: OutgoingWish, _ milliseconds: Int
  ) async throws(OutgoingFault) -> OutgoingExchange.Outcome {
    let isSecure = target.address.scheme.isSecure
    let name = target.name
    let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<OutgoingExchange.Answer, Never>) in
      let result = Once(continuation, orElse: .failure(.unreachable))
      loop.run { [trust] loop in
        let secrets = loop.resident(ClientTLS.self) { ClientTLS(trust) }
        guard !isSecure || secrets.context != nil else { return result.give(.failure(.unreachable)) }
        OutgoingExchange(target.address, wish, result).begin(
          to: address, tls: isSecure ? secrets.context : nil, name: name, within: milliseconds, on: loop)
      }
    }
    return try outcome.get()
  }

  private static func left(until end: ContinuousClock.Instant) throws(OutgoingFault) -> Int {
    let left = (end - .now) / .milliseconds(1)
    guard left >= 1 else { throw .tooSlow }
    return Int(left)
  }
}

/// What the loop knows of TLS.
private final class ClientTLS {
  let context: TLSContext?

  init(_ trust: TLSConfiguration.Trust) {
    do {
      context = try TLSContext(TLSConfiguration(role: .client(trust)))
    } catch {
      // Without roots nothing is asked by TLS.
      context = nil
    }
  }
}

extension OutgoingTarget {
  /// Whom a certificate has to be of.
  fileprivate var name: String {
    switch meaning {
    case .address(let ip): ip.description
    case .name(let name): name
    }
  }
}

extension IPAddress {
  fileprivate init?(_ address: SocketAddress) {
    switch address {
    case .ipv4(let number, _): self.init(ipv4: number)
    // One that needs an interface is of this link alone.
    case .ipv6(let high, let low, _, let scope):
      guard scope == 0 else { return nil }
      self.init(high: high, low: low)
    case .unix: return nil
    }
  }

  fileprivate func socket(port: UInt16) -> SocketAddress {
    if let ipv4 { return .ipv4(ipv4, port: port) }
    return .ipv6(high: high, low: low, port: port, scope: 0)
  }
}
