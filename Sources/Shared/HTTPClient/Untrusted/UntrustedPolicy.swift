public import ParleyWire

/// The SSRF policy: which user-supplied URLs the server may fetch.
public struct UntrustedPolicy: Sendable {
  /// Internal addresses that are allowed nevertheless. For tests only, and set only at start-up: no request and no setting
  /// reaches this list.
  private let exceptions: [Exception]

  private struct Exception: Sendable {
    let address: IPAddress
    let port: Int
  }

  /// Only the public internet.
  public static let strict = UntrustedPolicy(exceptions: [])

  /// `strict` with exceptions, for tests.
  public static func alsoAllowing(_ servers: [(address: IPAddress, port: Int)]) -> UntrustedPolicy {
    UntrustedPolicy(exceptions: servers.map { Exception(address: $0.address, port: $0.port) })
  }

  private init(exceptions: [Exception]) { self.exceptions = exceptions }

  /// Web server ports. Other ports would let a URL reach services that don't speak HTTP.
  static let ports: Set<Int> = [80, 443, 8_080, 8_443]
  /// In bytes.
  static let maxLinkBytes = 2_048
  /// Top-level names with a meaning in local networks only (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476, and those of
  /// common routers).
  private static let internalNames: Set<String> = [
    "localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "onion", "alt",
    "arpa", "test", "invalid", "cluster", "consul",
  ]

  /// The normalized URL of a link; nil if the policy refuses it.
  ///
  /// - Parameter requiresTLS: refuses `http`, except to an exception.
  public func address(of link: String, requiresTLS: Bool = false) -> WebAddress? {
    do throws(UntrustedFault) { return try target(link, requiresTLS: requiresTLS).address } catch { return nil }
  }

  /// Parses a link as typed by a user. The addresses of a name are checked separately after the lookup.
  func target(_ link: String, requiresTLS: Bool = false) throws(UntrustedFault) -> UntrustedTarget {
    guard link.utf8.count <= Self.maxLinkBytes, let address = WebAddress(Self.encoded(link)),
      address.scheme == .http || address.scheme == .https, let meaning = ParsedHost(address.host)
    else { throw .refused }
    switch meaning {
    case .address(let ip):
      guard allows(ip, port: address.port) else { throw .refused }
      guard !requiresTLS || address.scheme == .https || isException(ip, port: address.port) else { throw .refused }
    case .name(let name):
      guard !requiresTLS || address.scheme == .https else { throw .refused }
      let labels = name.split(separator: ".")
      guard labels.count > 1, let last = labels.last, !Self.internalNames.contains(String(last)) else { throw .refused }
      guard Self.ports.contains(address.port) || exceptions.contains(where: { $0.port == address.port }) else {
        throw .refused
      }
    }
    return UntrustedTarget(address: address, meaning: meaning)
  }

  func allows(_ address: IPAddress, port: Int) -> Bool {
    isException(address, port: port) || address.isPublic && Self.ports.contains(port)
  }

  private func isException(_ address: IPAddress, port: Int) -> Bool {
    exceptions.contains { $0.address == address && $0.port == port }
  }

  /// Removes the fragment and percent-encodes path and query, as browsers do. The host is unchanged: an internationalized
  /// name must be in its `xn--` form.
  private static func encoded(_ link: String) -> String {
    let bytes = Array(link.utf8.prefix { $0 != UInt8(ascii: "#") })
    var slashes = 0
    let path = bytes.firstIndex { byte in
      slashes += byte == UInt8(ascii: "/") ? 1 : 0
      return slashes == 3 || byte == UInt8(ascii: "?")
    }
    guard let path else { return String(decoding: bytes, as: UTF8.self) }
    let rest = bytes[path...].flatMap { byte -> [UInt8] in
      needsEncoding(byte) ? Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8) : [byte]
    }
    return String(decoding: bytes[..<path] + rest, as: UTF8.self)
  }

  /// Control characters and backslashes stay as they are, so that the parser rejects them.
  private static func needsEncoding(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), 0x80...0xff:
      true
    default: false
    }
  }
}

/// A URL that passed the checks of its text.
struct UntrustedTarget: Sendable, Hashable {
  let address: WebAddress
  let meaning: ParsedHost
}
