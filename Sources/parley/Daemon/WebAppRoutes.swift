import API
import ParleyWire
import Web

/// Routes of the web app and of the visitor pages. The app has one page, which renders by its URL.
///
/// `make` bundles the app into `Public/app`. In development mode, and in a checkout that was not bundled, the page names
/// the modules and the style sheets as they lie in `Public`.
struct WebAppRoutes: Sendable {
  private let files: StaticFiles
  private let isBundled: Bool
  /// The style sheet of the visitor pages.
  private let style: String

  private static let page = "/app/index.html"
  private static let parts = "/dev/parts"

  /// Nil if `share` has no web app.
  init?(share: String, files: StaticFiles, isDevelopment: Bool, log: (String) -> Void) {
    guard FileSystem.exists("\(share)/Public/index.html") else { return nil }
    self.files = files
    let style = isDevelopment ? nil : Self.bundledStyle(share)
    isBundled = style != nil
    self.style = style ?? "/css/pages.css"
    if !isBundled, !isDevelopment { log("the web app is not bundled: run make build") }
  }

  func add(to routes: inout Router.Builder, _ api: API) {
    api.addPages(to: &routes, app: file(isBundled ? Self.page : "/"), style: style)
    if isBundled {
      // Development pages are not public.
      routes.on(.get, "/dev/{rest...}") { _, _ throws(Problem) in throw .notFound }
    } else {
      routes.on(.get, Self.parts, file("\(Self.parts).html"))
    }
  }

  /// The address of the style sheet; nil if the app is not bundled.
  private static func bundledStyle(_ share: String) -> String? {
    guard let bytes = try? FileSystem.read("\(share)/Public/app/pages-style") else { return nil }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  private func file(_ path: String) -> Handler {
    let files = files
    @Sendable func answer(_ request: Request, _ context: Context) async throws(Problem) -> Response {
      var request = request
      request.head.target = Target(path: path)
      return try await files.respond(request, context)
    }
    return answer
  }
}
