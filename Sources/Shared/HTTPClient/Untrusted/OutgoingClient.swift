// Fetches what an address leads to, for people who may have given a hostile one. The order is the defence: the text is read
// in one way, its name is looked up once, every address of the name is checked, and the connection goes to one that was
// checked. Nothing is looked up a second time, so a name that changes its mind changes nothing. Each redirect begins anew.

public import ParleyNetworking
public import ParleyWire
import Synchronization

/// Asks others over HTTP, within limits. Shared by all loops.
public final class OutgoingClient: Sendable {
  public typealias Resolve =
    @Sendable (_ host: String, _ port: UInt16, _ milliseconds: Int) async throws(OutgoingFault) ->
    [SocketAddress]

  private let policy: OutgoingPolicy
  private let limits: OutgoingLimits
  private let names: NameLookup
  private let resolve: Resolve?
  private let http: HTTPClient
  private let underWay = Atomic<Int>(0)

  /// `resolve` is for tests, which have names of their own.
  public init(
    _ policy: OutgoingPolicy = .strict, limits: OutgoingLimits = OutgoingLimits(),
    trust: TLSConfiguration.Trust = .system, resolve: Resolve? = nil
  ) throws(SystemError) {
    self.policy = policy
    self.limits = limits
    names = NameLookup(most: limits.lookups)
    self.resolve = resolve
    var patience = Patience()
    // A place that is linked to is asked once and no more.
    patience.restingConnections = 0
    http = try HTTPClient(trust: trust, patience: patience)
  }

  /// Ends what is under way.
  public func close() { http.close() }

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

  private enum Outcome {
    case body(MediaType, [UInt8])
    case redirect(String)
  }

  /// One request, to the first address that can be reached of those that were checked.
  private func exchange(
    _ target: OutgoingTarget, _ wish: OutgoingWish, _ end: ContinuousClock.Instant
  ) async throws(OutgoingFault) -> Outcome {
    let addresses = try await addresses(of: target, end).prefix(Self.mostAddresses)
    guard !addresses.isEmpty else { throw .unknownHost }
    guard let destination = Destination(target.address, at: Array(addresses)) else { throw .refused }
    // Without compression, so that a short answer is a short body. No word about the place, or about who asked.
    let fields: Fields = [
      "User-Agent": "Mozilla/5.0 (compatible; Parley; link preview)", "Accept": wish.accept,
      "Accept-Encoding": "identity",
    ]
    let call = Call(target.address.target, fields, time: end - .now)
    let answer: CallAnswer
    do throws(CallFailure) { answer = try await http.send(call, to: destination) } catch { throw OutgoingFault(error) }
    if [301, 302, 303, 307, 308].contains(answer.status.code), let location = answer.fields["location"] {
      return .redirect(location)
    }
    return try await read(answer, wish)
  }

  /// As much of an answer as was wished for; who lets go of the rest ends the connection.
  private func read(_ answer: CallAnswer, _ wish: OutgoingWish) async throws(OutgoingFault) -> Outcome {
    guard answer.status.code == 200 else { throw .status(answer.status.code) }
    guard let type = answer.fields["content-type"].flatMap({ MediaType($0) }), let kind = wish.kind(of: type),
      ["", "identity"].contains(answer.fields["content-encoding"]?.lowercased() ?? "")
    else { throw .wrongType }
    let announced = answer.fields["content-length"].flatMap { Int($0) } ?? 0
    guard announced <= kind.most || kind.mayBeCut else { throw .tooLarge }
    var body: [UInt8] = []
    while body.count < kind.most || !kind.mayBeCut {
      let piece: [UInt8]?
      do throws(CallFailure) { piece = try await answer.next() } catch { throw OutgoingFault(error) }
      guard let piece else { break }
      body += piece
      guard body.count <= kind.most || kind.mayBeCut else { throw .tooLarge }
    }
    return .body(type, Array(body.prefix(kind.most)))
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
    do throws(NameLookup.Failure) {
      return try await names.addresses(of: name + ".", port: port, within: Int64(milliseconds) * 1_000_000)
    } catch { throw OutgoingFault(error) }
  }

  private static func left(until end: ContinuousClock.Instant) throws(OutgoingFault) -> Int {
    let left = (end - .now) / .milliseconds(1)
    guard left >= 1 else { throw .tooSlow }
    return Int(left)
  }
}

extension OutgoingFault {
  fileprivate init(_ failure: NameLookup.Failure) {
    switch failure {
    case .unknownHost: self = .unknownHost
    case .tooSlow: self = .tooSlow
    case .busy: self = .busy
    }
  }

  fileprivate init(_ failure: CallFailure) {
    switch failure {
    case .timedOut: self = .tooSlow
    case .tooLarge: self = .tooLarge
    case .unknownHost, .unreachable, .untrusted, .interrupted, .malformed, .unsendable, .cancelled: self = .unreachable
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
