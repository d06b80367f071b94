import ParleyWire
import Web

/// Routes of the web app. Each path serves the same page, which renders by its URL.
struct WebAppRoutes: Sendable {
  private let files: StaticFiles
  /// Nil in development mode, where the page, its styles and its modules are served as separate files.
  private let page: AppPage?

  private static let paths = [
    "/", "/forums", "/forums/new", "/messages", "/messages/new", "/search", "/sign-in", "/you", "/admin",
    "/f/{rest...}", "/t/{rest...}", "/c/{rest...}", "/m/{rest...}", "/u/{rest...}", "/you/{rest...}",
    "/admin/{rest...}", "/i/{rest...}", "/setup/{rest...}", "/reset/{rest...}",
  ]
  private static let parts = "/dev/parts"

  /// Nil if `share` has no web app.
  init?(share: String, files: StaticFiles, isDevelopment: Bool) throws(Problem) {
    self.files = files
    guard let page = try AppPage("\(share)/Public") else { return nil }
    self.page = isDevelopment ? nil : page
  }

  func add(to routes: inout Router.Builder) {
    for path in Self.paths { routes.on(.get, path, page?.respond ?? file("/")) }
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
