public import ParleyWire

/// Whom the server asks because somebody gave it an address.
public struct OutgoingPolicy: Sendable {
  /// Inside addresses with their ports that are asked all the same. Set where a program puts its parts together, and by
  /// nothing that comes later: tests have servers of their own.
  private let exceptions: [Exception]

  private struct Exception: Sendable {
    let address: IPAddress
    let port: Int
  }

  /// The open internet alone.
  public static let strict = OutgoingPolicy(exceptions: [])

  /// Beside it these, for tests.
  public static func alsoAllowing(_ servers: [(address: IPAddress, port: Int)]) -> OutgoingPolicy {
    OutgoingPolicy(exceptions: servers.map { Exception(address: $0.address, port: $0.port) })
  }

  private init(exceptions: [Exception]) { self.exceptions = exceptions }

  /// Ports on which the web is served. On others an address could make the server speak to what is no web server.
  static let ports: Set<Int> = [80, 443, 8_080, 8_443]
  /// In bytes.
  static let longestLink = 2_048
  /// Names that mean something inside alone (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476, and what routers make up).
  private static let inside: Set<String> = [
    "localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "onion", "alt",
    "arpa", "test", "invalid", "cluster", "consul",
  ]

  /// Reads a link as people give it. What it leads to is asked again of each address that its name has.
  func target(_ link: String) throws(OutgoingFault) -> OutgoingTarget {
    guard link.utf8.count <= Self.longestLink, let address = WebAddress(Self.encoded(link)),
      address.scheme == .http || address.scheme == .https, let meaning = HostMeaning(address.host)
    else { throw .refused }
    switch meaning {
    case .address(let ip):
      guard allows(ip, port: address.port) else { throw .refused }
    case .name(let name):
      let labels = name.split(separator: ".")
      guard labels.count > 1, let last = labels.last, !Self.inside.contains(String(last)) else { throw .refused }
      guard Self.ports.contains(address.port) || exceptions.contains(where: { $0.port == address.port }) else {
        throw .refused
      }
    }
    return OutgoingTarget(address: address, meaning: meaning)
  }

  func allows(_ address: IPAddress, port: Int) -> Bool {
    if exceptions.contains(where: { $0.address == address && $0.port == port }) { return true }
    return address.isPublic && Self.ports.contains(port)
  }

  /// Without its fragment, and with what people type in a path or a query percent-encoded, as browsers do. A host is left
  /// as it is: one of other letters than ASCII's is written in its `xn--` form by whoever means it.
  private static func encoded(_ link: String) -> String {
    let bytes = Array(link.utf8.prefix { $0 != UInt8(ascii: "#") })
    var slashes = 0
    let path = bytes.firstIndex { byte in
      slashes += byte == UInt8(ascii: "/") ? 1 : 0
      return slashes == 3 || byte == UInt8(ascii: "?")
    }
    guard let path else { return String(decoding: bytes, as: UTF8.self) }
    let rest = bytes[path...].flatMap { byte -> [UInt8] in
      mustBeEncoded(byte) ? Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8) : [byte]
    }
    return String(decoding: bytes[..<path] + rest, as: UTF8.self)
  }

  /// Control characters and backslashes are let through, to be refused.
  private static func mustBeEncoded(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), 0x80...0xff:
      true
    default: false
    }
  }
}

/// An address that may be asked, as far as it can be told from its text.
struct OutgoingTarget: Sendable, Hashable {
  let address: WebAddress
  let meaning: HostMeaning
}
