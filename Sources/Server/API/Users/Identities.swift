import Community
import OIDC
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listIdentities(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    let accounts = try context.view.listIdentities(page, of: context.api.issuers, for: context.caller)
    return try .page(accounts, context)
  }

  @Sendable static func linkIdentity(_ context: RequestContext) async throws -> Response {
    let (id, back): (String, String) = try await context.body { body in
      (try body.string("issuer"), try body.optional("back") ?? "/")
    }
    let service = context.api.issuers
    let redirect: IssuerRedirect
    do {
      redirect = try await context.community.linkIdentity(
        at: id, origin: context.server.origin, back: PageAddress.ownPath(back), over: service, by: context.caller)
    } catch let fault as OIDCFault {
      if let issuer = service?[id] { context.api.log(fault, at: issuer, context.server) }
      throw Problem.issuerUnreachable
    }
    var response = Response.one(redirect.page, .created)
    if let cookie = Authentication.issuerCookie(redirect.cookie, context.server) {
      response.fields.add("Set-Cookie", cookie)
    }
    return response
  }

  @Sendable static func unlinkIdentity(_ context: RequestContext) async throws -> Response {
    try await context.community.unlinkIdentity(
      try context.id(), over: context.api.issuers, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listUserIdentities(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    let accounts = try context.view.listUserIdentities(
      page, of: try context.reference(), at: context.api.issuers, for: context.caller)
    return try .page(accounts, context)
  }

  @Sendable static func recoverUser(_ context: RequestContext) async throws -> Response {
    let kept: ID<Identity>? = try await context.optionalBody { body in try body.optional("keep_identity") }
    let link = try await context.community.recoverUser(
      try context.reference(), keeping: kept, over: context.api.issuers, by: context.caller)
    return .object(.created) { json in
      guard let link else { return json.null("link") }
      json.object("link") { json in link.writeMembers(to: &json, at: context.server.origin) }
    }
  }

  /// The logout of an issuer, which has no credentials but its signature.
  @Sendable private static func endIssuerSessions(_ context: RequestContext) async throws -> Response {
    guard let service = context.api.issuers, let issuer = context.request.parameters["issuer"].flatMap({ service[$0] })
    else { throw Refusal.notFound }
    var response: Response
    do {
      let bytes = try await context.request.body.collect(limit: maxLogoutBytes)
      guard let form = try? FormPairs(String(decoding: bytes, as: UTF8.self)), let token = form["logout_token"] else {
        throw OIDCFault(.malformed, "no logout_token")
      }
      try await context.community.endSessions(token, at: issuer, over: service)
      response = Response(.ok)
    } catch let fault as OIDCFault {
      context.api.log(fault, at: issuer, context.server)
      // OpenID Connect Back-Channel Logout §2.8.
      response = .object(.badRequest) { json in json.field("error", "invalid_request") }
    }
    response.fields.set("cache-control", "no-store")
    return response
  }

  private static let maxLogoutBytes = SignedToken.maxBytes * 3 / 2

  func addIssuers(to routes: inout Router.Builder) {
    let endpoint = Endpoint(.post, "/oidc/{issuer}/logout", .client, counts: .oauth, Self.endIssuerSessions)
    routes.on(endpoint.method, endpoint.path, bodyLimit: { Self.maxLogoutBytes }, endpoint.handler(of: self))
  }

  /// Logs the reason, which the page has not.
  func log(_ fault: OIDCFault, at issuer: Issuer, _ server: Context) {
    log(
      LogEvent.issuerFailed.line([
        "issuer": issuer.id, "reason": fault.reason.rawValue, "detail": fault.detail,
        "address": server.client.map { "\($0)" } ?? "unix", "request": "\(server.id)",
        "at": Timestamp.format(Int(server.now)),
      ]))
  }
}

extension Problem {
  /// The provider gave no usable answer. The log has the reason.
  static let issuerUnreachable = Problem(
    .serviceUnavailable, code: "issuer_unreachable", title: "The sign-in service can't be reached.")
}

extension Authentication {
  /// The name of the cookie of a sign-in at an issuer.
  static func issuerCookieName(_ server: Context) -> String { cookieName(server) + "-issuer" }

  /// An empty value deletes it.
  static func issuerCookie(_ value: String, _ server: Context) -> String? {
    SetCookie(
      name: issuerCookieName(server), value: value,
      maxAge: value.isEmpty ? 0 : Int(SignInRequest.life / 1_000), isSecure: server.isSecure
    )?.fieldValue
  }
}
