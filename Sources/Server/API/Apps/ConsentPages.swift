// The page on which a user lets an app act for them. It works without a script. It can't be framed; its form has a token of
// the session and of the request. Until the app and its redirect URI are known to belong together, nothing is redirected.

import Community
import OAuth
import ParleyModel
import ParleyWire
import Web

extension PageContext {
  /// The first request: the app sends the user's browser here.
  func consentPage() async throws -> Response {
    try await answerAuthorization(of: request.head.target.query ?? "") { pending, context, query in
      respond(pending, try view.consentToken(for: context.caller, query), query)
    }
  }

  /// The answer of the user.
  func answerConsent() async throws -> Response {
    let bytes = try await request.body.collect()
    let form: FormPairs
    do throws(FormPairs.Refusal) { form = try FormPairs(String(decoding: bytes, as: UTF8.self)) } catch {
      throw Problem.badRequest("The body is no form.")
    }
    let query = form["request"] ?? ""
    return try await answerAuthorization(of: query) { pending, context, query in
      guard try view.isConsentToken(form["token"] ?? "", for: context.caller, query) else {
        // An old page, or one of another session: the user sees the present one.
        return .redirect(.seeOther, to: Self.authorize(query))
      }
      let request = pending.request
      guard form["decision"] == "allow" else {
        return leave(request.redirectURI, request.state, OAuthError(.accessDenied, "The user has not allowed the app."))
      }
      do {
        if pending.proof != nil {
          guard let password = form["password"] else {
            // The proof of the shown page has ended meanwhile.
            return respond(pending, try view.consentToken(for: context.caller, query), query)
          }
          try api.limiter.count(.login, by: context.caller, at: server.client, now: server.uptime)
          let code = form["code"].flatMap { $0.isEmpty ? nil : $0 }
          try await context.proveSession(password: password, code: code)
        }
        let code = try await api.community.authorizeApp(pending.app.id, request, by: context.caller)
        return leave(to: request.accepted(code: code, issuer: server.issuer))
      } catch {
        let fault: PageText.Key
        switch Problem(error).code {
        case "invalid", "unknown_field", "step_up_required": fault = .consentWrong
        case "rate_limited": fault = .consentLimit
        default: throw error
        }
        let token = try view.consentToken(for: context.caller, query)
        return respond(pending, token, query, fault: fault)
      }
    }
  }

  // MARK: The request

  private typealias Answer = (PendingAuthorization, RequestContext, _ query: String) async throws -> Response

  /// Checks a request and answers it, or leads the user to sign in.
  private func answerAuthorization(of query: String, _ answer: Answer) async throws -> Response {
    guard try view.oauthState().isOn else { throw Refusal.notFound }
    guard query.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { throw Problem.badRequest("The query can't be read.") }
    let requesting: RequestingApp
    switch requestingApp(query) {
    case .success(let known): requesting = known
    case .failure(let error): return respond(failure: error.description)
    }
    let app = requesting.app
    let state = try? AuthorizationRequest.state(of: requesting.parameters)
    let authorization: AuthorizationRequest
    switch requesting.authorization {
    case .success(let read): authorization = read
    case .failure(let error):
      // Without a click only to an address that an owner vouches for (RFC 9700 §4.11.2).
      guard app.isVerified else { return respond(failure: error.description) }
      return leave(requesting.uri, state, error)
    }
    guard let context = try signedInContext() else {
      var response = Response.redirect(.seeOther, to: PageAddress.signIn(back: Self.authorize(query)))
      response.fields.add("Cache-Control", "no-store")
      return response
    }
    guard let pending = try pendingAuthorization(authorization, of: app, context) else {
      // A redirect would tell the app which forums the user sees.
      return respond(failure: words[.consentForums])
    }
    return try await answer(pending, context, query)
  }

  /// The app of a request. Without an enabled one there is no address for an answer.
  private struct RequestingApp {
    let parameters: OAuthParameters
    let app: App
    let uri: RedirectURI

