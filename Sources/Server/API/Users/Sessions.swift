package import Community
import ParleyJSON
package import ParleyModel
import ParleyWire
package import Web

extension API {
  @Sendable static func signIn(_ context: RequestContext) async throws -> Response {
    let (name, password, device, wantsCookie) = try await context.body { body in
      (
        try body.string("name"), try body.string("password"),
        try body.optional("device") ?? "", try body.optional("cookie") ?? false
      )
    }
    try context.requireOwnOrigin(ifSettingCookie: wantsCookie)
    let opened = try await context.signIn(name: name, password: password, on: device)
    return try context.signedIn(opened, wantsCookie: wantsCookie)
  }

  @Sendable static func confirmSignIn(_ context: RequestContext) async throws -> Response {
    let (challenge, code, device, wantsCookie) = try await context.body { body in
      (
        try body.string("challenge"), try body.string("code"), try body.optional("device") ?? "",
        try body.optional("cookie") ?? false
      )
    }
    try context.requireOwnOrigin(ifSettingCookie: wantsCookie)
    guard let user = try context.view.user(challengedBy: challenge) else {
      throw Refusal.invalid("challenge", .unknown)
    }
    let opened = try await context.loggingFailures(.code, isKnown: { true }) {
      try await context.counting([try context.codeGuess(of: user)]) { () async throws(Refusal) in
        try await context.community.confirmSignIn(challenge, code: code, on: device, from: context.origin)
      }
    }
    return try context.signedIn(opened, wantsCookie: wantsCookie)
  }

  @Sendable static func proveSession(_ context: RequestContext) async throws -> Response {
    let proof = try await context.body { body in try SessionProof(&body) }
    let password: String
    let code: String?
    switch proof {
    case .passkey(let answer):
      try await context.proveSession(with: answer)
      return Response(.noContent)
    case .password(let given, let codeGiven): (password, code) = (given, codeGiven)
    }
    try await context.proveSession(password: password, code: code)
    return Response(.noContent)
  }

  @Sendable static func listSessions(_ context: RequestContext) async throws -> Response {
    try context.sessions(.session)
  }

  @Sendable static func revokeSession(_ context: RequestContext) async throws -> Response {
    let isCurrent = context.request.parameters["id"] == "current"
    let isForeign = try context.query { query in try query.flag("foreign") } ?? false
    guard !isCurrent || !isForeign else { throw Refusal.invalid("foreign", .mismatch) }
    let session: ID<Session>? = isCurrent ? nil : try context.id()
    var response = Response(.noContent)
    if isForeign, let session {
      let device = try await context.community.revokeForeignSession(
        session, cookie: context.deviceCookie, by: context.caller)
      if let device { context.addDeviceCookie(device, to: &response) }
      return response
    }
    try await context.community.revokeSession(session, by: context.caller)
    if isCurrent { context.dropCookie(in: &response) }
    return response
  }

  @Sendable static func revokeOtherSessions(_ context: RequestContext) async throws -> Response {
    try await context.community.revokeOtherSessions(by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listSignIns(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listSignIns(page, for: context.caller), context)
  }

  @Sendable static func changePassword(_ context: RequestContext) async throws -> Response {
    let (old, new, keepsTokens) = try await context.body { body in
      (
        try body.string("old_password"), try body.string("password"),
        try body.optional("keep_tokens") ?? false
      )
    }
    let device = try await context.counting(
      try context.passwordGuess(), isWrong: { $0.isWrongPassword("old_password") }
    ) { () async throws(Refusal) in
      try await context.community.changePassword(
        from: old, to: new, keepsTokens: keepsTokens, cookie: context.deviceCookie, by: context.caller)
    }
    var response = Response(.noContent)
    if let device { context.addDeviceCookie(device, to: &response) }
    return response
  }

  @Sendable static func createToken(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try TokenDraft(&body) }
    let guesses = draft.password == nil ? [] : try context.passwordGuess()
    let made = try await context.counting(guesses, isWrong: { $0.isWrongPassword() }) { () async throws(Refusal) in
      try await context.community.createToken(draft, by: context.caller)
    }
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
  var deviceCookie: String? { Cookies(request.fields)[Authentication.deviceCookieName(server)] }

  /// Signs in with a name and a password, which count as a guess if they are wrong.
  ///
  /// - Parameter reactivates: whether a deactivated user is reactivated; otherwise they are refused.
  package func signIn(
    name: String, password: String, on device: String, reactivates: Bool = true
  ) async throws -> OpenedSession {
    try await loggingFailures(.password, isKnown: { try view.isKnown(name) }) {
      try await counting(
        try guesses(at: name), isWrong: { $0 == .wrongCredentials }
      ) { () async throws(Refusal) in
        try await community.signIn(
          name: name, password: password, on: device, from: origin, reactivates: reactivates)
      }
    }
  }

  fileprivate enum SignInStep: String { case password, code }

  /// Logs a failed step of a sign-in, with the whole address: tools such as fail2ban read it. The log has no user names.
  fileprivate func loggingFailures<Value>(
    _ step: SignInStep, isKnown: () throws -> Bool, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await body()
    } catch {
      let reason: String? =
        switch error {
        case Refusal.wrongCredentials, Refusal.invalid: step.rawValue
        case let problem as Problem where problem.status == .tooManyRequests: "limit"
        default: nil
        }
      if let reason {
        let isKnown = (try? isKnown()) ?? false
        api.log(
          LogEvent.signInFailed.line([
            "address": server.client.map { "\($0)" } ?? "unix", "known": isKnown ? "yes" : "no", "reason": reason,
            "at": Timestamp.format(Int(server.now)),
          ]))
      }
      throw error
    }
  }

