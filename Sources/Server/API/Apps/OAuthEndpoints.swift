// The endpoints of OAuth at the root, for apps. They authenticate by credentials of their own and take no cookie, so pages of
// any origin may call them (CORS). Their errors have the form of RFC 6749 §5.2.

import Community
import OAuth
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  static let oauthEndpoints: [Endpoint] = [
    Endpoint(.get, ServerMetadata.path, .client, getServerMetadata),
    Endpoint(.post, "/oauth/token", .client, counts: .oauth, issueTokens),
    Endpoint(.post, "/oauth/revoke", .client, counts: .oauth, revokeAppToken),
    Endpoint(.post, "/oauth/introspect", .client, counts: .oauth, introspectToken),
    Endpoint(.post, "/oauth/register", .client, counts: .registeringApps, registerApp),
  ]

  func addOAuth(to routes: inout Router.Builder) {
    for endpoint in Self.oauthEndpoints {
      routes.on(
        endpoint.method, endpoint.path, bodyLimit: { OAuthParameters.maxFormBytes }, endpoint.oauthHandler(of: self))
    }
  }

  @Sendable private static func getServerMetadata(_ context: RequestContext) async throws -> Response {
    let state = try context.view.oauthState()
    guard state.isOn else { throw Refusal.notFound }
    return .one(ServerMetadata(issuer: context.server.issuer, hasRegistration: state.hasRegistration))
  }

  @Sendable private static func issueTokens(_ context: RequestContext) async throws -> Response {
    let (parameters, client) = try await context.clientRequest()
    switch try await context.community.issueTokens(try TokenRequest(parameters), for: client) {
    case .issued(let tokens):
      return .object { json in
        json.field("access_token", tokens.accessToken)
        json.field("token_type", "Bearer")
        json.field("expires_in", tokens.expiresIn)
        json.field("refresh_token", tokens.refreshToken)
        json.field("scope", tokens.scope.description)
      }
    case .refused(let error): throw error
    case .reused(let app, let error):
      let address = context.server.client.map { "\($0)" } ?? "unix"
      context.api.log(
        LogEvent.tokenReused.line([
          "app": "\(app)", "address": address, "at": Timestamp.format(Int(context.server.now)),
        ]))
      throw error
    }
  }

  @Sendable private static func revokeAppToken(_ context: RequestContext) async throws -> Response {
    let (parameters, client) = try await context.clientRequest()
    if let error = try await context.community.revokeAppToken(try parameters.require("token"), for: client) {
      throw error
    }
    return Response(.ok)
  }

  @Sendable private static func introspectToken(_ context: RequestContext) async throws -> Response {
    let (parameters, client) = try await context.clientRequest()
    let facts = try context.view.introspect(try parameters.require("token"), for: client).get()
    let issuer = context.server.issuer
    return .object { json in
      json.field("active", facts != nil)
      guard let facts else { return }
      json.field("scope", facts.scope.description)
      json.field("client_id", facts.app)
      json.field("sub", facts.user)
      if let name = facts.userName { json.field("username", name) }
      json.field("iss", issuer)
      if let issuedAt = facts.issuedAt, let expiresAt = facts.expiresAt {
        json.field("token_type", "Bearer")
        json.field("iat", issuedAt)
        json.field("exp", expiresAt)
      }
    }
  }

  @Sendable private static func registerApp(_ context: RequestContext) async throws -> Response {
    guard try context.view.oauthState().hasRegistration else { throw Refusal.notFound }
    guard context.request.fields["content-type"].flatMap({ MediaType($0) })?.isJSON == true else {
      throw OAuthError(.invalidClientMetadata, "The body has to be JSON.")
    }
    let bytes = try await context.request.body.collect(limit: OAuthParameters.maxFormBytes)
    let metadata = try registration(bytes)
    let draft = AppDraft(
      name: metadata.name, website: metadata.website, redirectURIs: metadata.redirectURIs,
      isConfidential: metadata.isConfidential)
    let created = try await register(draft, in: context.community)
    return .object(.created) { json in
      json.field("client_id", created.app.id)
      json.field("client_id_issued_at", Int(created.app.createdAt / 1_000))
      if let secret = created.secret {
        json.field("client_secret", secret)
        json.field("client_secret_expires_at", 0)
      }
      json.field("client_name", created.app.name)
      if let website = created.app.website { json.field("client_uri", website) }
      json.field("redirect_uris", created.app.redirectURIs)
      json.field("token_endpoint_auth_method", metadata.authMethod)
      json.field("grant_types", ["authorization_code", "refresh_token"])
      json.field("response_types", ["code"])
      json.field("scope", OAuthScope(created.app.scope).description)
    }
  }
}

