import ParleyJSON
import ParleyWire

/// A registered redirect URI. Requests name it exactly, with one exception: the port of a loopback address (RFC 8252 §7.3).
///
/// A URI has one spelling here. Ambiguous parts are refused at registration: userinfo, fragments,
/// backslashes, dot segments, encoded delimiters, uppercase hosts, hosts of Unicode, default ports.
public struct RedirectURI: Sendable, Hashable, CustomStringConvertible {
  public enum Kind: Sendable, Hashable {
    /// `https`.
    case web
    /// `http` to a loopback address of the user's device.
    case loopback
    /// A private-use scheme in reverse domain order, such as `com.example.app:/callback` (RFC 8252 §7.1).
    case privateUse
  }

  public let description: String
  public let kind: Kind
  private let scheme: String
  /// Empty for a private-use scheme.
  public let host: String
  private let port: Int?
  /// The path and the query.
  private let rest: String

  public static let maxBytes = 1_024
  /// The hosts whose port a request may choose. A name may resolve to another device, so it is not among them (§8.3).
  private static let loopbackAddresses: Set<String> = ["127.0.0.1", "[::1]"]
  private static let loopbackHosts = loopbackAddresses.union(["localhost"])

  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.maxBytes, bytes.allSatisfy(ASCIIClass.isOfURI), let colon = text.firstIndex(of: ":")
    else { return nil }
    description = text
    scheme = String(text[..<colon])
    let tail = String(text[text.index(after: colon)...])
    guard Self.isScheme(scheme) else { return nil }
    switch scheme {
    case "https", "http":
      guard let address = Self.address(tail) else { return nil }
      (host, port, rest) = address
      if scheme == "https" {
        guard port != 443 else { return nil }
        kind = .web
      } else {
        guard port != 80, Self.loopbackHosts.contains(host) else { return nil }
        kind = .loopback
      }
    default:
      // A dot: no scheme of a browser, such as `javascript`, has one. `//` would begin a host.
      guard scheme.contains("."), tail.hasPrefix("/"), !tail.hasPrefix("//") else { return nil }
      (host, port, rest) = ("", nil, tail)
      kind = .privateUse
    }
    guard Self.isPlain(rest) else { return nil }
  }

  /// Whether a request that names `text` means this URI.
  public func matches(_ text: String) -> Bool {
    if text == description { return true }
    guard kind == .loopback, Self.loopbackAddresses.contains(host), let given = RedirectURI(text) else { return false }
    return given.kind == .loopback && given.host == host && given.rest == rest
  }

  /// The name that users know: the host, or the scheme of an app on the device.
  public var shownHost: String { kind == .privateUse ? scheme : host }

  /// The source expression of a Content Security Policy that permits a redirect of a form to this URI.
  public var formAction: String {
    switch kind {
    case .privateUse: "\(scheme):"
    // CSP 3 §2.3.1: a source has no IPv6 address.
    case .loopback where host.hasPrefix("["): "http:"
    case .web, .loopback: "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")"
    }
  }

  /// The URI with parameters added to its query (RFC 6749 §4.1.2).
  public func adding(_ parameters: KeyValuePairs<String, String?>) -> String {
    let pairs = parameters.compactMap { name, value in value.map { "\(name)=\(Percent.encode($0))" } }
    guard !pairs.isEmpty else { return description }
    let separator = description.contains("?") ? (description.hasSuffix("?") ? "" : "&") : "?"
    return description + separator + pairs.joined(separator: "&")
  }

  /// Lowercase: the scheme has no other spelling here.
  private static func isScheme(_ text: String) -> Bool {
    guard let first = text.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first else { return false }
    return text.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || ASCIIClass.isDigit(byte) || "+-.".utf8.contains(byte)
    } && !text.hasSuffix(".") && !text.contains("..")
  }

  /// Host, port and the rest of `//host:port/rest`.
  private static func address(_ tail: String) -> (host: String, port: Int?, rest: String)? {
    guard tail.hasPrefix("//") else { return nil }
    let body = tail.dropFirst(2)
    // A path is required: `https://example.org` and `https://example.org/` are one address with two spellings.
    guard let slash = body.firstIndex(where: { $0 == "/" || $0 == "?" }), body[slash] == "/" else { return nil }
    let authority = String(body[..<slash])
    let rest = String(body[slash...])
    if authority == "[::1]" { return ("[::1]", nil, rest) }
    if authority.hasPrefix("[::1]:") {
      guard let port = port(authority.dropFirst(6)) else { return nil }
      return ("[::1]", port, rest)
    }
    let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let host = parts.first.map(String.init), isHost(host) else { return nil }
    guard parts.count == 2 else { return (host, nil, rest) }
    guard let port = port(parts[1]) else { return nil }
    return (host, port, rest)
  }

  private static func port(_ text: Substring) -> Int? {
    guard 1...5 ~= text.utf8.count, text.utf8.allSatisfy(ASCIIClass.isDigit), text.first != "0", let port = Int(text),
      port <= 65_535
    else { return nil }
    return port
  }

  /// A name of lowercase labels, IDN as A-labels (RFC 5890), or an IPv4 address.
  private static func isHost(_ text: String) -> Bool {
    guard 1...253 ~= text.utf8.count else { return false }
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    let isName = labels.allSatisfy { label in
      1...63 ~= label.utf8.count && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { byte in
          UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || ASCIIClass.isDigit(byte) || byte == UInt8(ascii: "-")
        }
    }
    guard isName, let last = labels.last else { return false }
    // `0x7f.1` and `127.1` are addresses to some programs: only the form of four decimal numbers is one here.
    guard last.utf8.first.map(ASCIIClass.isDigit) == true else { return true }
    return labels.count == 4
      && labels.allSatisfy { label in
        label.utf8.allSatisfy(ASCIIClass.isDigit) && (label == "0" || label.first != "0") && Int(label) ?? 256 < 256
      }
  }

  /// Whether the path and the query have no second reading: valid escapes, no dot segments, no encoded delimiters.
  private static func isPlain(_ rest: String) -> Bool {
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard Percent.decode(rest) != nil, !rest.contains("["), !rest.contains("]") else { return false }
    let path = parts[0].lowercased()
    guard !["%2e", "%2f", "%5c", "%00", "%25"].contains(where: path.contains), !path.contains("//") else {
      return false
    }
    return path.split(separator: "/", omittingEmptySubsequences: true).allSatisfy { $0 != "." && $0 != ".." }
  }
}
