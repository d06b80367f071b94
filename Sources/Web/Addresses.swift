public import Wire

/// Who the client is and under which address people know this server (RFC 7239 and its unofficial elders). What a
/// proxy says is believed only when the connection comes from one that the host named.
public struct Addresses: Sendable {
  /// Where people reach the site, the main one first; empty: whatever the request says.
  public let publicOrigins: [WebAddress]
  /// The proxies whose word counts.
  public let trusted: [AddressBlock]
  /// A Unix socket is reached only by what the host put before it.
  public let trustsUnixSocket: Bool

  public init(publicOrigins: [WebAddress] = [], trusted: [AddressBlock] = [], trustsUnixSocket: Bool = true) {
    self.publicOrigins = publicOrigins
    self.trusted = trusted
    self.trustsUnixSocket = trustsUnixSocket
  }

  public func trusts(_ peer: IPAddress?) -> Bool {
    guard let peer else { return trustsUnixSocket }
    return trusted.contains { $0.contains(peer) }
  }

  /// The nearest address that is not a trusted proxy's, walking from our end: what stands further out was written by
  /// whoever wanted to.
  func client(peer: IPAddress?, _ fields: Fields) -> IPAddress? {
    guard trusts(peer) else { return peer }
    var nearest = peer
    for hop in hops(fields).reversed() {
      guard let address = hop.client.flatMap({ IPAddress($0) }) else { return nearest }
      nearest = address
      guard trusts(address) else { return address }
    }
    return nearest
  }

  /// What the proxies said, our own last; nothing when it is malformed.
  private func hops(_ fields: Fields) -> [Forwarded.Hop] { Forwarded(fields)?.hops ?? [] }

  func origin(peer: IPAddress?, isEncrypted: Bool, _ fields: Fields) -> String {
    publicOrigins.first?.origin ?? requestOrigin(peer: peer, isEncrypted: isEncrypted, fields)
  }

  func isOwn(_ text: String, peer: IPAddress?, isEncrypted: Bool, _ fields: Fields) -> Bool {
    guard let origin = WebAddress(origin: text)?.origin else { return false }
    guard publicOrigins.isEmpty else { return publicOrigins.contains { $0.origin == origin } }
    return origin == requestOrigin(peer: peer, isEncrypted: isEncrypted, fields)
  }

  /// What the nearest trusted proxy says, else what the request says itself.
  private func requestOrigin(peer: IPAddress?, isEncrypted: Bool, _ fields: Fields) -> String {
    var scheme = isEncrypted ? "https" : "http"
    var host = fields["host"]
    if trusts(peer), let hop = hops(fields).last {
      if let said = hop.scheme { scheme = said }
      if let said = hop.host { host = said }
    }
    return WebAddress("\(scheme)://\(host ?? "localhost")")?.origin ?? "\(scheme)://localhost"
  }
}
