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
  private let pageFiles: PageFiles
  private let languages: Languages

  private static let parts = "/dev/parts"

  /// Nil if `share` has no web app.
  init?(share: String, files: StaticFiles, isDevelopment: Bool, log: (String) -> Void) {
    guard FileSystem.exists("\(share)/Public/index.html") else { return nil }
    do {
      languages = try Self.readLanguages("\(share)/Public/lang")
    } catch {
      log("The web app is off: its texts can't be read: \(error)")
      return nil
    }
    self.files = files
    let bundled = isDevelopment ? nil : Self.bundledPageFiles(share, languages)
    isBundled = bundled != nil
    pageFiles = bundled ?? PageFiles(style: "/css/pages.css", script: "/pages.js", languages: languages)
    if !isBundled, !isDevelopment { log("The web app is not bundled: run make build.") }
  }

  func add(to routes: inout Router.Builder, _ api: API) {
    api.addPages(to: &routes, app: isBundled ? page : file("/"), files: pageFiles)
    if isBundled {
      // Development pages are not public.
      routes.on(.get, "/dev/{rest...}") { _, _ throws(Problem) in throw .notFound }
    } else {
      routes.on(.get, Self.parts, file("\(Self.parts).html"))
    }
  }

  /// The addresses of the files of the visitor pages; nil if the app is not bundled.
  private static func bundledPageFiles(_ share: String, _ languages: Languages) -> PageFiles? {
    guard let bytes = try? FileSystem.read("\(share)/Public/app/pages") else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    return lines.count == 2 ? PageFiles(style: lines[0], script: lines[1], languages: languages) : nil
  }

  static func readLanguages(_ folder: String) throws -> Languages {
    let suffix = ".json"
    var files: [String: [UInt8]] = [:]
    for name in try FileSystem.names(in: folder) where name.hasSuffix(suffix) {
      files[String(name.dropLast(suffix.count))] = try FileSystem.read("\(folder)/\(name)")
    }
    return try Languages(files)
  }

  /// The page of the app in the language of the request. It names the texts, so that a browser loads no other.
  @Sendable private func page(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    let language = languages.code(for: request.fields)
    var response = try await file("/app/index.\(language).html")(request, context)
    response.fields.add("Vary", "Accept-Language")
    return response
  }

  private func file(_ path: String) -> Handler {
    let files = files
    @Sendable func answer(_ request: Request, _ context: Context) async throws(Problem) -> Response {
      try await files.respond(request.with(path: path), context)
    }
    return answer
  }
}
