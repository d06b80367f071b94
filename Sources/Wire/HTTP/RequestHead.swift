/// The head of a request, checked: who holds one may rely on its framing.
public struct RequestHead: Sendable {
  public var method: Method
  public var target: Target
  public var version: Version
  public var fields: Fields
  public var framing: Framing
  /// Whether the connection may serve another request after this one (RFC 9112 §9.3).
  public var keepsAlive: Bool
  /// RFC 9110 §10.1.1: the client waits for 100 before it sends the body.
  public var expectsContinue: Bool
  /// The client asks to change the protocol (`Connection: upgrade` beside `Upgrade`).
  public var asksForUpgrade: Bool

  public init(
    method: Method, target: Target, version: Version = .http11, fields: Fields = Fields(), framing: Framing = .none,
    keepsAlive: Bool = true, expectsContinue: Bool = false, asksForUpgrade: Bool = false
  ) {
    self.method = method
    self.target = target
    self.version = version
    self.fields = fields
    self.framing = framing
    self.keepsAlive = keepsAlive
    self.expectsContinue = expectsContinue
    self.asksForUpgrade = asksForUpgrade
  }
}

public enum Version: Sendable, Hashable {
  case http10, http11
}

/// How the end of a message's body is known (RFC 9112 §6.3).
public enum Framing: Sendable, Hashable {
  case none
  case length(Int)
  case chunked
  /// Only responses: the body ends where the connection does.
  case untilClose
}

/// What a request asks for (RFC 9112 §3.2). CONNECT's authority form is refused by the parser: this is no proxy.
public struct Target: Sendable, Hashable {
  /// The path as sent, percent-encoded, starting with `/`; or `*` for `OPTIONS *`.
  public var path: String
  /// What stands after the first `?`, as sent.
  public var query: String?
  /// The host (and port) of an absolute-form target, which then rules over the Host field.
  public var authority: String?

  public init(path: String, query: String? = nil, authority: String? = nil) {
    self.path = path
    self.query = query
    self.authority = authority
  }

  public var isAsterisk: Bool { path == "*" }

  /// Every byte in `range` is visible ASCII or a space.
  init?(_ bytes: Span<UInt8>, in range: Range<Int>, isOptions: Bool) {
    var pathStart = range.lowerBound
    if bytes[pathStart] == UInt8(ascii: "*") {
      guard range.count == 1, isOptions else { return nil }
      self.init(path: "*")
      return
    }
    if bytes[pathStart] != UInt8(ascii: "/") {
      // RFC 9112 §3.2.2: the absolute form has to be understood by every server.
      guard let authority = Target.authority(bytes, in: range) else { return nil }
      self.init(path: "/", authority: bytes.text(authority))
      pathStart = authority.upperBound
      // §3.2.4: OPTIONS for a bare authority means the server as a whole.
      if pathStart == range.upperBound {
        if isOptions { path = "*" }
        return
      }
    } else {
      self.init(path: "/")
    }
    var pathEnd = range.upperBound
    var index = pathStart
    while index < range.upperBound {
      switch bytes[index] {
      case UInt8(ascii: "#"), 32: return nil
      case UInt8(ascii: "?"):
        if pathEnd == range.upperBound { pathEnd = index }
      case UInt8(ascii: "%") where pathEnd == range.upperBound:
        guard index &+ 2 < range.upperBound, ASCII.hexValue(bytes[index &+ 1]) != nil,
          ASCII.hexValue(bytes[index &+ 2]) != nil
        else { return nil }
      default: break
      }
      index &+= 1
    }
    if pathEnd > pathStart { path = bytes.text(pathStart..<pathEnd) }
    if pathEnd < range.upperBound { query = bytes.text(pathEnd &+ 1..<range.upperBound) }
  }

  /// The place of the authority of `http://authority/…`.
  private static func authority(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int>? {
    let start: Int
    if range.count > 7, bytes.matches("http://", in: range.lowerBound..<range.lowerBound &+ 7) {
      start = range.lowerBound &+ 7
    } else if range.count > 8, bytes.matches("https://", in: range.lowerBound..<range.lowerBound &+ 8) {
      start = range.lowerBound &+ 8
    } else {
      return nil
    }
    var end = start
    while end < range.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end &+= 1 }
    return Authority.isValid(bytes, in: start..<end) ? start..<end : nil
  }
}
