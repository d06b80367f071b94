import Community
import Web

extension API {
  @Sendable static func showAvatar(_ call: Call) async throws -> Response {
    let drawing = try call.view.drawing(of: try call.reference(), for: call.caller)
    return .drawing(drawing)
  }
}

extension Response {
  /// The same for whoever asks, and soon asked for again, since a name may change. Opened by itself it runs nothing and
  /// has no origin.
  static func drawing(_ drawing: Drawing) -> Response {
    var response = Response(.ok, Array(drawing.svg.utf8), type: .forEnding("svg")).tagged(drawing.tag)
    response.fields.add("Cache-Control", "public, max-age=300")
    response.fields.add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
    return response
  }
}
