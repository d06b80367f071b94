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

  @Sendable static func getBackup(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(try context.view.getBackup(context.id(), for: context.caller).0, including: include, context)
  }

  @Sendable static func deleteBackup(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteBackup(context.id(), by: context.caller)
    return Response(.noContent)
  }

  /// Returns the file of a finished backup, with ranges.
  @Sendable static func getBackupContent(_ context: RequestContext) async throws -> Response {
    let (backup, path) = try context.view.getBackupContent(context.id(), for: context.caller)
    guard backup.state == .done, let file = OpenFile(path) else {
      throw backup.state == .running ? Refusal.conflict : Refusal.gone
    }
    return try .file(
      file, ContentType("application/x-tar", isCompressible: false), tag: EntityTag(backup.name),
      fields: [
        "Content-Disposition": FileContent.disposition(backup.name, isInline: false),
        "Cache-Control": "private, no-store",
      ], for: context.request, now: context.server.now)
  }

  @Sendable static func listBackups(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(try context.view.listBackups(page, for: context.caller), including: include, context)
  }
}