    var authorization: Result<AuthorizationRequest, OAuthError> {
      do throws(OAuthError) {
        let request = try AuthorizationRequest(parameters, redirectURI: uri)
        guard request.scope.scope <= app.scope else {
          throw OAuthError(.invalidScope, "The app may not ask for this scope.")
        }
        return .success(request)
      } catch {
        return .failure(error)
      }
    }
  }

  private func requestingApp(_ query: String) -> Result<RequestingApp, OAuthError> {
    do throws(OAuthError) {
      let parameters = try OAuthParameters(query)
      guard let app = try knownApp(parameters["client_id"]) else {
        throw OAuthError(.invalidClient, words[.consentUnknown])
      }
      let uri = try RedirectURI.requested(parameters["redirect_uri"], of: app.redirects)
      return .success(RequestingApp(parameters: parameters, app: app, uri: uri))
    } catch {
      return .failure(error)
    }
  }

  /// The request of a signed-in user; nil for a visitor.
  private func signedInContext() throws -> RequestContext? {
    var caller = Caller.visitor(network: server.networkHash)
    do {
      let context = try RequestContext(request, server, api, for: Self.endpoint(request.method), &caller)
      return context.caller.user == nil ? nil : context
    } catch Refusal.unauthenticated {
      return nil
    } catch Refusal.sessionEnded {
      return nil
    }
  }

  /// Nil if the request names forums that the user may not see.
  private func pendingAuthorization(
    _ request: AuthorizationRequest, of app: App, _ context: RequestContext
  ) throws(Refusal) -> PendingAuthorization? {
    do throws(Refusal) { return try view.pendingAuthorization(request, of: app, for: context.caller) } catch {
      guard case .invalid = error else { throw error }
      return nil
    }
  }

  /// A fault of the database is no error of the request.
  private func knownApp(_ client: String?) throws(OAuthError) -> App? {
    do throws(Refusal) { return try view.enabledApp(client) } catch {
      throw OAuthError(.temporarilyUnavailable, "The server can't answer now. Try again.")
    }
  }

  private static func endpoint(_ method: Method) -> Endpoint {
    Endpoint(method, "/oauth/authorize", .anyone) { _ in Response(.noContent) }
  }

  private static func authorize(_ query: String) -> String { "/oauth/authorize?\(query)" }

  private func leave(_ uri: RedirectURI, _ state: String?, _ error: OAuthError) -> Response {
    leave(to: uri.refused(error, state: state, issuer: server.issuer))
  }

  private func leave(to address: String) -> Response {
    var response = Response.redirect(.seeOther, to: address)
    response.fields.add("Cache-Control", "no-store")
    return response
  }

  // MARK: The pages

  private func respond(failure text: String) -> Response {
    var page = VisitorPage([words[.consentFailed]]) { html in
      html.tag("h1", [:], html.words[.consentFailed])
      html.tag("p", [:], text)
    }
    page.hasNavigation = false
    page.status = .badRequest
    return respond(privately: page)
  }

