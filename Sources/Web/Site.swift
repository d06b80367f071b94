// What a server serves: routes, what stands behind them, and what holds for every answer. It turns a refusal into a
// problem document, answers OPTIONS, honours If-None-Match and compresses; the server below it does framing alone.

public import Wire

public final class Site: Sendable {
  public let router: Router
  public let limits: Limits
  public let addresses: Addresses
  /// Asked when no route matches: the static files.
  let fallback: Handler?
  /// Sent with every answer that does not say otherwise.
  let common: Fields
  private let complain: @Sendable (String) -> Void

  public init(
    router: Router, fallback: Handler? = nil, limits: Limits = Limits(), addresses: Addresses = Addresses(),
    common: Fields = Site.securityFields, complain: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.router = router
    self.fallback = fallback
    self.limits = limits
    self.addresses = addresses
    self.common = common
    self.complain = complain
  }

  /// For every answer: no guessing of types, no frames around us, no address of ours in other sites' logs. Pages add
  /// their own content policy; what is no page may do nothing at all.
  public static let securityFields: Fields = [
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  ]

  /// What will answer a request, found by its head alone: the server reads the body under this limit.
  public struct Plan: Sendable {
    public let bodyLimit: Int
    let parameters: PathParameters
    let handler: Handler?
    let refusal: Problem?
  }

  public func plan(_ head: RequestHead) -> Plan {
    if head.target.isAsterisk { return answer(options: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS") }
    switch router.match(head.method, head.target.path) {
    case .route(let route, let parameters):
      return Plan(
        bodyLimit: route.bodyLimit ?? limits.body, parameters: parameters, handler: route.handler, refusal: nil)
    case .otherMethods(let allowed):
      if head.method == .options { return answer(options: allowed) }
      return Plan(
        bodyLimit: limits.body, parameters: PathParameters(), handler: nil, refusal: .methodNotAllowed(allowed))
    case .none:
      guard let fallback else {
        return Plan(bodyLimit: limits.body, parameters: PathParameters(), handler: nil, refusal: .notFound)
      }
      return Plan(bodyLimit: limits.body, parameters: PathParameters(), handler: fallback, refusal: nil)
    }
  }

  private func answer(options allowed: String) -> Plan {
    Plan(
      bodyLimit: limits.body, parameters: PathParameters(),
      handler: { _, _ in Response(.noContent, fields: ["Allow": allowed]) }, refusal: nil)
  }

  /// Answers. Whatever goes wrong becomes an answer too.
  public func respond(_ request: Request, _ context: Context, _ plan: Plan) async -> Response {
    guard let handler = plan.handler else {
      return finish((plan.refusal ?? .notFound).response(id: context.id), request.head)
    }
    var request = request
    request.parameters = plan.parameters
    do {
      return finish(try await handler(request, context), request.head)
    } catch {
      if error.status.code >= 500, let cause = error.cause { complain("\(context.id) \(cause)") }
      return finish(error.response(id: context.id), request.head)
    }
  }

  // MARK: For every answer

  /// Writes the common fields that an answer does not set itself. The server calls it while it writes the head, so that
  /// no answer carries a copy of them.
  public func appendCommon(to output: inout [UInt8], beside fields: Fields) {
    common.append(to: &output, unlessIn: fields)
  }

  private func finish(_ response: Response, _ head: RequestHead) -> Response {
    var response = response
    if case .webSocket = response.body { return response }
    revalidate(&response, head)
    compress(&response, head)
    return response
  }

  /// RFC 9110 §13.1.2: who has the current form is told so.
  private func revalidate(_ response: inout Response, _ head: RequestHead) {
    guard response.status == .ok, head.method == .get || head.method == .head,
      head.fields.has("if-none-match"), let tag = response.fields["etag"].flatMap({ EntityTag(parsing: $0) })
    else { return }
    let conditions = Preconditions(head.method, head.fields, now: 0)
    guard conditions.evaluate(.init(tag: tag)) == .notModified else { return }
    response.status = .notModified
    response.body = .none
    response.fields.remove("content-type")
  }

  private func compress(_ response: inout Response, _ head: RequestHead) {
    guard case .bytes(let bytes) = response.body, bytes.count >= Self.smallestCompressed,
      response.status != .partialContent, !response.fields.has("content-encoding"),
      let type = response.fields["content-type"], ContentType.isCompressible(type)
    else { return }
    response.fields.add("Vary", "Accept-Encoding")
    guard Accept.encodings(head.fields).allowsGzip, let packed = try? Gzip.compress(bytes, level: 5) else { return }
    response.body = .bytes(packed)
    response.fields.add("Content-Encoding", "gzip")
    // The bytes are others now, so a strong tag would lie (RFC 9110 §8.8.1).
    if let tag = response.fields["etag"], !tag.hasPrefix("W/") { response.fields.set("etag", "W/\(tag)") }
  }

  /// Below this, gzip costs more than it saves.
  static let smallestCompressed = 1_024
}
