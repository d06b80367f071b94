/// What proxies say about the requests they pass on: `Forwarded` (RFC 7239), or the older `X-Forwarded-…`.
///
/// Anyone can send these fields. Only the hops that trusted proxies added count, and those are the last ones: see
/// `hop(behind:)`.
public struct Forwarded: Sendable, Hashable {
  public struct Hop: Sendable, Hashable {
    /// Who sent the request to this proxy: an address (IPv6 without brackets), `unknown`, or a name that starts with `_`.
    public var client: String?
    /// The scheme and the host of the request that the proxy got.
    public var scheme: String?
    public var host: String?
  }

  /// The first is the nearest to the client.
  public let hops: [Hop]

  public static let mostHops = 32

  /// Nil when a field is malformed or there are too many hops: then nothing of it may be believed. `Forwarded` rules
  /// where both kinds are there.
  public init?(_ fields: Fields) {
    let standard = fields.list("forwarded")
    if !standard.isEmpty {
      guard standard.count <= Forwarded.mostHops else { return nil }
      var hops: [Hop] = []
      for member in standard {
        guard let hop = Forwarded.hop(member) else { return nil }
        hops.append(hop)
      }
      self.hops = hops
      return
    }
    let clients = fields.list("x-forwarded-for")
    let schemes = fields.list("x-forwarded-proto")
    let hosts = fields.list("x-forwarded-host")
    let count = max(clients.count, schemes.count, hosts.count)
    guard count <= Forwarded.mostHops else { return nil }
    var hops = [Hop](repeating: Hop(), count: count)
    // The lists are lined up at their ends: a proxy adds behind.
    for (index, text) in clients.enumerated() {
      guard let client = Forwarded.node(text) else { return nil }
      hops[count - clients.count + index].client = client
    }
    for (index, text) in schemes.enumerated() {
      guard let scheme = Forwarded.scheme(text) else { return nil }
      hops[count - schemes.count + index].scheme = scheme
    }
    for (index, text) in hosts.enumerated() {
      guard Authority(text) != nil else { return nil }
      hops[count - hosts.count + index].host = text
    }
    self.hops = hops
  }

  /// The hop that the outermost of so many trusted proxies wrote; nil when fewer have written.
  public func hop(behind proxies: Int) -> Hop? {
    proxies >= 1 && proxies <= hops.count ? hops[hops.count - proxies] : nil
  }

  /// `for=192.0.2.60;proto=https;host=garden.example;by=…` (RFC 7239 §4).
  private static func hop(_ text: String) -> Hop? {
    let bytes = Array((";" + text).utf8)
    guard let parameters = FieldParameters(bytes.span, from: 0, to: bytes.count) else { return nil }
    var hop = Hop()
    for pair in parameters.pairs {
      switch pair.name {
      case "for":
        guard let client = node(pair.value) else { return nil }
        hop.client = client
      case "proto":
        guard let scheme = scheme(pair.value) else { return nil }
        hop.scheme = scheme
      case "host":
        guard Authority(pair.value) != nil else { return nil }
        hop.host = pair.value
      default: break
      }
    }
    return hop
  }

  private static func scheme(_ text: String) -> String? {
    WebAddress.Scheme(rawValue: text.lowercased())?.rawValue
  }

  /// §6: an IPv4 address, `[IPv6]`, `unknown` or `_name`, each with a port or not, which is dropped. X-Forwarded-For
  /// has IPv6 without brackets too.
  private static func node(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    if Authority.isIPv6(bytes.span, in: bytes.indices) { return text.lowercased() }
    guard bytes.count <= 255, let node = Authority(text) else { return nil }
    if node.host.hasPrefix("[") { return String(node.host.dropFirst().dropLast()) }
    let host = Array(node.host.utf8)
    let isAddress = Authority.isIPv4(host.span, in: host.indices)
    return isAddress || node.host == "unknown" || node.host.hasPrefix("_") ? node.host : nil
  }
}
