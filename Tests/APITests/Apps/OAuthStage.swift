import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import OAuth

/// A site with an app, and the steps of a user and of the app.
struct OAuthStage: Sendable {
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  static let uri = "https://ferry.example.org/callback"

  let village: Village
  let app: String
  let secret: String?

  init(_ village: Village, _ more: [String: Any] = [:]) async throws {
    self.village = village
    let draft: [String: Any] = ["name": "Ferry", "redirect_uris": [Self.uri], "scope": "admin"]
    let made = try await village.expect(201, .post, "/apps", as: "ada", draft.merging(more) { $1 })
    app = try #require(made["id"])
    secret = made["secret"]
  }

  // MARK: The user

  /// The query of `/oauth/authorize`. A nil value leaves a parameter out.
  func query(_ scope: String = "read", _ more: [String: String?] = [:]) -> String {
    var values: [String: String?] = [
      "response_type": "code", "client_id": app, "redirect_uri": Self.uri, "scope": scope, "state": "s1",
      "code_challenge": Self.challenge, "code_challenge_method": "S256",
    ]
    for (name, value) in more { values[name] = value }
    return values.compactMap { name, value in value.map { "\(name)=\(Percent.encode($0))" } }.sorted()
      .joined(separator: "&")
  }

  func cookie(_ name: String) -> Fields { ["Cookie": "parley=\(village.token(name))", "Origin": village.origin] }

  func page(_ query: String, as name: String? = "grace") async throws -> Answer {
    try await village.page("/oauth/authorize?\(query)", as: name)
  }

  /// Shows the page and submits its form.
  func answer(
    _ query: String, as name: String = "grace", _ decision: String = "allow", with more: [String: String] = [:]
  ) async throws -> Answer {
    let page = try await page(query, as: name)
    #expect(page.status == 200, "\(page.text)")
    let token = try #require(page.attribute("value", after: "<input type=\"hidden\" name=\"token\""))
    return try await submit(query, token, as: name, decision, with: more)
  }

  func submit(
    _ query: String, _ token: String, as name: String = "grace", _ decision: String = "allow",
    with more: [String: String] = [:], fields: Fields? = nil
  ) async throws -> Answer {
    var form = "request=\(Percent.encode(query))&token=\(Percent.encode(token))&decision=\(decision)"
    for (name, value) in more { form += "&\(name)=\(Percent.encode(value))" }
    return try await village.submit("/oauth/authorize", form, fields: fields ?? cookie(name))
  }

  /// The code of a user that allows the app.
  func code(_ scope: String = "read", as name: String = "grace", with more: [String: String] = [:]) async throws
    -> String
  {
    let answer = try await answer(query(scope), as: name, with: more)
    #expect(answer.status == 303, "\(answer.status) \(answer.text)")
    let redirect = Redirect(answer)
    #expect(redirect.address == Self.uri && redirect["state"] == "s1" && redirect["iss"] == village.origin)
    return try #require(redirect["code"], "\(answer.fields["location"] ?? "")")
  }

  // MARK: The app

  func call(_ path: String, _ values: [String: String], fields: Fields = Fields()) async throws -> Answer {
    var values = values
    if !fields.has("authorization") {
      if values["client_id"] == nil { values["client_id"] = app }
      if let secret, values["client_secret"] == nil { values["client_secret"] = secret }
    }
    let form = values.map { "\($0)=\(Percent.encode($1))" }.joined(separator: "&")
    return try await village.submit(path, form, fields: fields)
  }

  func exchange(_ code: String, _ more: [String: String] = [:]) async throws -> Answer {
    let values = [
      "grant_type": "authorization_code", "code": code, "redirect_uri": Self.uri, "code_verifier": Self.verifier,
    ]
    return try await call("/oauth/token", values.merging(more) { $1 })
  }

  func refresh(_ token: String, _ more: [String: String] = [:]) async throws -> Answer {
    try await call(
      "/oauth/token", ["grant_type": "refresh_token", "refresh_token": token].merging(more) { $1 })
  }

  /// The tokens of a user that allows the app.
  func tokens(
    _ scope: String = "read", as name: String = "grace", with more: [String: String] = [:]
  ) async throws -> (access: String, refresh: String) {
    let answer = try await exchange(try await code(scope, as: name, with: more))
    #expect(answer.status == 200, "\(answer.text)")
    return (try #require(answer["access_token"]), try #require(answer["refresh_token"]))
  }

  /// The status of a request with an access token.
  func status(_ token: String, _ path: String = "/users/me", _ method: ParleyWire.Method = .get) async throws -> Int {
    try await village.request(method, path, fields: ["Authorization": "Bearer \(token)"]).status
  }
}

/// The address of a redirect and the parameters of its query.
struct Redirect {
  let address: String
  private let pairs: FormPairs?

  init(_ answer: Answer) {
    let parts = (answer.fields["location"] ?? "").split(separator: "?", maxSplits: 1).map(String.init)
    address = parts.first ?? ""
    pairs = try? FormPairs(parts.count > 1 ? parts[1] : "")
  }

  subscript(_ name: String) -> String? { pairs?[name] }
}
