import Community
import ParleyModel
import ParleyWire
import Web

/// Authenticates the caller by a bearer token or by the session cookie.
enum Authentication {
  /// The cookie's name. Under TLS the `__Host-` prefix makes the browser bind the cookie to this host and to HTTPS.
  static func cookieName(_ server: Context) -> String { server.isSecure ? "__Host-parley" : "parley" }

  /// The name of the device cookie, which outlives the session.
  static func deviceCookieName(_ server: Context) -> String { cookieName(server) + "-device" }

  /// The cookie's lifetime in seconds: that of the longest session. A session may end before.
  static let cookieAge = SiteSettings.sessionDays.upperBound * 86_400

  static func caller(
    of request: Request, _ server: Context, _ api: API, _ view: CommunityView
  ) throws -> Caller {
    if let field = request.fields["authorization"] {
      guard let token = bearer(field), let known = try view.authenticate(token, from: server.networkText) else {
        throw Problem.unauthenticated
      }
      return known
    }
    guard request.fields.has("cookie"), let token = Cookies(request.fields)[cookieName(server)] else {
      return .visitor(network: server.networkHash)
    }
    // Browsers send the cookie from pages of any origin, so changes require our own origin (CSRF).
    if !request.method.isSafe { try requireOwnOrigin(request, server, api) }
    // A browser keeps the cookie of an ended session, and can sign in all the same. `Endpoint.access` refuses the rest.
    do throws(Refusal) {
      return try view.authenticate(token, from: server.networkText) ?? .visitor(network: server.networkHash)
    } catch {
      guard error == .sessionEnded else { throw error }
      return .visitor(network: server.networkHash, hasEndedSession: true)
    }
  }

  /// The webhook with the secret in the path. A disabled one, too, is not found.
  static func webhook(of request: Request, _ server: Context, _ api: API, _ view: CommunityView) throws -> Webhook {
    if let found = try view.webhook(withSecret: request.parameters["secret"] ?? "") { return found }
    try api.limiter.count([.webhook(by: server.client)], now: server.uptime)
    throw Refusal.notFound
  }

  /// The use of a slash command with the secret in the path.
  static func invocation(
    of request: Request, _ server: Context, _ api: API, _ view: CommunityView
  ) throws -> CommandInvocation {
    if let found = try view.invocation(withSecret: request.parameters["secret"] ?? "") { return found }
    try api.limiter.count([.webhook(by: server.client)], now: server.uptime)
    throw Refusal.notFound
  }

  /// Whether the request has a session cookie, which may have ended.
  static func hasCookie(_ request: Request, _ server: Context) -> Bool {
    request.fields.has("cookie") && Cookies(request.fields)[cookieName(server)]?.isEmpty == false
  }

  /// Throws unless a page of ours sent the request.
  static func requireOwnOrigin(_ request: Request, _ server: Context, _ api: API) throws(Problem) {
    guard request.fields["origin"].map(server.isOwnOrigin) != true else { return }
    api.hints.examineForeignOrigin(request.fields, server)
    throw .foreignOrigin
  }

  /// The token of an `Authorization` field (RFC 6750 §2.1). The scheme is case-insensitive.
  private static func bearer(_ field: String) -> String? {
    // Compares bytes: splitting the text into characters would cost more than the rest of the function.
    let (text, scheme, space) = (field.utf8, "bearer".utf8, UInt8(ascii: " "))
    guard let end = text.index(text.startIndex, offsetBy: scheme.count, limitedBy: text.endIndex),
      text[..<end].elementsEqual(scheme, by: { $0 | 0x20 == $1 })
    else { return nil }
    let token = text[end...].drop { $0 == space }
    guard token.startIndex > end, !token.isEmpty, !token.contains(space) else { return nil }
    return String(Substring(token))
  }
}
