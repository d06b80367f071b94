/// The site, as authenticators and browsers know it.
public struct RelyingParty: Hashable, Sendable {
  /// The host that passkeys are for (WebAuthn §5.1.2): a domain, not an address.
  public let id: String
  /// The origins of the site's pages.
  public let origins: [String]

  /// Nil for an address: browsers make no passkeys for one.
  public init?(host: String, origins: [String]) {
    // An IPv6 address has colons, and the last label of an IPv4 address is a number (RFC 3696 §2).
    let host = host.lowercased()
    guard !host.isEmpty, !host.contains(":"), !host.contains("["),
      let last = host.split(separator: ".").last, !last.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { return nil }
    id = host
    self.origins = origins
  }
}
