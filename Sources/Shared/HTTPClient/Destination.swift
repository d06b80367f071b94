public import ParleyNetworking
public import ParleyWire

/// The server of a request: the name to verify, and separately the addresses to connect to. A caller that has resolved and
/// checked a name passes the checked addresses; the certificate must still match the name.
public struct Destination: Sendable, Hashable {
  /// The name that the certificate must match. IPv6 addresses are without brackets.
  public var name: String
  /// The Host field: the name, and the port unless it is the default port.
  public var authority: String
  public var port: UInt16
  public var isSecure: Bool
  /// Addresses to try, in this order; empty: resolve `name`.
  public var addresses: [SocketAddress]

  /// Nil for an invalid port.
  public init?(_ address: WebAddress, at addresses: [SocketAddress] = []) {
    guard let port = UInt16(exactly: address.port), port > 0 else { return nil }
    let host = address.host
    name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    authority = address.authority
    self.port = port
    isSecure = address.scheme.isSecure
    self.addresses = addresses
  }

  /// A Unix socket, or another address without TLS and without a name lookup.
  public init(at address: SocketAddress, name: String = "localhost") {
    self.name = name
    authority = name
    port = address.port ?? 0
    isSecure = false
    addresses = [address]
  }
}
