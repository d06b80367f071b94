/// The cookies of a request (RFC 6265 §4.2).
public struct Cookies: Sendable {
  private let pairs: [(name: String, value: String)]

  public static let maxCookies = 64

  /// Malformed cookies are ignored: other software on the same host may have set them, and must not lock users out.
  public init(_ fields: Fields) {
    var pairs: [(name: String, value: String)] = []
    for field in fields.all("cookie") {
      for part in field.split(separator: ";") where pairs.count < Cookies.maxCookies {
        let bytes = Array(part.utf8)
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { continue }
        let name = bytes.span.trimmed(0..<equals)
        var value = bytes.span.trimmed(equals + 1..<bytes.count)
        if value.count >= 2, bytes[value.lowerBound] == 34, bytes[value.upperBound - 1] == 34 {
          value = value.lowerBound + 1..<value.upperBound - 1
        }
        guard !name.isEmpty, bytes[name].allSatisfy(ASCII.isToken), bytes[value].allSatisfy(SetCookie.mayHold) else {
          continue
        }
        pairs.append((bytes.span.text(name), bytes.span.text(value)))
      }
    }
    self.pairs = pairs
  }

  /// The first cookie with this name. Browsers send the one with the longest path first (RFC 6265 §5.4).
  public subscript(_ name: String) -> String? {
    pairs.first { $0.name == name }?.value
  }

  /// Repeated cookies have been set for another path or a parent domain.
  public func all(_ name: String) -> [String] {
    pairs.filter { $0.name == name }.map(\.value)
  }
}

/// A cookie to set (RFC 6265 §4.1). The defaults are secure: HttpOnly and SameSite.
public struct SetCookie: Sendable, Hashable {
  public enum SameSite: String, Sendable {
    case strict = "Strict"
    case lax = "Lax"
    /// Requires `isSecure`.
    case none = "None"
  }

  public let name: String
  public let value: String
  public let path: String
  /// Seconds. 0 deletes the cookie; nil makes it a session cookie.
  public var maxAge: Int?
  public let isSecure: Bool
  public var isHTTPOnly = true
  public var sameSite = SameSite.lax

  /// Returns nil if the name, value or path is invalid, or if a `__Host-` or `__Secure-` prefix does not match the
  /// attributes. There is no Domain attribute: cookies belong to one host.
  public init?(name: String, value: String, path: String = "/", maxAge: Int? = nil, isSecure: Bool) {
    guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isToken), value.utf8.allSatisfy(SetCookie.mayHold),
      path.hasPrefix("/"), path.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: ";") })
    else { return nil }
    if name.hasPrefix("__Host-"), !isSecure || path != "/" { return nil }
    if name.hasPrefix("__Secure-"), !isSecure { return nil }
    self.name = name
    self.value = value
    self.path = path
    self.maxAge = maxAge
    self.isSecure = isSecure
  }

  /// The value of the Set-Cookie field.
  public var fieldValue: String {
    var text = "\(name)=\(value); Path=\(path)"
    if let maxAge { text += "; Max-Age=\(maxAge)" }
    if isSecure { text += "; Secure" }
    if isHTTPOnly { text += "; HttpOnly" }
    return text + "; SameSite=\(sameSite.rawValue)"
  }

  /// `cookie-octet`: visible ASCII without quotes, commas, semicolons and backslashes.
  static func mayHold(_ byte: UInt8) -> Bool {
    byte > 32 && byte < 127 && byte != 34 && byte != 44 && byte != 59 && byte != 92
  }
}
