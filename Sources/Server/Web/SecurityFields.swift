// Security headers. They disable browser features that Parley does not use, so that injected code can't use them
// either.

public import ParleyWire

extension Application {
  /// Fields of every response: no MIME sniffing, no framing, no cross-origin embedding, no Referer to other sites. A
  /// response that is neither a page nor a script may not load or execute anything.
  public static let securityFields: Fields = [
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  ]

  /// Fields of pages and scripts, since a worker runs under the policy of its script. `'self'` includes WebSockets of
  /// the same host (CSP 3 §6.7.2.8; browsers since 2022).
  public static let pageFields: Fields = [
    "Content-Security-Policy": [
      "default-src 'self'", "img-src 'self' data: blob:", "media-src 'self' blob:", "object-src 'none'",
      "frame-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'",
    ].joined(separator: "; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  ]

  /// RFC 6797: after the first visit, browsers connect with TLS only. HSTS applies to every port of a host, so it is
  /// sent only if the main public origin is https on port 443.
  static func with(hsts addresses: Addresses, _ fields: Fields) -> Fields {
    guard let main = addresses.publicOrigins.first, main.scheme == .https, main.port == 443 else { return fields }
    var fields = fields
    fields.addMissing(from: ["Strict-Transport-Security": "max-age=31536000"])
    return fields
  }
}
