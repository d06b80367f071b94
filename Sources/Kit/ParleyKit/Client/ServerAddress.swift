/// The address of a server: `chat.example`, `https://chat.example:8443`, `http://127.0.0.1:8080`.
public struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
  /// `https://chat.example:8443`, without a trailing slash.
  public let origin: String

  /// The default scheme is https, so that a missing scheme never sends a password in the clear.
  public init?(_ text: String) {
    var text = Substring(text)
    var scheme = "https"
    for known in ["https", "http"] where text.lowercased().hasPrefix(known + "://") {
      scheme = known
      text = text.dropFirst(known.count + 3)
      break
    }
    if text.hasSuffix("/") { text = text.dropLast() }
    guard !text.isEmpty, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
    origin = scheme + "://" + text.lowercased()
  }

  private init(origin: String) { self.origin = origin }

  /// The address of no server (RFC 6761 §6.4).
  static let preview = ServerAddress(origin: "https://preview.invalid")

  /// Characters of a host, a port and a bracketed IPv6 address.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
      UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  public var description: String { origin }
}
