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
}
