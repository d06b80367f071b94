import Community
import ParleyJSON
import ParleyModel
import Web

extension API {
  @Sendable static func discoverUsers(_ context: RequestContext) async throws -> Response {
    let addresses: [String] = try await context.body { body in try body.read("addresses") }
    return .list(try await context.community.discoverUsers(addresses, by: context.caller))
  }
}
