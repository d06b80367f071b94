// Fetches user-supplied URLs without server-side request forgery. The order is the defence: the URL is parsed in one way, its
// name is resolved once, every resolved address is checked, and the client connects to a checked address. There is no second
// lookup, so DNS rebinding has no effect. Every redirect starts again with the first step.

public import ParleyNetworking
public import ParleyWire
import Synchronization

/// An HTTP client for untrusted URLs, with limits. Shared by all event loops.
public final class UntrustedClient: Sendable {
  public typealias Resolve =
    @Sendable (_ host: String, _ port: UInt16, _ milliseconds: Int) async throws(UntrustedFault) ->
    [SocketAddress]

  private let policy: UntrustedPolicy
  private let limits: UntrustedLimits
  private let names: NameResolver
  private let resolve: Resolve?
  private let http: HTTPClient
  private let activeCount = Atomic<Int>(0)

  /// - Parameter resolve: replaces the system's name lookup in tests.
  public init(
    _ policy: UntrustedPolicy = .strict, limits: UntrustedLimits = UntrustedLimits(),
    trust: TLSConfiguration.Trust = .system, resolve: Resolve? = nil
  ) throws(SystemError) {
    self.policy = policy
    self.limits = limits
    names = NameResolver(maxConcurrent: limits.maxLookups)
    self.resolve = resolve
    var configuration = ClientConfiguration()
    configuration.maxIdleConnections = limits.maxIdleConnections
    http = try HTTPClient(trust: trust, configuration: configuration)
  }

  public func close() { http.close() }

  /// The normalized URL of a link; nil if the policy refuses it.
  public func address(of link: String, requiresTLS: Bool = false) -> WebAddress? {
    policy.address(of: link, requiresTLS: requiresTLS)
  }

  /// Sends a POST over TLS. Follows no redirect, and reads at most `maxBytes` of the response.
  ///
  /// - Parameter isRepeatable: whether the client may send the request twice, because the server recognizes a repetition.
  public func post(
    _ body: [UInt8], _ fields: Fields, to link: String, maxBytes: Int, isRepeatable: Bool = true
  ) async throws(UntrustedFault) -> UntrustedReply {
    try await send(.post, .bytes(body), fields, to: link, maxBytes: maxBytes, isRepeatable: isRepeatable)
  }

  /// The same with another method.
  public func send(
    _ method: ParleyWire.Method, _ body: ClientRequestBody, _ fields: Fields, to link: String, maxBytes: Int,
    isRepeatable: Bool
  ) async throws(UntrustedFault) -> UntrustedReply {
    guard activeCount.add(1, ordering: .relaxed).newValue <= limits.maxFetches else {
      activeCount.subtract(1, ordering: .relaxed)
      throw .busy
    }
    defer { activeCount.subtract(1, ordering: .relaxed) }
    let end = ContinuousClock.now + .milliseconds(limits.timeout)
    let target = try policy.target(link, requiresTLS: true)
    var request = ClientRequest(method, target.address.target, fields, body: body)
    request.isRepeatable = isRepeatable
    let answer = try await send(request, to: target, end)
    var text: [UInt8] = []
    var isComplete = false
    // Reading the end keeps the connection. The status is the answer, also if the rest fails.
    do throws(ClientError) {
      while text.count <= maxBytes {
        guard let piece = try await answer.next() else {
          isComplete = true
          break
        }
        text += piece
      }
    } catch {}
    return UntrustedReply(
      status: answer.status.code, fields: answer.fields, body: Array(text.prefix(maxBytes)),
      isComplete: isComplete && text.count <= maxBytes)
  }

  public func fetch(_ link: String, _ accepted: AcceptedContent) async throws(UntrustedFault) -> UntrustedResponse {
    guard activeCount.add(1, ordering: .relaxed).newValue <= limits.maxFetches else {
      activeCount.subtract(1, ordering: .relaxed)
      throw .busy
    }
    defer { activeCount.subtract(1, ordering: .relaxed) }
    let end = ContinuousClock.now + .milliseconds(limits.timeout)
    var target = try policy.target(link)
    for _ in 0...limits.maxRedirects {
      switch try await exchange(target, accepted, end) {
      case .body(let type, let body): return UntrustedResponse(address: target.address, type: type, body: body)
      case .redirect(let reference): target = try policy.target(target.address.resolve(reference))
      }
    }
    throw .tooManyRedirects
  }

  private enum Outcome {
    case body(MediaType, [UInt8])
    case redirect(String)
  }

  /// Sends one request to the first reachable address of the checked ones.
  private func send(
    _ request: ClientRequest, to target: UntrustedTarget, _ end: ContinuousClock.Instant
  ) async throws(UntrustedFault) -> ClientResponse {
    let addresses = try await addresses(of: target, end).prefix(Self.maxAddresses)
    guard !addresses.isEmpty else { throw .unknownHost }
    guard let destination = Destination(target.address, at: Array(addresses)) else { throw .refused }
    var request = request
    request.timeout = end - .now
    do throws(ClientError) { return try await http.send(request, to: destination) } catch {
      throw UntrustedFault(error)
    }
  }

