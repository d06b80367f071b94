import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func createExport(_ context: RequestContext) async throws -> Response {
    .one(
      try await context.community.createExport(program: context.api.release.version, by: context.caller).export,
      .accepted)
  }

  @Sendable static func getExport(_ context: RequestContext) async throws -> Response {
    .one(try context.view.getExport(for: context.caller))
  }

  @Sendable static func deleteExport(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteExport(by: context.caller)
    return Response(.noContent)
  }

  /// Returns the archive of a finished export, with ranges.
  @Sendable static func getExportContent(_ context: RequestContext) async throws -> Response {
    let (export, path) = try context.view.getExportContent(for: context.caller)
    guard export.state == .done, let file = OpenFile(path) else {
      throw export.state == .running ? Refusal.conflict : Refusal.gone
    }
    let name = "parley-export-\(Timestamp.format(Int(export.createdAt)).prefix(10)).zip"
    return try .file(
      file, ContentType("application/zip", isCompressible: false), tag: EntityTag("export-\(export.id)"),
      fields: [
        "Content-Disposition": FileContent.disposition(name, isInline: false), "Cache-Control": "private, no-store",
      ], for: context.request, now: context.server.now)
  }
}
