import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func signIn(_ context: RequestContext) async throws -> Response {
    let (name, password, device, wantsCookie) = try await context.body { body in
      (
        try body.string("name"), try body.string("password"),
        try body.optional("device") ?? "", try body.optional("cookie") ?? false
      )
    }
    // Attempts with a session of the same user are not counted: guesses by others can't lock the user out.
    let isCounted = try name.utf8.count <= UserName.maxBytes && !context.view.isSignInName(name, context.caller)
    if isCounted { try context.api.limiter.countGuess(at: name, now: context.server.now) }
    do throws(Refusal) {
      let opened = try await context.community.signIn(name: name, password: password, on: device)
      if isCounted { context.api.limiter.refundGuess(at: name, now: context.server.now) }
      return context.signedIn(opened, wantsCookie: wantsCookie)
    } catch {
      if isCounted, error != .unauthenticated { context.api.limiter.refundGuess(at: name, now: context.server.now) }
      throw error
    }
  }

  @Sendable static func listSessions(_ context: RequestContext) async throws -> Response {
    try context.sessions(.session)
  }

  @Sendable static func revokeSession(_ context: RequestContext) async throws -> Response {
    let isCurrent = context.request.parameters["id"] == "current"
    let session: ID<Session>? = isCurrent ? nil : try context.id()
    try await context.community.revokeSession(session, by: context.caller)
    var response = Response(.noContent)
    if isCurrent, let cookie = context.cookie(holding: "", maxAge: 0) { response.fields.add("Set-Cookie", cookie) }
    return response
  }

  @Sendable static func changePassword(_ context: RequestContext) async throws -> Response {
    let (old, new) = try await context.body { body in (try body.string("old_password"), try body.string("password")) }
    try await context.community.changePassword(from: old, to: new, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func createToken(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try TokenDraft(&body) }
    let made = try await context.community.createToken(draft, by: context.caller)
    return .object(made.secret == nil ? .ok : .created) { json in
      made.session.writeMembers(to: &json)
      if let secret = made.secret { json.field("token", secret) }
    }
  }

  @Sendable static func listTokens(_ context: RequestContext) async throws -> Response {
    try context.sessions(.token)
  }

  @Sendable static func revokeToken(_ context: RequestContext) async throws -> Response {
    try await context.community.revokeToken(try context.id(), by: context.caller)
    return Response(.noContent)
  }
}

extension RequestContext {
  /// The response to a sign-in: the token for programs, an `HttpOnly` cookie for browsers.
  func signedIn(_ opened: OpenedSession, wantsCookie: Bool, _ status: Status = .created) -> Response {
    var response = Response.object(status) { json in
      json.field("id", opened.id)
      if !wantsCookie { json.field("token", opened.token) }
      json.field("user", opened.user)
    }
    guard wantsCookie else { return response }
    if let cookie = cookie(holding: opened.token, maxAge: Authentication.cookieAge) {
      response.fields.add("Set-Cookie", cookie)
    }
    return response
  }

  fileprivate func cookie(holding token: String, maxAge: Int) -> String? {
    SetCookie(
      name: Authentication.cookieName(server), value: token, maxAge: maxAge, isSecure: server.isSecure)?.fieldValue
  }

  fileprivate func sessions(_ kind: Session.Kind) throws -> Response {
    let (limit, next): (Int, ID<Session>?) = try query { query in (try query.limit(), try query.id("next")) }
    let found = try view.sessions(kind, before: next, limit: limit, for: caller)
    return .page(found, limit: limit) { $0.id.description }
  }
}