  private func exchange(
    _ target: UntrustedTarget, _ accepted: AcceptedContent, _ end: ContinuousClock.Instant
  ) async throws(UntrustedFault) -> Outcome {
    // No compression, so that the limits count the bytes on the wire. The fields identify neither the site nor the user.
    let fields: Fields = [
      "User-Agent": "Mozilla/5.0 (compatible; Parley; link preview)", "Accept": accepted.accept,
      "Accept-Encoding": "identity",
    ]
    let answer = try await send(ClientRequest(target.address.target, fields), to: target, end)
    if [301, 302, 303, 307, 308].contains(answer.status.code), let location = answer.fields["location"] {
      return .redirect(location)
    }
    return try await read(answer, accepted)
  }

  /// Reads the accepted part of the body. Releasing the response closes the connection.
  private func read(_ answer: ClientResponse, _ accepted: AcceptedContent) async throws(UntrustedFault) -> Outcome {
    guard answer.status.code == 200 else { throw .status(answer.status.code) }
    guard let type = answer.fields["content-type"].flatMap({ MediaType($0) }), let kind = accepted.kind(of: type),
      ["", "identity"].contains(answer.fields["content-encoding"]?.lowercased() ?? "")
    else { throw .wrongType }
    let announced = answer.fields["content-length"].flatMap { Int($0) } ?? 0
    guard announced <= kind.maxBytes || kind.mayTruncate else { throw .tooLarge }
    var body: [UInt8] = []
    while body.count < kind.maxBytes || !kind.mayTruncate {
      let piece: [UInt8]?
      do throws(ClientError) { piece = try await answer.next() } catch { throw UntrustedFault(error) }
      guard let piece else { break }
      body += piece
      guard body.count <= kind.maxBytes || kind.mayTruncate else { throw .tooLarge }
    }
    return .body(type, Array(body.prefix(kind.maxBytes)))
  }

  /// Addresses of one name that are tried.
  private static let maxAddresses = 4

  /// Resolves the name and checks every address. One internal address refuses the whole name.
  private func addresses(
    of target: UntrustedTarget, _ end: ContinuousClock.Instant
  ) async throws(UntrustedFault) -> [SocketAddress] {
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
  ) async throws(UntrustedFault) -> [SocketAddress] {
    if let resolve { return try await resolve(name, port, milliseconds) }
    // The root dot prevents the search domains of this machine from being tried.
    do throws(NameResolver.Failure) {
      return try await names.addresses(of: name + ".", port: port, within: Int64(milliseconds) * 1_000_000)
    } catch { throw UntrustedFault(error) }
  }

  private static func left(until end: ContinuousClock.Instant) throws(UntrustedFault) -> Int {
    let left = (end - .now) / .milliseconds(1)
    guard left >= 1 else { throw .timedOut }
    return Int(left)
  }
}

extension UntrustedFault {
  fileprivate init(_ failure: NameResolver.Failure) {
    switch failure {
    case .unknownHost: self = .unknownHost
    case .timedOut: self = .timedOut
    case .busy: self = .busy
    }
  }

  fileprivate init(_ failure: ClientError) {
    switch failure {
    case .timedOut: self = .timedOut
    case .tooLarge: self = .tooLarge
    case .unknownHost, .unreachable, .untrusted, .interrupted, .malformed, .invalidRequest, .cancelled:
      self = .unreachable
    }
  }
}

extension IPAddress {
  fileprivate init?(_ address: SocketAddress) {
    switch address {
    case .ipv4(let number, _): self.init(ipv4: number)
    // An address with a scope is link-local.
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

/// The response of `UntrustedClient.fetch`.
public struct UntrustedResponse: Sendable {
  /// The final URL after redirects.
  public let address: WebAddress
  public let type: MediaType
  /// At most as many bytes as `AcceptedContent` allows for the type.
  public let body: [UInt8]
}

/// The response to `UntrustedClient.post`.
public struct UntrustedReply: Sendable {
  public let status: Int
  public let fields: Fields
  /// At most `maxBytes`.
  public let body: [UInt8]
  /// Whether `body` is all that the server has sent.
  public let isComplete: Bool

  /// The time in seconds that the server asks to wait. `now` is in seconds since 1970.
  public func retryAfter(at now: Int) -> Int? { fields.retryAfter(at: now) }
}

/// Limits of one fetch, and of all fetches together.
public struct UntrustedLimits: Sendable {
  /// From the first name lookup to the last byte, including redirects; in milliseconds.
  public var timeout = 8_000
  public var maxRedirects = 5
  /// Concurrent fetches and concurrent name lookups. A lookup occupies a thread.
  public var maxFetches = 32
  public var maxLookups = 16
  /// Idle connections per server. Most linked servers receive one request only.
  public var maxIdleConnections = 0

  public init() {}
}

/// The reason for a failed fetch.
public enum UntrustedFault: Error, Sendable, Hashable {
  /// Not an http(s) URL, or it resolves to an internal address. Both cases are one, so that the caller can't map the
  /// internal network.
  case refused
  /// The name has no address.
  case unknownHost
  /// No connection, no HTTP, or no trusted certificate.
  case unreachable
  case timedOut
  case tooManyRedirects
  /// The response has a status other than 200.
  case status(Int)
  /// The media type is not in `AcceptedContent`.
  case wrongType
  case tooLarge
  /// `UntrustedLimits.maxFetches` is reached.
  case busy
}
