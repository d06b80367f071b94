public import ParleyWire

/// Determines the client address and the public origin (RFC 7239 and the older X-Forwarded fields). Forwarding fields
/// count only on connections from a configured proxy, and only the fields which that proxy writes: it may pass on the
/// others as the client sent them.
public struct Addresses: Sendable {
  /// The public origins of the site, the main one first. If empty, the origin is derived from the request.
  public let publicOrigins: [WebAddress]
  /// Earlier public origins. Requests to them are redirected to the main one.
  public let formerOrigins: [WebAddress]
  /// Addresses of the trusted proxies.
  public let trusted: [AddressBlock]
  /// Trusts connections over a Unix socket: only local processes chosen by the operator can reach it.
  public let trustsUnixSocket: Bool
  /// The forwarding fields that the proxies write.
  public let proxyFields: ProxyFields

  public enum ProxyFields: String, Sendable, CaseIterable {
    /// `X-Forwarded-For`, `-Proto` and `-Host`: the default of nginx, Caddy, HAProxy and Traefik.
    case xForwarded = "x-forwarded"
    /// `Forwarded`, RFC 7239.
    case forwarded
  }

  public init(
    publicOrigins: [WebAddress] = [], formerOrigins: [WebAddress] = [], trusted: [AddressBlock] = [],
    trustsUnixSocket: Bool = true,
    proxyFields: ProxyFields = .xForwarded
  ) {
    self.publicOrigins = publicOrigins
    self.formerOrigins = formerOrigins
    self.trusted = trusted
    self.trustsUnixSocket = trustsUnixSocket
    self.proxyFields = proxyFields
  }

  public func trusts(_ peer: IPAddress?) -> Bool {
    guard let peer else { return trustsUnixSocket }
    return trusted.contains { $0.contains(peer) }
  }

  /// The last address in the forwarding list that is not a trusted proxy. Addresses before it can be forged and are not
  /// parsed.
  public func client(peer: IPAddress?, _ fields: Fields) -> IPAddress? {
    guard trusts(peer) else { return peer }
    var nearest = peer
    for member in members(fields).suffix(Forwarded.maxHops).reversed() {
      guard let address = hop(member)?.client.flatMap({ IPAddress($0) }) else { return nearest }
      nearest = address
      guard trusts(address) else { return address }
    }
    return nearest
  }

  /// - Parameter head: nil for a request without a valid head.
  public func origin(peer: IPAddress?, isEncrypted: Bool, _ head: RequestHead?) -> String {
    if let main = publicOrigins.first?.origin { return main }
    guard let head else { return Self.localOrigin(isEncrypted ? "https" : "http") }
    return requestOrigin(peer: peer, isEncrypted: isEncrypted, head)
  }

  /// The address at the main origin for a request to an earlier one; nil for other requests. The scheme of the request
  /// does not matter.
  func newAddress(peer: IPAddress?, isEncrypted: Bool, _ head: RequestHead) -> String? {
    guard !formerOrigins.isEmpty, let main = publicOrigins.first,
      let host = WebAddress(requestOrigin(peer: peer, isEncrypted: isEncrypted, head)),
      formerOrigins.contains(where: { $0.authority == host.authority })
    else { return nil }
    return main.origin + head.target.path + (head.target.query.map { "?\($0)" } ?? "")
  }

  private static func localOrigin(_ scheme: String) -> String { "\(scheme)://localhost" }

  func isOwn(_ text: String, peer: IPAddress?, isEncrypted: Bool, _ head: RequestHead) -> Bool {
    guard let origin = WebAddress(origin: text)?.origin else { return false }
    guard publicOrigins.isEmpty else { return publicOrigins.contains { $0.origin == origin } }
    return origin == requestOrigin(peer: peer, isEncrypted: isEncrypted, head)
  }

  /// Whether the client uses TLS, according to the nearest trusted proxy, otherwise to the connection.
  func isFromTLS(peer: IPAddress?, isEncrypted: Bool, _ fields: Fields) -> Bool {
    guard trusts(peer), let scheme = nearestHop(fields)?.scheme else { return isEncrypted }
    return WebAddress.Scheme(rawValue: scheme)?.isSecure == true
  }

  /// Whether a proxy has left its mark, trusted or not.
  static func isForwarded(_ fields: Fields) -> Bool {
    fields.has("x-forwarded-for") || fields.has("x-forwarded-proto") || fields.has("x-forwarded-host")
      || fields.has("x-real-ip") || fields.has("forwarded") || fields.has("via")
  }

  /// The origin according to the nearest trusted proxy, otherwise according to the request.
  private func requestOrigin(peer: IPAddress?, isEncrypted: Bool, _ head: RequestHead) -> String {
    var scheme = isEncrypted ? "https" : "http"
    // RFC 9112 §3.2.2: an absolute target rules over Host.
    var host = head.target.authority ?? head.fields["host"]
    if trusts(peer), let hop = nearestHop(head.fields) {
      if let forwarded = hop.scheme { scheme = forwarded }
      if let forwarded = hop.host { host = forwarded }
    }
    return host.flatMap { WebAddress("\(scheme)://\($0)")?.origin } ?? Self.localOrigin(scheme)
  }

  // MARK: Forwarding fields

  /// The peer of each proxy; the entry of our own proxy is last.
  private func members(_ fields: Fields) -> [String] {
    switch proxyFields {
    case .xForwarded: unquotedMembers(fields, "x-forwarded-for")
    case .forwarded: fields.list("forwarded")
    }
  }

  /// Ignores quotes: an open quote sent by a client must not swallow the member that the proxy appends.
  private func unquotedMembers(_ fields: Fields, _ name: StaticString) -> [String] {
    fields.all(name).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// Parses one member alone, so that a malformed earlier member does not hide it.
  private func hop(_ member: String) -> Forwarded.Hop? {
    switch proxyFields {
    case .xForwarded: Forwarded(["X-Forwarded-For": member])?.hops.last
    case .forwarded: Forwarded(["Forwarded": member])?.hops.last
    }
  }

  /// The member written by our own proxy.
  private func nearestHop(_ fields: Fields) -> Forwarded.Hop? {
    switch proxyFields {
    case .forwarded: return fields.list("forwarded").last.flatMap { hop($0) }
    case .xForwarded:
      var nearest = Fields()
      if let scheme = unquotedMembers(fields, "x-forwarded-proto").last { nearest.add("X-Forwarded-Proto", scheme) }
      if let host = unquotedMembers(fields, "x-forwarded-host").last { nearest.add("X-Forwarded-Host", host) }
      return Forwarded(nearest)?.hops.last
    }
  }
}
