import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func signIn(_ call: Call) async throws -> Response {
    let (name, password, device, wantsCookie) = try await call.body { body in
      (
        try body.string("username"), try body.string("password"),
        try body.optional("device") ?? "", try body.optional("cookie") ?? false
      )
    }
    // Who comes with a session of theirs is let in however many others guess.
    let isCounted = try name.utf8.count <= AccountName.mostBytes && !call.view.isCalled(name, call.caller)
    if isCounted { try call.api.limiter.countGuess(at: name, now: call.context.now) }
    do throws(Refusal) {
      let opened = try await call.community.signIn(name: name, password: password, on: device)
      if isCounted { call.api.limiter.giveBackGuess(at: name, now: call.context.now) }
      return call.signedIn(opened, wantsCookie: wantsCookie)
    } catch {
      if isCounted, error != .unauthenticated { call.api.limiter.giveBackGuess(at: name, now: call.context.now) }
      throw error
    }
  }

  @Sendable static func listSessions(_ call: Call) async throws -> Response {
    try call.sessions(.session)
  }

  @Sendable static func endSession(_ call: Call) async throws -> Response {
    let isCurrent = call.request.parameters["id"] == "current"
    let session: ID<Session>? = isCurrent ? nil : try call.id()
    try await call.community.end(session, by: call.caller)
    var response = Response(.noContent)
    if isCurrent, let cookie = call.cookie(holding: "", maxAge: 0) { response.fields.add("Set-Cookie", cookie) }
    return response
  }

  @Sendable static func changePassword(_ call: Call) async throws -> Response {
    let (old, new) = try await call.body { body in (try body.string("old_password"), try body.string("password")) }
    try await call.community.changePassword(from: old, to: new, by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func makeToken(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try TokenDraft(&body) }
    let made = try await call.community.makeToken(draft, by: call.caller)
    return .object(made.secret == nil ? .ok : .created) { json in
      made.session.writeMembers(to: &json)
      if let secret = made.secret { json.field("token", secret) }
    }
  }

  @Sendable static func listTokens(_ call: Call) async throws -> Response {
    try call.sessions(.token)
  }

  @Sendable static func endToken(_ call: Call) async throws -> Response {
    try await call.community.endToken(try call.id(), by: call.caller)
    return Response(.noContent)
  }
}

extension Call {
  /// Somebody is in: a program gets the token, a browser a cookie that its pages can't read.
  func signedIn(_ opened: OpenedSession, wantsCookie: Bool, _ status: Status = .created) -> Response {
    var response = Response.object(status) { json in
      json.field("id", opened.id)
      if !wantsCookie { json.field("token", opened.token) }
      json.field("user", opened.person)
    }
    guard wantsCookie else { return response }
    if let cookie = cookie(holding: opened.token, maxAge: Authentication.cookieAge) {
      response.fields.add("Set-Cookie", cookie)
    }
    return response
  }

  fileprivate func cookie(holding token: String, maxAge: Int) -> String? {
    SetCookie(
      name: Authentication.cookieName(context), value: token, maxAge: maxAge, isSecure: context.isSecure)?.fieldValue
  }

  fileprivate func sessions(_ kind: Session.Kind) throws -> Response {
    let (limit, next): (Int, ID<Session>?) = try query { query in (try query.limit(), try query.id("next")) }
    let found = try view.sessions(kind, before: next, limit: limit, for: caller)
    return .page(found, limit: limit) { $0.id.description }
  }
}
