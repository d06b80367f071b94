public import ParleyWire

/// Who the client is and under which address users know this server (RFC 7239 and its unofficial elders). What a
/// proxy says is believed only when the connection comes from one that the host named, and only in the fields that
/// this proxy writes: the others it may pass on as the client sent them.
public struct Addresses: Sendable {
  /// Where users reach the site, the main one first; empty: whatever the request says.
  public let publicOrigins: [WebAddress]
  /// The proxies whose word counts.
  public let trusted: [AddressBlock]
  /// A Unix socket is reached only by what the host put before it.
  public let trustsUnixSocket: Bool
  /// What the proxies write.
  public let proxyFields: ProxyFields

  public enum ProxyFields: String, Sendable, CaseIterable {
    /// `X-Forwarded-For`, `-Proto` and `-Host`: nginx, Caddy, HAProxy, Traefik, as they come.
    case xForwarded = "x-forwarded"
    /// `Forwarded`, RFC 7239.
    case forwarded
  }

  public init(
    publicOrigins: [WebAddress] = [], trusted: [AddressBlock] = [], trustsUnixSocket: Bool = true,
    proxyFields: ProxyFields = .xForwarded
  ) {
    self.publicOrigins = publicOrigins
    self.trusted = trusted
    self.trustsUnixSocket = trustsUnixSocket
    self.proxyFields = proxyFields
  }

  public func trusts(_ peer: IPAddress?) -> Bool {
    guard let peer else { return trustsUnixSocket }
    return trusted.contains { $0.contains(peer) }
  }

  /// The nearest address that is not a trusted proxy's, walking from our end: what stands further out was written by
  /// whoever wanted to, and is not even read.
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

  func origin(peer: IPAddress?, isEncrypted: Bool, _ head: RequestHead) -> String {
    publicOrigins.first?.origin ?? requestOrigin(peer: peer, isEncrypted: isEncrypted, head)
  }

  func isOwn(_ text: String, peer: IPAddress?, isEncrypted: Bool, _ head: RequestHead) -> Bool {
    guard let origin = WebAddress(origin: text)?.origin else { return false }
    guard publicOrigins.isEmpty else { return publicOrigins.contains { $0.origin == origin } }
    return origin == requestOrigin(peer: peer, isEncrypted: isEncrypted, head)
  }

  /// What the nearest trusted proxy says, else what the request says itself.
  private func requestOrigin(peer: IPAddress?, isEncrypted: Bool, _ head: RequestHead) -> String {
    var scheme = isEncrypted ? "https" : "http"
    // RFC 9112 §3.2.2: an absolute target rules over Host.
    var host = head.target.authority ?? head.fields["host"]
    if trusts(peer), let hop = nearestHop(head.fields) {
      if let said = hop.scheme { scheme = said }
      if let said = hop.host { host = said }
    }
    return WebAddress("\(scheme)://\(host ?? "localhost")")?.origin ?? "\(scheme)://localhost"
  }

  // MARK: What proxies wrote

  /// Who sent the request to each proxy, our own proxy's word last.
  private func members(_ fields: Fields) -> [String] {
    switch proxyFields {
    case .xForwarded: unquotedMembers(fields, "x-forwarded-for")
    case .forwarded: fields.list("forwarded")
    }
  }

  /// Not by the rules of quoting: a client that opens a quote must not swallow what the proxy adds behind it.
  private func unquotedMembers(_ fields: Fields, _ name: StaticString) -> [String] {
    fields.all(name).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// One member by itself, so that what is malformed further out hides nothing.
  private func hop(_ member: String) -> Forwarded.Hop? {
    switch proxyFields {
    case .xForwarded: Forwarded(["X-Forwarded-For": member])?.hops.last
    case .forwarded: Forwarded(["Forwarded": member])?.hops.last
    }
  }

  /// How our own proxy was spoken to.
  private func nearestHop(_ fields: Fields) -> Forwarded.Hop? {
    switch proxyFields {
    case .forwarded: return fields.list("forwarded").last.flatMap { hop($0) }
    case .xForwarded:
      var said = Fields()
      if let scheme = unquotedMembers(fields, "x-forwarded-proto").last { said.add("X-Forwarded-Proto", scheme) }
      if let host = unquotedMembers(fields, "x-forwarded-host").last { said.add("X-Forwarded-Host", host) }
      return Forwarded(said)?.hops.last
    }
  }
}
