// What a server serves: routes, what stands behind them, and what holds for every answer. It turns a refusal into a
// problem document, answers OPTIONS, honours If-None-Match and compresses; the server below it does framing alone.
//
// A small answer without conditions passes through here without a string being made: most answers are such.

public import ParleyWire

public final class Application: Sendable {
  public let router: Router
  public let limits: Limits
  public let addresses: Addresses
  /// The part that programs use; nil: none is apart.
  let apiPolicy: APIPolicy?
  /// Asked when no route matches: the static files.
  let fallback: Handler
  /// Sent with every answer that does not say otherwise: the server writes them into its head, so that no answer carries
  /// a copy of them.
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

  /// What will answer a request, found by its head alone: the server reads the body under this limit.
  public struct Plan: Sendable {
    public let bodyLimit: Int
    let parameters: PathParameters
    let handler: Handler
  }

  public func plan(_ head: RequestHead) -> Plan {
    if head.method == .options, head.target.isAsterisk {
      return plan(options: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
    }
    switch router.match(head.method, head.target.path) {
    case .route(let route, let parameters):
      return Plan(bodyLimit: route.bodyLimit ?? limits.body, parameters: parameters, handler: route.handler)
    case .otherMethods(let allowed):
      if head.method == .options { return plan(options: allowed) }
      return plan { _, _ throws(Problem) in throw .methodNotAllowed(allowed) }
    case .none:
      return plan(fallback)
    }
  }

  private func plan(options allowed: String) -> Plan {
    plan { _, _ in Response(.noContent, fields: ["Allow": allowed]) }
  }

  private func plan(_ handler: @escaping Handler) -> Plan {
    Plan(bodyLimit: limits.body, parameters: PathParameters(), handler: handler)
  }

  /// Answers. Whatever goes wrong becomes an answer too.
  public func respond(_ request: Request, _ context: Context, _ plan: Plan) async -> Response {
    var response: Response
    do {
      if plan.parameters.isEmpty {
        response = try await plan.handler(request, context)
      } else {
        response = try await plan.handler(request.with(plan.parameters), context)
      }
    } catch {
      if error.status.code >= 500, let cause = error.cause { log("\(context.id) \(cause)") }
      response =
        apiPolicy?.contains(request.path) == true
        ? error.response(id: context.id) : error.response(id: context.id, to: request.head)
    }
    apiPolicy?.addCORSFields(&response, to: request.head)
    finish(&response, request.head)
    return response
  }

  // MARK: For every answer

  private func finish(_ response: inout Response, _ head: RequestHead) {
    guard !response.isNegotiated else { return }
    // The coding is chosen first: 304 names the form that 200 would have sent, and says what it depends on.
    let isCompressed = chooseCoding(&response, head)
    revalidate(&response, head)
    if isCompressed { compress(&response) }
  }

  /// RFC 9110 §13.1.2: who has the present form is told so.
  private func revalidate(_ response: inout Response, _ head: RequestHead) {
    guard response.status == .ok, head.method == .get || head.method == .head, head.fields.has("if-none-match"),
      let tag = response.fields["etag"].flatMap({ EntityTag(parsing: $0) })
    else { return }
    let conditions = Preconditions(head.method, head.fields, now: 0)
    guard conditions.evaluate(.init(tag: tag)) == .notModified else { return }
    response.status = .notModified
    response.body = .none
    // §15.4.5: what describes the content goes with the content.
    response.fields.remove("content-type")
    response.fields.remove("content-encoding")
    response.fields.remove("last-modified")
  }

  /// Whether the body goes out gzipped; the fields say so from here on.
  private func chooseCoding(_ response: inout Response, _ head: RequestHead) -> Bool {
    guard case .bytes(let bytes) = response.body, bytes.count >= Self.minCompressedBytes,
      response.status != .partialContent, !response.fields.has("content-encoding"),
      let type = response.fields["content-type"], ContentType.isCompressible(type)
    else { return false }
    response.fields.add("Vary", "Accept-Encoding")
    guard Accept.allowsGzip(head.fields) else { return false }
    response.fields.add("Content-Encoding", "gzip")
    // The bytes are others, so a strong tag would lie (RFC 9110 §8.8.1).
    if let tag = response.fields["etag"], !tag.hasPrefix("W/") { response.fields.set("etag", "W/\(tag)") }
    return true
  }

  private func compress(_ response: inout Response) {
    guard case .bytes(let bytes) = response.body else { return }
    do {
      response.body = .bytes(try Gzip.compress(bytes, level: 5))
    } catch {
      // Only for want of memory; the plain form needs no more of it.
      response.fields.remove("content-encoding")
    }
  }

  /// Below this, gzip costs more than it saves.
  static let minCompressedBytes = 1_024
}
