import Community
import ParleyJSON
import ParleyModel
import Web

extension API {
  @Sendable static func discover(_ call: Call) async throws -> Response {
    let addresses: [String] = try await call.body { body in try body.read("addresses") }
    return .page(try await call.community.discover(addresses, by: call.caller), next: nil)
  }
}
