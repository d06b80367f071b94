// What browsers are told to forbid. Nothing of ours needs what stands here, and what a page does not need, an attacker
// in it does not get.

public import ParleyWire

extension Application {
  /// For every answer: no guessing of types, no frames around us, no use by other sites, no address of ours in their
  /// logs. What is no page and no script may do nothing at all.
  public static let securityFields: Fields = [
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  ]

  /// For pages and for scripts, since a worker runs under the policy of its script. `'self'` means the WebSockets of
  /// the same host too (CSP 3 §6.7.2.8; browsers since 2022).
  public static let pageFields: Fields = [
    "Content-Security-Policy": [
      "default-src 'self'", "img-src 'self' data: blob:", "media-src 'self' blob:", "object-src 'none'",
      "frame-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'",
    ].joined(separator: "; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  ]

  /// RFC 6797: from the second visit on, browsers come by TLS alone. That binds a whole host whatever the port, so it
  /// is promised only where the host said that users come by https, and to its main port.
  static func with(hsts addresses: Addresses, _ fields: Fields) -> Fields {
    guard let main = addresses.publicOrigins.first, main.scheme == .https, main.port == 443 else { return fields }
    var fields = fields
    fields.addMissing(from: ["Strict-Transport-Security": "max-age=31536000"])
    return fields
  }
}
