/// Where a place is: `chat.example`, `https://chat.example:8443`, `http://127.0.0.1:8080`.
public struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
  /// `https://chat.example:8443`, without a slash at its end.
  public let origin: String

  /// Without a scheme it is https: nobody's password goes over the network in the clear because of a forgotten letter.
  public init?(_ text: String) {
    var text = Substring(text)
    var scheme = "https"
    for known in ["https", "http"] where text.lowercased().hasPrefix(known + "://") {
      scheme = known
      text = text.dropFirst(known.count + 3)
      break
    }
    if text.hasSuffix("/") { text = text.dropLast() }
    guard !text.isEmpty, text.utf8.allSatisfy(Self.mayStand) else { return nil }
    origin = scheme + "://" + text.lowercased()
  }

  /// A host, a port, and the brackets of an IPv6 address.
  private static func mayStand(_ byte: UInt8) -> Bool {
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