extension API {
  private static func registration(_ bytes: [UInt8]) throws(OAuthError) -> ClientMetadata {
    guard let json = try? JSONValue(parsing: bytes) else {
      throw OAuthError(.invalidClientMetadata, "The body has to be JSON.")
    }
    return try ClientMetadata(json: json)
  }

  private static func register(_ draft: AppDraft, in community: Community) async throws -> CreatedApp {
    do throws(Refusal) { return try await community.registerApp(draft) } catch {
      if case .tooMany = error {
        throw OAuthError(.temporarilyUnavailable, "Too many apps have registered themselves.")
      }
      guard case .invalid(let faults) = error else { throw error }
      let isURI = faults.contains { $0.field.hasPrefix("redirect_uris") }
      let fields = faults.map(\.field).joined(separator: ", ")
      throw OAuthError(isURI ? .invalidRedirectURI : .invalidClientMetadata, "Not valid: \(fields).")
    }
  }
}

extension Context {
  /// The identifier of the site as an issuer (RFC 8414 §2).
  var issuer: String { publicOrigin ?? origin }
}

extension RequestContext {
  /// The parameters of a form, and the client that sends it.
  fileprivate func clientRequest() async throws -> (OAuthParameters, ClientCredentials) {
    guard try view.oauthState().isOn else { throw Refusal.notFound }
    let type = request.fields["content-type"].flatMap { MediaType($0) }
    guard type?.essence == "application/x-www-form-urlencoded" else {
      throw OAuthError(.invalidRequest, "The body has to be a form.")
    }
    let bytes = try await request.body.collect(limit: OAuthParameters.maxFormBytes)
    let parameters = try OAuthParameters(String(decoding: bytes, as: UTF8.self))
    return (parameters, try ClientCredentials(authorization: request.fields["authorization"], parameters))
  }
}

extension Endpoint {
  /// The handler of an endpoint for apps.
  fileprivate func oauthHandler(of api: API) -> Handler {
    { request, server throws(Problem) in
      var caller = Caller.visitor(network: server.networkHash)
      var response: Response
      do {
        let context = try RequestContext(request, server, api, for: self, &caller)
        // Parameters of a query would be in logs.
        try context.requireNoStrayQuery()
        response = try await answer(context)
      } catch let error as OAuthError {
        response = .refused(error, isBasic: request.fields.has("authorization"))
      } catch {
        let problem = Problem(error)
        if problem.status == .notFound || problem.closesConnection { throw problem }
        response = .refused(problem)
      }
      response.fields.set("cache-control", "no-store")
      response.fields.add("Access-Control-Allow-Origin", "*")
      return response
    }
  }
}

extension Response {
  fileprivate static func refused(_ error: OAuthError, isBasic: Bool) -> Response {
    var response = Response.one(error, error.status)
    if error.code == .invalidClient, isBasic { response.fields.add("WWW-Authenticate", "Basic realm=\"Parley\"") }
    return response
  }

  /// A problem of the server or a rate limit, as an error of the protocol.
  fileprivate static func refused(_ problem: Problem) -> Response {
    let isFault = problem.status.code >= 500 || problem.status == .tooManyRequests
    let error =
      isFault
      ? OAuthError(.temporarilyUnavailable, problem.title)
      : OAuthError(.invalidRequest, problem.detail ?? problem.title)
    var response = Response.one(error, isFault ? problem.status : error.status)
    for index in 0..<problem.fields.count {
      response.fields.add(problem.fields.name(at: index), problem.fields.value(at: index))
    }
    return response
  }
}
