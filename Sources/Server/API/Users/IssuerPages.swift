// The addresses of a sign-in at an issuer: its start, its answer, and the form of a new user. They work without a script. A page
// of a failure tells nothing of the reason, which is in the log under the id of the request.

import Community
import OIDC
import ParleyModel
import ParleyWire
import Web

extension PageContext {
  static let maxSignUpBytes = 8_192

  /// Leads the browser to the issuer. With `?prove` the user proves that the session is theirs. A page of another site may not
  /// start it: an issuer that answers without asking would replace the session of its visitor. The user presses a button first.
  func startSignIn() async throws -> Response {
    let (service, issuer) = try issuer()
    let form = try Self.pairs(of: request.head.target.query ?? "")
    let back = PageAddress.ownPath(form["back"] ?? "/") ?? "/"
    guard !isFromOtherSite else { return leave(to: PageAddress.signIn(back: back)) }
    let isProof = form["prove"] != nil
    let caller = try signedIn()?.caller
    if isProof, caller == nil {
      return leave(to: PageAddress.signIn(back: back))
    }
    do {
      let redirect = try await api.community.startSignIn(
        at: issuer, isProof ? .prove : .signIn, redirectURI: server.origin + issuer.callbackPath, back: back,
        invite: form["invite"].flatMap { $0.utf8.count <= Self.maxInviteBytes ? $0 : nil }, over: service,
        by: caller ?? self.caller)
      return leave(to: redirect.page.url, cookie: redirect.cookie)
    } catch {
      try api.limiter.count(.login, by: self.caller, at: server.client, now: server.uptime)
      return try respond(to: error, of: issuer, back: back)
    }
  }

  /// The answer of the issuer.
  func completeSignIn() async throws -> Response {
    let (service, issuer) = try issuer()
    try api.limiter.count(.login, by: caller, at: server.client, now: server.uptime)
    let context = try context()
    do {
      let outcome = try await api.community.completeSignIn(
        request.head.target.query ?? "", cookie: issuerCookie, at: issuer, over: service, from: context.origin,
        by: context.caller)
      switch outcome {
      case .signedIn(let opened, let back):
        var response = leave(to: back, cookie: "")
        try context.addCookies(of: opened, to: &response)
        return response
      case .codeRequired(let challenge, let back):
        return leave(to: "\(PageAddress.signIn(back: back))#challenge=\(challenge)", cookie: "")
      case .newUser(let cookie): return leave(to: issuer.signUpPath, cookie: cookie)
      case .linked(let back), .proved(let back): return leave(to: back, cookie: "")
      }
    } catch {
      return try respond(to: error, of: issuer, back: "/")
    }
  }

  /// The form of a new user.
  func signUpPage() throws -> Response {
    let (_, issuer) = try issuer()
    guard let ticket = try view.signUpTicket(in: issuerCookie, at: issuer) else {
      try api.limiter.count(.login, by: caller, at: server.client, now: server.uptime)
      return try respond(to: OIDCFault(.noRequest), of: issuer, back: "/")
    }
    if let claimed = try view.claimedUser(by: ticket, at: issuer) {
      return respond(
        ticket, of: issuer, name: claimed.name ?? "", displayName: claimed.displayName ?? "", claimed: claimed)
    }
    let name = Self.proposedName(ticket.preferredName)
    return respond(ticket, of: issuer, name: name, displayName: ticket.displayName ?? "")
  }

  func signUpWithIssuer() async throws -> Response {
    let (_, issuer) = try issuer()
    try Authentication.requireOwnOrigin(request, server, api)
    let context = try context()
    try api.limiter.count(.registration, by: caller, at: server.client, now: server.uptime)
    guard let ticket = try view.signUpTicket(in: issuerCookie, at: issuer) else {
      return try respond(to: OIDCFault(.noRequest), of: issuer, back: "/")
    }
    let form = try Self.pairs(of: String(decoding: try await request.body.collect(), as: UTF8.self))
    let (name, displayName) = (form["name"] ?? "", form["display_name"] ?? "")
    do {
      let (result, back) = try await api.community.signUp(
        named: name, displayName: displayName.isEmpty ? nil : displayName,
        acceptsRules: form["accept_rules"] != nil, with: issuerCookie, at: issuer, keepsEmail: api.mail != nil,
        from: context.origin)
      guard let opened = result.session else { return waitingPage(result.user) }
      var response = leave(to: back, cookie: "")
      try context.addCookies(of: opened, to: &response)
      return response
    } catch Refusal.invalid(let faults) where !faults.contains(where: { $0.field == "invite" }) {
      return respond(
        ticket, of: issuer, name: name, displayName: displayName,
        claimed: try view.claimedUser(by: ticket, at: issuer), faults: faults.map(\.field))
    } catch {
      return try respond(to: error, of: issuer, back: ticket.back)
    }
  }

