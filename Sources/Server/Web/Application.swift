// Routes requests to handlers and applies the rules for every response: problem documents, OPTIONS, If-None-Match and
// compression. The server below only does framing.
//
// A small response to a request without conditions is passed through without allocating a string. This is the common
// case.

public import ParleyWire

public final class Application: Sendable {
  public let router: Router
  /// The limits at the start; those of a running server may change.
  public let limits: Limits
  public let addresses: Addresses
  /// The policy of the API paths; nil if the application has none.
  let apiPolicy: APIPolicy?
  /// The handler for paths without a route: static files.
  let fallback: Handler
  /// Default fields of every response. The server writes them into the head, so a response does not hold a copy.
  public let commonFields: Fields
  private let log: @Sendable (String) -> Void

  public init(
    router: Router, fallback: Handler? = nil, limits: Limits = Limits(), addresses: Addresses = Addresses(),
    apiPolicy: APIPolicy? = nil, commonFields: Fields = Application.securityFields,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.router = router
    if let fallback { self.fallback = fallback } else { self.fallback = Self.respondNotFound }
    self.limits = limits
    self.addresses = addresses
    self.apiPolicy = apiPolicy
    self.commonFields = Self.with(hsts: addresses, commonFields)
    self.log = log
  }

  @Sendable
  private static func respondNotFound(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    throw .notFound
  }

  /// The handler of a request and the limit of its body, chosen from the request head.
  public struct Plan: Sendable {
    public let bodyLimit: Int
    let parameters: PathParameters
    let handler: Handler
  }

  /// - Parameter bodyLimit: of routes without a limit of their own; nil for the one of `limits`.
  public func plan(_ head: RequestHead, bodyLimit: Int? = nil) -> Plan {
    let bodyLimit = bodyLimit ?? limits.body
    if head.method == .options, head.target.isAsterisk {
      return plan(options: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", bodyLimit)
    }
    switch router.match(head.method, head.target.path) {
    case .route(let route, let parameters):
      return Plan(bodyLimit: route.bodyLimit?() ?? bodyLimit, parameters: parameters, handler: route.handler)
    case .otherMethods(let allowed):
      if head.method == .options { return plan(options: allowed, bodyLimit) }
      return plan(bodyLimit) { _, _ throws(Problem) in throw .methodNotAllowed(allowed) }
    case .none:
      return plan(bodyLimit, fallback)
    }
  }

  private func plan(options allowed: String, _ bodyLimit: Int) -> Plan {
    plan(bodyLimit) { _, _ in Response(.noContent, fields: ["Allow": allowed]) }
  }

  private func plan(_ bodyLimit: Int, _ handler: @escaping Handler) -> Plan {
    Plan(bodyLimit: bodyLimit, parameters: PathParameters(), handler: handler)
  }

  /// Runs the handler. Errors become responses too.
  public func respond(_ request: Request, _ context: Context, _ plan: Plan) async -> Response {
    if let address = context.newAddress { return FormerOrigin.response(to: request, at: address) }
    var response: Response
    do {
      request.parameters = plan.parameters
      response = try await plan.handler(request, context)
    } catch {
      if error.status.code >= 500, let cause = error.cause { log("\(context.id) \(cause)") }
      response =
        apiPolicy?.contains(request.path) == true
        ? error.response(id: context.id, origin: context.origin)
        : error.response(id: context.id, origin: context.origin, to: request.head)
    }
    apiPolicy?.addCORSFields(&response, to: request.head)
    await finish(&response, request.head)
    return response
  }

  // MARK: Conditions and compression

  private func finish(_ response: inout Response, _ head: RequestHead) async {
    guard !response.isNegotiated else { return }
    // The coding is chosen first: a 304 has the ETag and the Vary of the 200.
    let isCompressed = chooseCoding(&response, head)
    revalidate(&response, head)
    if isCompressed { await compress(&response) }
  }

  /// RFC 9110 §13.1.2: responds 304 if the client has the current representation.
  private func revalidate(_ response: inout Response, _ head: RequestHead) {
    guard response.status == .ok, head.method == .get || head.method == .head, head.fields.has("if-none-match"),
      let tag = response.fields["etag"].flatMap({ EntityTag(parsing: $0) })
    else { return }
    let conditions = Preconditions(head.method, head.fields, now: 0)
    guard conditions.evaluate(.init(tag: tag)) == .notModified else { return }
    response.status = .notModified
    response.body = .none
    // §15.4.5: a 304 has no representation metadata.
    response.fields.remove("content-type")
    response.fields.remove("content-encoding")
    response.fields.remove("last-modified")
  }

  /// Returns whether the body will be compressed, and sets the fields accordingly.
  private func chooseCoding(_ response: inout Response, _ head: RequestHead) -> Bool {
    guard case .bytes(let bytes) = response.body, bytes.count >= Self.minCompressedBytes,
      response.status != .partialContent, !response.fields.has("content-encoding"),
      let type = response.fields["content-type"], ContentType.isCompressible(type)
    else { return false }
    response.fields.add("Vary", "Accept-Encoding")
    guard Accept.allowsGzip(head.fields) else { return false }
    response.fields.add("Content-Encoding", "gzip")
    // The bytes differ, so a strong tag would be wrong (RFC 9110 §8.8.1).
    if let tag = response.fields["etag"], !tag.hasPrefix("W/") { response.fields.set("etag", "W/\(tag)") }
    return true
  }

  private func compress(_ response: inout Response) async {
    guard case .bytes(let bytes) = response.body else { return }
    do throws(CompressionFault) {
      let isShort = bytes.count <= Self.maxInlineCompression
      response.body = .bytes(try isShort ? Self.gzip(bytes) : await Self.gzipOffLoop(bytes))
    } catch {
      // Fails only if memory is exhausted; the identity coding needs no more of it.
      response.fields.remove("content-encoding")
    }
  }

  private static func gzip(_ bytes: [UInt8]) throws(CompressionFault) -> [UInt8] {
    try Gzip.compress(bytes, level: 5)
  }

  /// A megabyte takes 30 ms, in which the loop serves its other connections.
  @concurrent private static func gzipOffLoop(_ bytes: [UInt8]) async throws(CompressionFault) -> [UInt8] {
    try gzip(bytes)
  }

  /// Bodies up to this size are compressed on the event loop.
  static let maxInlineCompression = 65_536

  /// Below this, gzip costs more than it saves.
  static let minCompressedBytes = 1_024
}
