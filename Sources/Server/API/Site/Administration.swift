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

  /// Returns the file of a finished backup, with ranges. A scheduled one is packed while it is sent.
  @Sendable static func getBackupContent(_ context: RequestContext) async throws -> Response {
    let (backup, path) = try context.view.getBackupContent(context.id(), for: context.caller)
    if backup.isScheduled { return try await scheduledContent(backup, path, context) }
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

  private static func scheduledContent(
    _ backup: StoredBackup, _ path: String, _ context: RequestContext
  ) async throws -> Response {
    guard backup.state == .done, let archive = await context.community.store.archive(of: backup, at: path) else {
      throw Refusal.gone
    }
    return Response(
      .ok,
      fields: [
        "Content-Type": "application/x-tar", "ETag": "\(EntityTag(backup.name))",
        "Content-Disposition": FileContent.disposition("parley-\(backup.name).tar", isInline: false),
        "Cache-Control": "private, no-store",
      ],
      body: .stream(length: archive.size) { writer in
        var chunks = archive.chunks()
        while let chunk = try await chunks.next() { try await writer.write(chunk) }
      })
  }

  @Sendable static func listBackups(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(try context.view.listBackups(page, for: context.caller), including: include, context)
  }
}
