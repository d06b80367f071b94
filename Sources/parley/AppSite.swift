import ParleyWire
import Web

/// Where the web app is: one page at each of its addresses, which finds out itself what to show there.
struct AppSite: Sendable {
  private let files: StaticFiles
  /// Nil while it is worked on: then the page, its styles and its modules are sent as they lie there.
  private let page: AppPage?

  private static let addresses = [
    "/", "/forums", "/forums/new", "/messages", "/messages/new", "/search", "/sign-in", "/you", "/admin",
    "/f/{rest...}", "/t/{rest...}", "/c/{rest...}", "/m/{rest...}", "/u/{rest...}", "/you/{rest...}",
    "/admin/{rest...}", "/i/{rest...}", "/setup/{rest...}", "/reset/{rest...}",
  ]
  private static let parts = "/dev/parts"

  /// Nil when `share` has no app.
  init?(share: String, files: StaticFiles, isDevelopment: Bool) throws(Problem) {
    self.files = files
    guard let page = try AppPage("\(share)/Public") else { return nil }
    self.page = isDevelopment ? nil : page
  }

  func add(to routes: inout Router.Builder) {
    for address in Self.addresses { routes.on(.get, address, page?.answer ?? file("/")) }
    if let page {
      for joined in page.files { routes.on(.get, joined.path, joined.answer) }
      // What is for those who work on it is nobody else's business.
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
      return try await files.answer(request, context)
    }
    return answer
  }
}
