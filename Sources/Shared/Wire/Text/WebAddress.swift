/// An absolute web address: `https://garden.example:8443/forums?sort=new`, without user information and fragment.
public struct WebAddress: Sendable, Hashable, CustomStringConvertible {
  public enum Scheme: String, Sendable, CaseIterable {
    case http, https, ws, wss

    public var isSecure: Bool { self == .https || self == .wss }
    public var defaultPort: Int { isSecure ? 443 : 80 }
  }

  public let scheme: Scheme
  /// Lowercase. An IPv6 address keeps its brackets.
  public let host: String
  public let port: Int
  /// The percent-encoded path with a leading `/`.
  public let path: String
  public let query: String?

  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") }),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
      let scheme = Scheme(rawValue: bytes.span.text(0..<colon).lowercased())
    else { return nil }
    let start = colon + 3
    let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.count
    guard let authority = Authority(bytes.span.text(start..<end)) else { return nil }
    let queryStart = bytes[end...].firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
    let path = bytes.span.text(end..<queryStart)
    guard Percent.isEncoded(path) else { return nil }
    self.scheme = scheme
    host = authority.host
    port = authority.port ?? scheme.defaultPort
    self.path = path.isEmpty ? "/" : path
    query = queryStart < bytes.count ? bytes.span.text(queryStart + 1..<bytes.count) : nil
  }

  /// Parses the value of an Origin field (RFC 6454 §7): scheme, host and port. `null` is nil.
  public init?(origin: String) {
    guard let address = WebAddress(origin), address.path == "/", address.query == nil, !origin.hasSuffix("/") else {
      return nil
    }
    self = address
  }

  /// The host, and the port unless it is the default of the scheme: the value of the Host field.
  public var authority: String {
    port == scheme.defaultPort ? host : "\(host):\(port)"
  }

  /// Two addresses have the same origin if these are equal (RFC 6454 §4).
  public var origin: String { "\(scheme.rawValue)://\(authority)" }

  /// The path and query of a request line.
  public var target: String { query.map { "\(path)?\($0)" } ?? path }

  public var description: String { origin + target }

  /// The address with another scheme. A default port changes with it.
  public func with(scheme: Scheme) -> WebAddress {
    WebAddress(
      scheme: scheme, host: host, port: port == self.scheme.defaultPort ? scheme.defaultPort : port, path: path,
      query: query)
  }

  private init(scheme: Scheme, host: String, port: Int, path: String, query: String?) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.path = path
    self.query = query
  }
}
