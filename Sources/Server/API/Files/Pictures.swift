import Community
import ParleyModel
import Web

extension API {
  @Sendable static func getAvatar(_ context: RequestContext) async throws -> Response {
    switch try context.view.getAvatar(of: try context.reference(), for: context.caller) {
    case .generated(let drawing): return .drawing(drawing)
    case .file(let kept): return try .content(of: kept, context, caching: "public, max-age=300")
    }
  }

  @Sendable static func setAvatar(_ context: RequestContext) async throws -> Response {
    let file: ID<File> = try await context.body { body in try body.read("file") }
    return .one(try await context.community.setAvatar(file, of: try context.reference(), by: context.caller))
  }

  @Sendable static func deleteAvatar(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteAvatar(of: try context.reference(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func getSiteIcon(_ context: RequestContext) async throws -> Response {
    try .icon(try context.view.getSiteIcon(), context, caching: "public, max-age=300")
  }
}

extension Response {
  static func icon(_ icon: ForumIcon, _ context: RequestContext, caching: String) throws -> Response {
    var response =
      switch icon {
      case .file(let kept): try Response.content(of: kept, context, caching: caching)
      case .address(_, let drawing): try Response.icon(drawing, context, caching: caching)
      case .generated(let svg, let tag): Response(.ok, Array(svg.utf8), type: .forExtension("svg")).tagged(tag)
      }
    // Prevents scripts if the image is opened as a document.
    response.fields.addMissing(from: [
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox", "Cache-Control": caching,
    ])
    return response
  }

  /// A generated picture: public, and cached for five minutes, since names change. The sandbox prevents scripts if it
  /// is opened as a document.
  static func drawing(_ drawing: GeneratedPicture) -> Response {
    var response = Response(.ok, Array(drawing.picture.svg.utf8), type: .forExtension("svg")).tagged(drawing.tag)
    response.fields.add("Cache-Control", "public, max-age=300")
    response.fields.add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
    return response
  }
}