  /// The buckets of a password attempt. A session or a device of the same user has its own: guesses by others can't lock the
  /// user out.
  fileprivate func guesses(at name: String) throws -> [RateLimiter.Guess] {
    guard name.utf8.count <= UserName.maxBytes else { return [] }
    if try view.isSignInName(name, caller) { return try passwordGuess() }
    if let device = try deviceCookie.flatMap({ try view.device(ofCookie: $0, for: name) }) {
      return [.onDevice(device)]
    }
    return RateLimiter.Guess.at(name, by: server.client)
  }

  /// The bucket of a code. A device on which the user passed the second step before has its own.
  fileprivate func codeGuess(of user: ID<User>) throws -> RateLimiter.Guess {
    let device = try deviceCookie.flatMap { try view.device(ofCookie: $0, withFactorOf: user) }
    return device.map { .onDevice($0) } ?? .code(user)
  }

  /// The bucket of the caller's own password. The tokens of a user share one, because a token can create more.
  func passwordGuess() throws -> [RateLimiter.Guess] {
    guard let user = caller.user, let session = caller.session else { return [] }
    return [try view.isToken(caller) ? .byTokens(of: user) : .inSession(session)]
  }

  /// Counts a guess that turns out to be wrong, by default one with an invalid field. It is counted before, so that
  /// parallel guesses do not pass.
  func counting<Value>(
    _ guesses: [RateLimiter.Guess], isWrong: (Refusal) -> Bool = { if case .invalid = $0 { true } else { false } },
    _ body: () async throws(Refusal) -> Value
  ) async throws -> Value {
    try api.limiter.count(guesses, now: server.uptime)
    do throws(Refusal) {
      let value = try await body()
      api.limiter.refund(guesses, now: server.uptime)
      return value
    } catch {
      if !isWrong(error) { api.limiter.refund(guesses, now: server.uptime) }
      throw error
    }
  }

  /// Proves that the session is the user's. Wrong passwords and codes count as guesses.
  func proveSession(password: String, code: String?) async throws {
    try await countingProof(with: code) {
      try await counting(try passwordGuess()) { () async throws(Refusal) in
        try await community.proveSession(password: password, code: code, by: caller)
      }
    }
  }

  /// Counts the code of a proof as a guess, if it turns out to be wrong.
  fileprivate func countingProof(with code: String?, _ body: () async throws -> Void) async throws {
    guard code != nil, let user = caller.user else { return try await body() }
    try api.limiter.count([.proofCode(user)], now: server.uptime)
    do { try await body() } catch {
      if (error as? Refusal)?.isWrongCode != true { api.limiter.refund([.proofCode(user)], now: server.uptime) }
      throw error
    }
    api.limiter.refund([.proofCode(user)], now: server.uptime)
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
    if wantsCookie { try addCookies(of: opened, to: &response) }
    return response
  }

  /// The cookies of the session and of the device.
  package func addCookies(of opened: OpenedSession, to response: inout Response) throws(Refusal) {
    let device = try view.deviceCookie(for: opened)
    if let cookie = cookie(holding: opened.token, maxAge: Authentication.cookieAge) {
      response.fields.add("Set-Cookie", cookie)
    }
    addDeviceCookie(device, to: &response)
  }

  fileprivate func addDeviceCookie(_ device: String, to response: inout Response) {
    let name = Authentication.deviceCookieName(server)
    guard let cookie = cookie(name, holding: device, maxAge: Authentication.cookieAge) else { return }
    response.fields.add("Set-Cookie", cookie)
  }

  /// Makes the browser drop the session cookie.
  package func dropCookie(in response: inout Response) {
    if let cookie = cookie(holding: "", maxAge: 0) { response.fields.add("Set-Cookie", cookie) }
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

extension Refusal {
  /// Whether a code was given and is wrong.
  fileprivate var isWrongCode: Bool {
    guard case .invalid(let faults) = self else { return false }
    return faults.contains { $0.field == "code" }
  }

  /// Whether the password in this field is wrong.
  func isWrongPassword(_ field: String = "password") -> Bool {
    guard case .invalid(let faults) = self else { return false }
    return faults.contains(FieldFault(field: field, code: .invalid))
  }
}
