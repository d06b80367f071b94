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
    try context.requireOwnOrigin(ifSettingCookie: wantsCookie)
    let guess = try context.guess(at: name)
    if let guess { try context.api.limiter.count(guess, now: context.server.uptime) }
    let opened: OpenedSession
    do throws(Refusal) {
      opened = try await context.community.signIn(name: name, password: password, on: device)
    } catch {
      if let guess, error != .wrongCredentials { context.api.limiter.refund(guess, now: context.server.uptime) }
      throw error
    }
    if let guess { context.api.limiter.refund(guess, now: context.server.uptime) }
    return try context.signedIn(opened, wantsCookie: wantsCookie)
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
    let (old, new, keepsTokens) = try await context.body { body in
      (
        try body.string("old_password"), try body.string("password"),
        try body.optional("keep_tokens") ?? false
      )
    }
    try await context.community.changePassword(from: old, to: new, keepsTokens: keepsTokens, by: context.caller)
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
  /// The bucket of a password attempt. Nil with a session of the same user: guesses by others can't lock the user out.
  fileprivate func guess(at name: String) throws -> RateLimiter.Guess? {
    guard try name.utf8.count <= UserName.maxBytes && !view.isSignInName(name, caller) else { return nil }
    let mark = Cookies(request.fields)[Authentication.deviceCookieName(server)]
    if let device = try mark.flatMap({ try view.device(markedBy: $0, for: name) }) { return .onDevice(device) }
    return .at(name, by: server.client)
  }

  /// A page of another origin must not sign its visitor in (login CSRF).
  func requireOwnOrigin(ifSettingCookie setsCookie: Bool) throws(Problem) {
    if setsCookie { try Authentication.requireOwnOrigin(request, server, api) }
  }

  /// The response to a sign-in: the token for programs, an `HttpOnly` cookie for browsers.
  func signedIn(_ opened: OpenedSession, wantsCookie: Bool, _ status: Status = .created) throws -> Response {
    var response = Response.object(status) { json in
      json.field("id", opened.id)
      if !wantsCookie { json.field("token", opened.token) }
      json.field("user", opened.user)
    }
    guard wantsCookie else { return response }
    let mark = try view.deviceMark(for: opened.user.summary.id)
    for cookie in [
      cookie(holding: opened.token, maxAge: Authentication.cookieAge),
      cookie(Authentication.deviceCookieName(server), holding: mark, maxAge: Authentication.cookieAge),
    ] {
      if let cookie { response.fields.add("Set-Cookie", cookie) }
    }
    return response
  }

  fileprivate func cookie(_ name: String? = nil, holding value: String, maxAge: Int) -> String? {
    SetCookie(
      name: name ?? Authentication.cookieName(server), value: value, maxAge: maxAge, isSecure: server.isSecure
    )?.fieldValue
  }

  fileprivate func sessions(_ kind: Session.Kind) throws -> Response {
    let page = try query { query in try query.page() }
    return try .page(try view.sessions(kind, page, for: caller), self)
  }
}
