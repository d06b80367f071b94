import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func showStatistics(_ call: Call) async throws -> Response {
    let statistics = try await call.community.statistics(for: call.caller)
    return .object { json in
      statistics.writeMembers(to: &json)
      json.field("version", call.api.release.version)
    }
  }

  @Sendable static func startBackup(_ call: Call) async throws -> Response {
    .one(try await call.community.backUp(program: call.api.release.version, by: call.caller).backup, .accepted)
  }

  @Sendable static func listBackups(_ call: Call) async throws -> Response {
    let (limit, next): (Int, ID<StoredBackup>?) = try call.query { query in (try query.limit(), try query.id("next")) }
    return .page(try call.view.backups(before: next, limit: limit, for: call.caller), limit: limit) {
      $0.id.description
    }
  }
}
