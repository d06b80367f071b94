import API
import ParleyWire
import Web

/// Routes of the web app and of the visitor pages. The app has one page, which renders by its URL.
struct WebAppRoutes: Sendable {
  private let files: StaticFiles
  /// Nil in development mode, where the page, its styles and its modules are served as separate files.
  private let page: AppPage?

  /// The style sheet of the visitor pages.
  private let style: BundledFile

  private static let parts = "/dev/parts"

  /// Nil if `share` has no web app.
  init?(share: String, files: StaticFiles, isDevelopment: Bool) throws(Problem) {
    self.files = files
    let folder = "\(share)/Public"
    guard let page = try AppPage(folder),
      let style = try BundledFile("/css/page", "css", joining: ["/css/tokens.css", "/css/pages.css"], in: folder)
    else { return nil }
    self.page = isDevelopment ? nil : page
    self.style = style
  }

  func add(to routes: inout Router.Builder, _ api: API) {
    api.addPages(to: &routes, app: page?.respond ?? file("/"), style: style.path)
    routes.on(.get, style.path, style.respond)
    if let page {
      for joined in page.files { routes.on(.get, joined.path, joined.respond) }
      // Development pages are not public.
      routes.on(.get, "/dev/{rest...}") { _, _ throws(Problem) in throw .notFound }
    } else {
      routes.on(.get, Self.parts, file("\(Self.parts).html"))
    }
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
