/// The proxy hops of a request: `Forwarded` (RFC 7239) or the older `X-Forwarded-…`.
///
/// Clients can forge these fields. Only hops that trusted proxies added are valid, and those are the last ones: see
/// `hop(behind:)`.
public struct Forwarded: Sendable, Hashable {
  public struct Hop: Sendable, Hashable {
    /// The client of this proxy: an address (IPv6 without brackets), `unknown`, or an obfuscated name that starts with
    /// `_`.
    public var client: String?
    /// The scheme and host of the request to this proxy.
    public var scheme: String?
    public var host: String?
  }

  /// The first hop is the nearest to the client.
  public let hops: [Hop]

  public static let maxHops = 32

  /// Returns nil if a field is malformed or has too many hops; then none of it is trusted. `Forwarded` takes
  /// precedence.
  public init?(_ fields: Fields) {
    let standard = fields.list("forwarded")
    if !standard.isEmpty {
      guard standard.count <= Forwarded.maxHops else { return nil }
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
    guard count <= Forwarded.maxHops else { return nil }
    var hops = [Hop](repeating: Hop(), count: count)
    // The lists are aligned at their ends, because a proxy appends.
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

  /// The hop that the outermost of `count` trusted proxies added; nil if there are fewer hops.
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

  /// §6: an IPv4 address, `[IPv6]`, `unknown` or `_name`, with an optional port, which is dropped. X-Forwarded-For also
  /// has IPv6 without brackets.
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
