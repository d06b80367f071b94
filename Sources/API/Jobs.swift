import Community
import JSON
import Model
import Web
import Wire

extension API {
  @Sendable static func showJob(_ call: Call) async throws -> Response {
    .one(try await call.community.job(try call.id(), for: call.caller))
  }
}
