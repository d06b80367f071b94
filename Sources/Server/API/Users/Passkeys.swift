import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web
import WebAuthn

extension API {
  @Sendable static func listPasskeys(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listPasskeys(page, for: context.caller), context)
  }

  @Sendable static func createPasskeyOptions(_ context: RequestContext) async throws -> Response {
    .one(try context.view.createPasskeyOptions(at: try context.relyingParty(), for: context.caller))
  }

  @Sendable static func createPasskey(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try PasskeyDraft(&body) }
    return .one(
      try await context.community.createPasskey(
        draft, at: try context.relyingParty(), from: context.origin, by: context.caller),
      .created)
  }

  @Sendable static func updatePasskey(_ context: RequestContext) async throws -> Response {
    let name = try await context.body { body in try body.string("name") }
    return .one(try await context.community.updatePasskey(try context.id(), name: name, by: context.caller))
  }

  @Sendable static func deletePasskey(_ context: RequestContext) async throws -> Response {
    try await context.community.deletePasskey(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func createPasskeySignInOptions(_ context: RequestContext) async throws -> Response {
    .one(try context.view.createPasskeySignInOptions(at: try context.relyingParty()))
  }

  @Sendable static func signInWithPasskey(_ context: RequestContext) async throws -> Response {
    let (answer, device, wantsCookie): (PasskeyAssertion, String, Bool) = try await context.body { body in
      (try body.read("credential"), try body.optional("device") ?? "", try body.optional("cookie") ?? false)
    }
    try context.requireOwnOrigin(ifSettingCookie: wantsCookie)
    let opened = try await context.community.signInWithPasskey(
      answer, at: try context.relyingParty(), on: device, from: context.origin)
    return try context.signedIn(opened, wantsCookie: wantsCookie)
  }

  @Sendable static func createPasskeyProofOptions(_ context: RequestContext) async throws -> Response {
    .one(try context.view.createPasskeyProofOptions(at: try context.relyingParty(), for: context.caller))
  }
}

extension RequestContext {
  /// The site at the main one of its addresses. Throws if that has no host name.
  fileprivate func relyingParty() throws(Problem) -> RelyingParty {
    guard let address = WebAddress(origin: server.origin),
      let party = RelyingParty(host: address.host, origins: server.ownOrigins)
    else { throw .passkeysOff }
    return party
  }

  /// A wrong proof counts as a wrong password.
  func proveSession(with answer: PasskeyAssertion) async throws {
    let party = try relyingParty()
    try await counting(try passwordGuess()) { () async throws(Refusal) in
      try await community.proveSession(answer, at: party, by: caller)
    }
  }
}

/// The body of a proof: a password with the code of a second factor, or the answer of a passkey.
enum SessionProof {
  case password(String, code: String?)
  case passkey(PasskeyAssertion)

  init(_ object: inout JSONObject) throws(JSONError) {
    if let answer: PasskeyAssertion = try object.optional("credential") {
      self = .passkey(answer)
      return
    }
    self = .password(try object.string("password"), code: try object.optional("code"))
  }
}