  private func respond(
    _ pending: PendingAuthorization, _ token: String, _ query: String, fault: PageText.Key? = nil
  ) -> Response {
    let name = pending.app.name
    let title = words.said(.consentTitle, ["app": name, "site": site.name], count: nil)
    // A page of the issuer proves the session, and leads back.
    let provers = (api.issuers?.issuers ?? []).filter { pending.proof?.issuers.contains($0.url) == true }
    let back = Percent.encode(Self.authorize(query))
    var page = VisitorPage([title]) { html in
      html.tag("h1", [:], title)
      Self.writeFacts(about: pending, &html)
      html.tag("p", [:], html.words[.consentLead])
      html.tag("ul", ["class": "consent-scopes"]) { html in
        for sentence in Self.sentences(of: pending, html.words) { html.tag("li", [:], sentence) }
      }
      html.tag("p", [:], html.words[.consentEnd])
      html.tag("form", ["class": "consent", "method": "post", "action": "/oauth/authorize"]) { html in
        html.void("input", ["type": "hidden", "name": "request", "value": query])
        html.void("input", ["type": "hidden", "name": "token", "value": token])
        if let fault { html.tag("p", ["class": "consent-fault", "role": "alert"], html.words[fault]) }
        if let proof = pending.proof { Self.write(proof, &html) }
        for issuer in provers {
          html.tag("p") { html in
            html.tag(
              "a", ["class": "button", "href": "\(issuer.startPath)?prove&back=\(back)"],
              html.words.filled(.signInWith, name: html.words.isolated(issuer.name)))
          }
        }
        html.tag("p", ["class": "consent-verbs"]) { html in
          if pending.proof?.hasPassword != false {
            html.tag(
              "button", ["class": "button is-primary", "type": "submit", "name": "decision", "value": "allow"],
              html.words[.consentAllow])
          }
          html.tag(
            "button",
            ["class": "button", "type": "submit", "name": "decision", "value": "cancel", "formnovalidate": ""],
            html.words[.cancel])
        }
      }
      html.tag(
        "p", ["class": "second"],
        html.words.said(
          .consentBack, ["host": pending.request.redirectURI.shownHost], count: nil))
    }
    page.hasNavigation = false
    if fault != nil { page.status = fault == .consentLimit ? .tooManyRequests : .badRequest }
    return respond(privately: page, formAction: pending.request.redirectURI.formAction)
  }

  private static func writeFacts(about pending: PendingAuthorization, _ html: inout TagWriter) {
    let user = pending.user.summary
    html.tag(
      "p", [:],
      html.words.said(
        .consentUser, ["name": user.displayName ?? user.name ?? "", "username": "@\(user.name ?? "")"], count: nil))
    if let website = pending.app.website {
      html.tag("p") { html in
        html.tag("a", ["href": website, "rel": "nofollow noreferrer", "target": "_blank"]) {
          $0.tag("bdi", [:], website)
        }
      }
    }
    guard !pending.app.isVerified else { return }
    html.tag("p", ["class": "consent-warning"], html.words[.consentUnverified])
  }

  /// The scopes in words.
  private static func sentences(of pending: PendingAuthorization, _ words: PageText) -> [String] {
    let scope = pending.request.scope
    var sentences = [words[.consentProfile]]
    let titles = pending.forums.map { words.isolated($0.title) }.joined(separator: ", ")
    if scope.scope >= .read {
      sentences.append(
        scope.forums == nil ? words[.consentRead] : words.said(.consentReadForums, ["forums": titles], count: nil))
    }
    if scope.scope >= .write {
      sentences.append(scope.forums == nil ? words[.consentWrite] : words[.consentWriteForums])
    }
    if scope.scope >= .admin { sentences.append(words[.consentAdmin]) }
    return sentences
  }

  private static func write(_ proof: ProofMethods, _ html: inout TagWriter) {
    html.tag("p", [:], html.words[.consentProof])
    if proof.hasPasskey { writePasskey(&html) }
    guard proof.hasPassword else { return }
    writeField("password", .consentPassword, "password", "current-password", &html)
    if proof.needsCode { writeField("code", .consentCode, "text", "one-time-code", &html) }
  }

  /// The script of the pages shows the button and proves the session; without it the password remains.
  private static func writePasskey(_ html: inout TagWriter) {
    html.tag("p", ["class": "consent-passkey", "hidden": ""]) { html in
      html.tag("button", ["class": "button", "type": "button"], html.words[.consentPasskey])
    }
    html.tag("p", ["class": "consent-fault", "role": "alert", "hidden": ""], html.words[.consentNoPasskey])
  }

  private static func writeField(
    _ name: String, _ label: PageText.Key, _ type: String, _ autocomplete: String, _ html: inout TagWriter
  ) {
    html.tag("p") { html in
      html.tag("label", ["for": name], html.words[label])
    }
    html.tag("p") { html in
      html.void(
        "input", ["id": name, "name": name, "type": type, "autocomplete": autocomplete, "required": ""])
    }
  }
}