  // MARK: The request

  private static let maxInviteBytes = 128

  /// Whether a page of another site, or of another host of the same domain, leads here. Browsers say so in Fetch Metadata; a request
  /// without it is from an old one, or from none.
  private var isFromOtherSite: Bool {
    request.fields["sec-fetch-site"].map { $0 != "same-origin" && $0 != "none" } ?? false
  }

  private func issuer() throws(Refusal) -> (IssuerService, Issuer) {
    guard let service = api.issuers, let issuer = request.parameters["issuer"].flatMap({ service[$0] }) else {
      throw .notFound
    }
    return (service, issuer)
  }

  private static func pairs(of text: String) throws(Problem) -> FormPairs {
    do throws(FormPairs.Refusal) { return try FormPairs(text) } catch {
      throw .badRequest("The parameters can't be read.")
    }
  }

  private var issuerCookie: String? { Cookies(request.fields)[Authentication.issuerCookieName(server)] }

  /// The request with its caller, who may be a visitor.
  private func context() throws -> RequestContext {
    if let context = try signedIn() { return context }
    var caller = caller
    return try RequestContext(
      request, server, api, for: Endpoint(.get, "/oidc", .client) { _ in Response(.ok) }, &caller)
  }

  /// The request of a signed-in user; nil for a visitor.
  private func signedIn() throws -> RequestContext? {
    var caller = caller
    do {
      let endpoint = Endpoint(.get, "/oidc", .anyone) { _ in Response(.ok) }
      let context = try RequestContext(request, server, api, for: endpoint, &caller)
      return context.caller.user == nil ? nil : context
    } catch Refusal.unauthenticated {
      return nil
    } catch Refusal.sessionEnded {
      return nil
    }
  }

  /// - Parameter cookie: nil leaves it as it is.
  private func leave(to address: String, cookie: String? = nil) -> Response {
    var response = Response.redirect(.seeOther, to: address)
    response.fields.add("Cache-Control", "no-store")
    // The address of the answer has a code and a state.
    response.fields.add("Referrer-Policy", "no-referrer")
    if let cookie, let field = Authentication.issuerCookie(cookie, server) { response.fields.add("Set-Cookie", field) }
    return response
  }

  /// The name that the form proposes: the characters of the issuer's name that names here may have.
  private static func proposedName(_ text: String) -> String {
    let name = text.lowercased().unicodeScalars.filter { scalar in
      UserName.isWellFormed(String(scalar)) || scalar == "." || scalar == "_" || scalar == "-"
    }
    let proposed = String(String.UnicodeScalarView(name.prefix(UserName.maxBytes)))
    return UserName.isWellFormed(proposed) ? proposed : ""
  }

  // MARK: The pages

  /// The page of a failure. Faults of the server itself are problems as everywhere.
  private func respond(to error: any Error, of issuer: Issuer, back: String) throws -> Response {
    let reason: String
    var status = Status.badRequest
    switch error {
    case let fault as OIDCFault:
      api.log(fault, at: issuer, server)
      reason = words.filled(.issuerFailedLead, name: words.isolated(issuer.name))
      if fault.reason == .unreachable { status = .serviceUnavailable }
    case Refusal.notAdmitted(.pending): (reason, status) = (words[.issuerPending], .forbidden)
    case Refusal.notAdmitted, Refusal.banned: (reason, status) = (words[.issuerNotAdmitted], .forbidden)
    case Refusal.forbidden, Refusal.signUpsPaused, Refusal.invalid:
      (reason, status) = (words[.issuerClosed], .forbidden)
    default: throw error
    }
    let id = "\(server.id)"
    var page = VisitorPage([words[.issuerFailed]]) { html in
      html.tag("h1", [:], html.words[.issuerFailed])
      html.tag("p", ["role": "alert"], reason)
      html.tag("p", ["class": "consent-verbs"]) { html in
        html.tag("a", ["class": "button is-primary", "href": PageAddress.signIn(back: back)], html.words[.issuerAgain])
      }
      html.tag("p", ["class": "second"], html.words.said(.issuerRequest, ["id": id], count: nil))
    }
    page.hasNavigation = false
    page.status = status
    var response = respond(privately: page)
    if let field = Authentication.issuerCookie("", server) { response.fields.add("Set-Cookie", field) }
    return response
  }

