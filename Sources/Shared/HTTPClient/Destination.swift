public import ParleyNetworking
public import ParleyWire

/// Whom a request goes to. Where to connect and who has to answer there are apart: what was looked up and checked once is
/// connected to as it was checked, and the certificate must still bear the name.
public struct Destination: Sendable, Hashable {
  /// The name that the certificate has to bear. An IPv6 address has no brackets here.
  public var name: String
  /// What stands in the Host field: the name, and the port unless it is the usual one.
  public var authority: String
  public var port: UInt16
  public var isSecure: Bool
  /// Where to connect, tried in this order; empty: where the name leads to.
  public var addresses: [SocketAddress]

  /// Nil for a port that no socket has.
  public init?(_ address: WebAddress, at addresses: [SocketAddress] = []) {
    guard let port = UInt16(exactly: address.port), port > 0 else { return nil }
    let host = address.host
    name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    authority = address.authority
    self.port = port
    isSecure = address.scheme.isSecure
    self.addresses = addresses
  }

  /// A daemon's socket in the file system, or another address whose name nobody asks for.
  public init(at address: SocketAddress, name: String = "localhost") {
    self.name = name
    authority = name
    port = address.port ?? 0
    isSecure = false
    addresses = [address]
  }
}
