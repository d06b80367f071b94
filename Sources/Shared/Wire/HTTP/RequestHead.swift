/// A validated request head. Its framing is unambiguous.
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
  /// The client requests a protocol upgrade (`Connection: upgrade` and `Upgrade`).
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

/// The framing of a message body (RFC 9112 §6.3).
public enum Framing: Sendable, Hashable {
  case none
  case length(Int)
  case chunked
  /// Responses only: the body ends with the connection.
  case untilClose
}

/// The target of a request (RFC 9112 §3.2). The parser rejects CONNECT's authority form: this is not a proxy.
public struct Target: Sendable, Hashable {
  /// The path as sent, percent-encoded, with a leading `/`; or `*` for `OPTIONS *`.
  public var path: String
  /// The query after the first `?`, as sent.
  public var query: String?
  /// The host and port of an absolute-form target, which overrides the Host field.
  public var authority: String?

  public init(path: String, query: String? = nil, authority: String? = nil) {
    self.path = path
    self.query = query
    self.authority = authority
  }

  public var isAsterisk: Bool { path == "*" }
}
