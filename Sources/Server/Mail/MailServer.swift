import ParleyWire

/// The address of a mail server: `smtps://user@host:port` with TLS from the first byte, `smtp://user@host:port` with STARTTLS.
public struct MailServer: Sendable, Hashable {
  public enum Security: Sendable, Hashable {
    case tls
    case startTLS
    /// For a server on this machine.
    case none
  }

  public let security: Security
  /// Without brackets.
  public let host: String
  public let port: Int
  public let user: String?

  public enum Fault: Error, Sendable, Hashable {
    case malformed
    case hasPassword

    public var explanation: String {
      switch self {
      case .malformed: "It has the form smtps://USER@HOST:PORT or smtp://USER@HOST:PORT; user and port may be left out."
      case .hasPassword:
        "The password does not belong into the URL, which other users of the machine may see: write it to a file."
      }
    }
  }

  public init(_ url: String) throws(Fault) {
    let isImplicit: Bool
    if url.hasPrefix("smtps://") {
      isImplicit = true
    } else if url.hasPrefix("smtp://") {
      isImplicit = false
    } else {
      throw .malformed
    }
    var rest = url.drop { $0 != ":" }.dropFirst(3)
    if rest.hasSuffix("/") { rest.removeLast() }
    var user: String?
    if let at = rest.lastIndex(of: "@") {
      let name = rest[..<at]
      if name.contains(":") { throw .hasPassword }
      guard let decoded = Percent.decode(String(name)), !decoded.isEmpty, !decoded.utf8.contains(0) else {
        throw .malformed
      }
      user = decoded
      rest = rest[rest.index(after: at)...]
    }
    guard let authority = Authority(String(rest)), !authority.host.isEmpty else { throw .malformed }
    host = authority.host.hasPrefix("[") ? String(authority.host.dropFirst().dropLast()) : authority.host
    let isLocal = host == "localhost" || IPAddress(host).map(Self.isLoopback) ?? false
    // A mail server on this machine often has a certificate of another name. A password still goes over TLS alone.
    security = isImplicit ? .tls : isLocal && user == nil ? .none : .startTLS
    port = authority.port ?? (isImplicit ? 465 : isLocal ? 25 : 587)
    guard port > 0 else { throw .malformed }
    self.user = user
  }

  private static func isLoopback(_ address: IPAddress) -> Bool {
    address.ipv4.map { $0 >> 24 == 127 } ?? (address.high == 0 && address.low == 1)
  }
}
