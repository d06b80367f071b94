import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func getSecondFactor(_ context: RequestContext) async throws -> Response {
    .one(try context.view.getSecondFactor(for: context.caller))
  }

  @Sendable static func setUpSecondFactor(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.setUpSecondFactor(by: context.caller), .created)
  }

  @Sendable static func enableSecondFactor(_ context: RequestContext) async throws -> Response {
    let (code, keepsSessions): (String, Bool) = try await context.body { body in
      (try body.string("code"), try body.optional("keep_sessions") ?? false)
    }
    return .one(
      try await context.community.enableSecondFactor(code, keepsSessions: keepsSessions, by: context.caller))
  }

  @Sendable static func disableSecondFactor(_ context: RequestContext) async throws -> Response {
    let keepsSessions = try await context.optionalBody { body in try body.optional("keep_sessions") ?? false }
    try await context.community.disableSecondFactor(keepsSessions: keepsSessions, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func createRecoveryCodes(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.createRecoveryCodes(by: context.caller), .created)
  }

  @Sendable static func resetSecondFactor(_ context: RequestContext) async throws -> Response {
    try await context.community.resetSecondFactor(of: try context.reference(), by: context.caller)
    return Response(.noContent)
  }
}

extension Endpoint {
  /// Changes by a user without the second factor that the site requires: to set it up, and to sign out. Reading goes on,
  /// because a thief of the password could set it up as well.
  private static let withoutSecondFactor: Set<String> = [
    "POST /sessions", "POST /sessions/second-factor", "POST /sessions/passkey/options", "POST /sessions/passkey",
    "POST /sessions/current/proof/options", "POST /sessions/current/proof", "DELETE /sessions/{id}",
    "DELETE /sessions", "DELETE /me/tokens/{id}",
    "DELETE /me/passkeys/{id}", "PUT /me/password", "POST /me/second-factor", "PUT /me/second-factor",
    "POST /links/{code}",
  ]

  var worksWithoutSecondFactor: Bool { method.isSafe || Self.withoutSecondFactor.contains(name) }
}
