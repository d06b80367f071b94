import Community
import ParleyModel
import Web

extension API {
  @Sendable static func showAvatar(_ call: Call) async throws -> Response {
    switch try call.view.avatar(of: try call.reference(), for: call.caller) {
    case .drawing(let drawing): return .drawing(drawing)
    case .file(let kept): return try .content(of: kept, call, caching: "public, max-age=300")
    }
  }

  @Sendable static func setAvatar(_ call: Call) async throws -> Response {
    let file: ID<File> = try await call.body { body in try body.read("file") }
    return .one(try await call.community.setAvatar(file, of: try call.reference(), by: call.caller))
  }

  @Sendable static func removeAvatar(_ call: Call) async throws -> Response {
    try await call.community.removeAvatar(of: try call.reference(), by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func showPlaceIcon(_ call: Call) async throws -> Response {
    try .icon(try call.view.placeIcon(), call, caching: "public, max-age=300")
  }
}

extension Response {
  static func icon(_ icon: ForumIcon, _ call: Call, caching: String) throws -> Response {
    var response =
      switch icon {
      case .file(let kept): try Response.content(of: kept, call, caching: caching)
      case .address(_, let drawing): try Response.icon(drawing, call, caching: caching)
      case .drawing(let svg, let tag): Response(.ok, Array(svg.utf8), type: .forEnding("svg")).tagged(tag)
      }
    // Opened by itself it runs nothing.
    response.fields.addMissing(from: [
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox", "Cache-Control": caching,
    ])
    return response
  }

  /// The same for whoever asks, and soon asked for again, since a name may change. Opened by itself it runs nothing and
  /// has no origin.
  static func drawing(_ drawing: Drawing) -> Response {
    var response = Response(.ok, Array(drawing.svg.utf8), type: .forEnding("svg")).tagged(drawing.tag)
    response.fields.add("Cache-Control", "public, max-age=300")
    response.fields.add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
    return response
  }
}