  /// - Parameter claimed: the imported user that the new one is.
  private func respond(
    _ ticket: SignUpTicket, of issuer: Issuer, name: String, displayName: String, claimed: UserSummary? = nil,
    faults: [String] = []
  ) -> Response {
    let title = words[.createAccount]
    let rules = site.settings.rules
    let siteName = site.name
    var page = VisitorPage([title]) { html in
      html.tag("h1", [:], title)
      html.tag(
        "p", [:],
        html.words.said(
          .issuerLead, ["issuer": issuer.name, "name": ticket.label, "site": siteName], count: nil))
      if let claimed {
        let name = claimed.displayName ?? claimed.name ?? ""
        html.tag("p", ["data-claim": ""], html.words.filled(.issuerClaim, name: html.words.isolated(name)))
      }
      html.tag("form", ["class": "consent", "method": "post", "action": issuer.signUpPath]) { html in
        if !faults.isEmpty {
          html.tag("p", ["class": "consent-fault", "role": "alert"], html.words[Self.sentence(of: faults)])
        }
        Self.writeField("name", .signInName, "username", value: name, isWrong: faults.contains("name"), &html)
        Self.writeField(
          "display_name", .signInDisplay, "name", value: displayName, isWrong: faults.contains("display_name"), &html)
        if !rules.isEmpty {
          html.tag("h2", [:], html.words[.rules])
          html.markdown(rules)
          html.tag("p") { html in
            html.void("input", ["id": "accept_rules", "name": "accept_rules", "type": "checkbox", "required": ""])
            html.tag("label", ["for": "accept_rules"], html.words[.acceptRules])
          }
        }
        html.tag("p", ["class": "consent-verbs"]) { html in
          html.tag("button", ["class": "button is-primary", "type": "submit"], title)
          html.tag("a", ["class": "button", "href": "/"], html.words[.cancel])
        }
      }
      html.tag("p", ["class": "second"], html.words.filled(.issuerHaveAccount, name: html.words.isolated(issuer.name)))
    }
    page.hasNavigation = false
    if !faults.isEmpty { page.status = .badRequest }
    return respond(privately: page)
  }

  private static func sentence(of faults: [String]) -> PageText.Key {
    faults.contains("name") ? .issuerName : faults.contains("accept_rules") ? .issuerRules : .issuerDisplayName
  }

  private static func writeField(
    _ name: String, _ label: PageText.Key, _ autocomplete: String, value: String, isWrong: Bool,
    _ html: inout TagWriter
  ) {
    html.tag("p") { html in html.tag("label", ["for": name], html.words[label]) }
    html.tag("p") { html in
      html.void(
        "input",
        [
          "id": name, "name": name, "autocomplete": autocomplete, "value": value,
          "aria-invalid": isWrong ? "true" : "false",
        ]
      )
    }
  }

  /// The user waits for the staff.
  private func waitingPage(_ user: User) -> Response {
    let name = user.summary.displayName ?? user.summary.name ?? ""
    let title = site.name
    var page = VisitorPage([words[.createAccount]]) { html in
      html.tag("h1", [:], title)
      html.tag("p", ["role": "status"], html.words.filled(.joinWaits, name: html.words.isolated(name)))
    }
    page.hasNavigation = false
    var response = respond(privately: page)
    if let field = Authentication.issuerCookie("", server) { response.fields.add("Set-Cookie", field) }
    return response
  }

  /// The page at the end of a proof in a window of its own.
  func provedPage() -> Response {
    var page = VisitorPage([words[.proved]]) { html in
      html.tag("h1", [:], html.words[.proved])
      html.tag("p", ["role": "status", "data-proved": ""], html.words[.provedLead])
    }
    page.hasNavigation = false
    return respond(privately: page)
  }
}
