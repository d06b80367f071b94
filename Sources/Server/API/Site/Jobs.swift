import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func getJob(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.getJob(try context.id(), for: context.caller))
  }
}
