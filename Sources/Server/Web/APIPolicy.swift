// The paths of the API. Errors are JSON documents, for browsers too. Scripts of the configured origins may send
// requests (CORS, https://fetch.spec.whatwg.org). They authenticate with a token. Cross-origin cookies are never
// accepted, and no response sets `Access-Control-Allow-Credentials`.

public import ParleyWire

public struct APIPolicy: Sendable {
  let base: String
  private let origins: Set<String>

  /// Cache time of a preflight response in the browser, in seconds.
  static let maxAge = 7_200

  /// Request fields beyond the CORS-safelisted ones.
  private static let allowedHeaders = "Authorization, Content-Type, If-Match, If-None-Match, Range, Upload-Offset"
  /// Response fields beyond the CORS-safelisted ones.
  private static let exposedHeaders =
    "Content-Disposition, Content-Range, ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, "
    + "Upload-Offset, X-Request-ID"

  /// - Parameter base: the path prefix of the API, such as `/api/v1`.
  public init(base: String, crossOrigins: [WebAddress] = []) {
    self.base = base
    origins = Set(crossOrigins.map(\.origin))
  }

  func contains(_ path: String) -> Bool {
    path.hasPrefix(base) && (path.utf8.count == base.utf8.count || path.dropFirst(base.count).first == "/")
  }

  /// Adds the CORS fields if the request's origin is allowed.
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
    if let methods = response.fields["allow"] { response.fields.add("Access-Control-Allow-Methods", methods) }
    response.fields.add("Access-Control-Allow-Headers", Self.allowedHeaders)
    response.fields.add("Access-Control-Max-Age", String(Self.maxAge))
  }
}
