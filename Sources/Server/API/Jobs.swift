import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func showJob(_ call: Call) async throws -> Response {
    .one(try await call.community.job(try call.id(), for: call.caller))
  }
}
