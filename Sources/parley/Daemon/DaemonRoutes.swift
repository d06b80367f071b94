import API
import Dialects
import ParleyJSON
import ParleyWire
import Web

/// The daemon's routes: API, web app, /healthz, /readyz and /metrics.
enum DaemonRoutes {
  static func make(
    _ api: API, share: String, limits: Limits, addresses: Addresses, crossOrigins: [WebAddress],
    isDevelopment: Bool = false, dialects: Dialects? = nil, metrics: Metrics? = nil, probes: DoctorProbes? = nil,
    log: @escaping @Sendable (String) -> Void
  ) -> Application {
    let files = StaticFiles("\(share)/Public")
    let app: WebAppRoutes? =
      if let files { WebAppRoutes(share: share, files: files, isDevelopment: isDevelopment, log: log) } else { nil }
    let router = Router { routes in
      api.add(to: &routes)
      app?.add(to: &routes, api)
      for path in ["/openapi.json", "/asyncapi.json"] {
        routes.on(.get, API.base + path) { request, context throws(Problem) in
          guard let files else { throw .notFound }
          return try await files.respond(request.with(path: path), context)
        }
      }
      probes?.add(to: &routes)
      dialects?.add(to: &routes)
      if let metrics { api.addMetrics(to: &routes) { await metrics.response() } }
      routes.on(.get, "/.well-known/webauthn") { _, context throws(Problem) in try relatedOrigins(context) }
      routes.on(.get, "/healthz") { _, _ in health }
      routes.on(.get, "/readyz") { _, _ throws(Problem) in
        try api.checkReadiness()
        return health
      }
    }
    return Application(
      router: router, fallback: files.map(openLibrary), limits: limits, addresses: addresses,
      apiPolicy: APIPolicy(base: API.base, crossOrigins: crossOrigins), log: log)
  }

  private static let library = "/js/parley/"

  /// Pages of every origin may import the JavaScript library: it is public and takes no credentials.
  private static func openLibrary(_ files: StaticFiles) -> Handler {
    { request, context throws(Problem) in
      var response = try await files.respond(request, context)
      if request.path.hasPrefix(library) {
        response.fields.add("Access-Control-Allow-Origin", "*")
        response.fields.add("Cross-Origin-Resource-Policy", "cross-origin")
      }
      return response
    }
  }

  /// WebAuthn level 3 §5.11: the other origins that may use the passkeys of the main one.
  private static func relatedOrigins(_ context: Context) throws(Problem) -> Response {
    let origins = context.ownOrigins
    guard origins.count > 1 else { throw .notFound }
    var json = JSONWriter()
    json.object { json in json.field("origins", origins) }
    return .json(json.bytes)
  }

  private static let healthJSON: [UInt8] = {
    var json = JSONWriter()
    json.object { json in
      json.field("status", "ok")
      json.field("version", version)
    }
    return json.bytes
  }()

  private static var health: Response {
    var response = Response.json(healthJSON)
    response.fields.add("Cache-Control", "no-store")
    return response
  }

  /// Redirects plain HTTP to the public HTTPS origin, or to the TLS port of the requested host. Challenges of a certificate
  /// authority are answered.
  static func redirect(
    to addresses: Addresses, port: Int, challenges: ChallengeAnswers = ChallengeAnswers(), limits: Limits
  ) -> Application {
    Application(
      router: Router { _ in },
      fallback: { request, context throws(Problem) in
        if request.head.method == .get, let answer = challenges.answer(path: request.path) {
          var response = Response(.ok, Array(answer.utf8), type: .bytes)
          response.fields.add("Cache-Control", "no-store")
          return response
        }
        let origin: String
        if let known = addresses.publicOrigins.first(where: { $0.scheme == .https }) {
          origin = known.origin
        } else {
          guard let asked = WebAddress(context.origin) else { throw Problem.notFound }
          origin = "https://\(asked.host)" + (port == 443 ? "" : ":\(port)")
        }
        let target = request.head.target
        var response = Response.redirect(
          .permanentRedirect, to: origin + target.path + (target.query.map { "?\($0)" } ?? ""))
        // The target depends on the Host field, so caches must not share it.
        if addresses.publicOrigins.isEmpty { response.fields.add("Cache-Control", "no-store") }
        return response
      }, limits: limits)
  }
}
