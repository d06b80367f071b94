import Community
import ParleyWire
import Web

/// Finds out who asks: by a token in the header, or by the session's cookie.
enum Authentication {
  /// Under TLS the browser itself holds the cookie to this host and to encryption.
  static func cookieName(_ server: Context) -> String { server.isSecure ? "__Host-parley" : "parley" }

  /// In seconds: a year; a browser that comes back within it stays signed in.
  static let cookieAge = 365 * 86_400

  static func caller(of request: Request, _ server: Context, _ view: CommunityView) throws -> Caller {
    if let field = request.fields["authorization"] {
      guard let token = bearer(field), let known = try view.authenticate(token) else {
        throw Problem.unauthenticated
      }
      return known
    }
    guard request.fields.has("cookie"), let token = Cookies(request.fields)[cookieName(server)] else { return .visitor }
    // A browser sends the cookie whoever made the page, so a page of ours must have asked for a change.
    guard request.method.isSafe || request.fields["origin"].map(server.isOwnOrigin) == true else {
      throw Problem.foreignOrigin
    }
    let known = try view.authenticate(token)
    // The session has ended: what is open to all stays open.
    if known == nil, !request.method.isSafe { throw Problem.unauthenticated }
    return known ?? .visitor
  }

  /// RFC 6750 §2.1; the scheme's name in any case.
  private static func bearer(_ field: String) -> String? {
    // By bytes: to find the characters of a text takes longer than all the rest.
    let (text, scheme, space) = (field.utf8, "bearer".utf8, UInt8(ascii: " "))
    guard let end = text.index(text.startIndex, offsetBy: scheme.count, limitedBy: text.endIndex),
      text[..<end].elementsEqual(scheme, by: { $0 | 0x20 == $1 })
    else { return nil }
    let token = text[end...].drop { $0 == space }
    guard token.startIndex > end, !token.isEmpty, !token.contains(space) else { return nil }
    return String(Substring(token))
  }
}
