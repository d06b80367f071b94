import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func getStatistics(_ context: RequestContext) async throws -> Response {
    let statistics = try await context.community.getStatistics(for: context.caller)
    return .object { json in
      statistics.writeMembers(to: &json)
      json.field("version", context.api.release.version)
    }
  }

  @Sendable static func createBackup(_ context: RequestContext) async throws -> Response {
    .one(
      try await context.community.createBackup(program: context.api.release.version, by: context.caller).backup,
      .accepted)
  }

  @Sendable static func listBackups(_ context: RequestContext) async throws -> Response {
    let (limit, next): (Int, ID<StoredBackup>?) = try context.query { query in (try query.limit(), try query.id("next"))
    }
    return .page(try context.view.listBackups(before: next, limit: limit, for: context.caller), limit: limit) {
      $0.id.description
    }
  }
}
