// The part of a site that programs use and users don't go to. What is wrong there is told as JSON even to a browser, and
// pages of the origins that the host named may ask it from their scripts (CORS, https://fetch.spec.whatwg.org). They bring
// a token; a cookie is never taken from them, and no answer says that it would be.

public import ParleyWire

public struct APIPolicy: Sendable {
  let base: String
  private let origins: Set<String>

  /// How long a browser may remember what it was told before the first request, in seconds.
  static let maxAge = 7_200

  /// What a script may send beside the few fields that every page may.
  private static let allowedHeaders = "Authorization, Content-Type, If-Match, If-None-Match, Range, Upload-Offset"
  /// What a script may read beside the few fields that every page may.
  private static let exposedHeaders =
    "Content-Disposition, Content-Range, ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, "
    + "Upload-Offset, X-Request-ID"

  /// `base` begins the paths of the interface, such as `/api/v1`.
  public init(base: String, crossOrigins: [WebAddress] = []) {
    self.base = base
    origins = Set(crossOrigins.map(\.origin))
  }

  func contains(_ path: String) -> Bool {
    path.hasPrefix(base) && (path.utf8.count == base.utf8.count || path.dropFirst(base.count).first == "/")
  }

  /// Tells a browser whether the page that asks may have the answer.
  func addCORSFields(_ response: inout Response, to head: RequestHead) {
    guard !origins.isEmpty, contains(head.target.path) else { return }
    response.fields.add("Vary", "Origin")
    guard let origin = head.fields["origin"].flatMap({ WebAddress(origin: $0)?.origin }), origins.contains(origin)
    else {
      return
    }
    response.fields.add("Access-Control-Allow-Origin", origin)
    guard head.method == .options, head.fields.has("access-control-request-method") else {
      response.fields.add("Access-Control-Expose-Headers", Self.exposedHeaders)
      return
    }
    response.fields.add("Access-Control-Allow-Methods", response.fields["allow"] ?? "")
    response.fields.add("Access-Control-Allow-Headers", Self.allowedHeaders)
    response.fields.add("Access-Control-Max-Age", String(Self.maxAge))
  }
}
