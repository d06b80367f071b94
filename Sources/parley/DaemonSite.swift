import API
import ParleyJSON
import ParleyWire
import Web

/// What the daemon answers.
enum DaemonSite {
  static func make(
    _ api: API, share: String, limits: Limits, addresses: Addresses, crossOrigins: [WebAddress],
    isDevelopment: Bool = false, complain: @escaping @Sendable (String) -> Void
  ) throws(Problem) -> Site {
    let files = StaticFiles("\(share)/Public")
    let app: AppSite? =
      if let files { try AppSite(share: share, files: files, isDevelopment: isDevelopment) } else { nil }
    let router = Router { routes in
      api.add(to: &routes)
      app?.add(to: &routes)
      routes.on(.get, API.base + "/openapi.json") { request, context throws(Problem) in
        var request = request
        request.head.target = Target(path: "/openapi.json")
        guard let files else { throw .notFound }
        return try await files.answer(request, context)
      }
      routes.on(.get, "/healthz") { _, _ in health }
      routes.on(.get, "/readyz") { _, _ throws(Problem) in
        guard api.community.store.isReady else { throw .unavailable }
        return health
      }
    }
    return Site(
      router: router, fallback: files?.answer, limits: limits, addresses: addresses,
      interface: Interface(base: API.base, crossOrigins: crossOrigins), complain: complain)
  }

  private static var health: Response {
    var json = JSONWriter()
    json.object { json in
      json.field("status", "ok")
      json.field("version", version)
    }
    var response = Response.json(json.bytes)
    response.fields.add("Cache-Control", "no-store")
    return response
  }

  /// Sends people from plain HTTP to the address under TLS: to the public one, else to the same host at our port.
  static func redirect(to addresses: Addresses, port: Int, limits: Limits) -> Site {
    Site(
      router: Router { _ in },
      fallback: { request, context throws(Problem) in
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
        // Where it leads was taken from the request: nobody else may be told so.
        if addresses.publicOrigins.isEmpty { response.fields.add("Cache-Control", "no-store") }
        return response
      }, limits: limits)
  }
}
