// Pages for visitors and search engines: HTML that is whole without its script. A request with a session gets the web
// app at the same addresses.

import Community
import OAuth
import ParleyModel
import ParleyWire
public import Web

extension API {
  /// Adds the addresses of the web app.
  ///
  /// - Parameters:
  ///   - app: the page of the web app; nil without one.
  ///   - files: the paths of the files that each page loads.
  public func addPages(to routes: inout Router.Builder, app: Handler?, files: PageFiles) {
    VisitorPages(api: self, app: app, files: files).add(to: &routes)
  }
}

/// The paths of the style sheet and of the script of the pages, and their texts.
public struct PageFiles: Sendable {
  let style: String
  let script: String
  let languages: Languages

  public init(style: String, script: String, languages: Languages) {
    self.style = style
    self.script = script
    self.languages = languages
  }
}

struct VisitorPages: Sendable {
  let api: API
  let app: Handler?
  let files: PageFiles

  private typealias Answer = @Sendable (PageContext) async throws -> Response

  func add(to routes: inout Router.Builder) {
    page("/", &routes) { try await $0.frontPage() }
    page("/forums", &routes) { try await $0.forumsPage() }
    for path in ["/f/{forum}", "/f/{forum}/topics", "/f/{forum}/about"] {
      page(path, &routes) { try await $0.forumPage() }
    }
    page("/f/{forum}/room", &routes) { try await $0.roomPage() }
    page("/t/{topic}", &routes) { try await $0.topicPage() }
    former("/u/{name}", &routes, { try $0.formerUser() }) { try await $0.respond(try await $0.userPage()) }
    visitors("/m/{message}", &routes) { try await $0.messageRedirect() }
    file("/m/{message}/report", &routes) { try await $0.respond(try $0.reportPage()) }
    file("/m/{message}/reported", &routes) { try await $0.respond(try $0.reportedPage()) }
    routes.on(.post, "/m/{message}/report", bodyLimit: PageContext.maxReportBody) { request, server throws(Problem) in
      try await respond(to: request, server) { try await $0.report() }
    }
    file("/unsubscribe/{code}", &routes) { try await $0.respond(try $0.unsubscribePage()) }
    routes.on(.post, "/unsubscribe/{code}", bodyLimit: PageContext.maxUnsubscribeBody) {
      request, server throws(Problem) in
      try await respond(to: request, server) { try await $0.respond(try await $0.unsubscribe()) }
    }
    routes.on(.get, "/oauth/authorize") { request, server throws(Problem) in
      try await respond(to: request, server) { try await $0.consentPage() }
    }
    routes.on(.post, "/oauth/authorize", bodyLimit: { OAuthParameters.maxFormBytes * 2 }) {
      request, server throws(Problem) in
      try await respond(to: request, server) { try await $0.answerConsent() }
    }
    addIssuers(to: &routes)
    // Conversations outside of forums have participants; other addresses under these paths do not exist.
    for path in ["/c/{rest...}", "/f/{rest...}", "/t/{rest...}", "/u/{rest...}", "/m/{rest...}"] {
      page(path, &routes) { _ in throw Refusal.notFound }
    }
    for path in ["/t/{topic}/{id}", "/t/{topic}/{id}/{post}"] {
      former(path, &routes, { try $0.formerTopic() }) { _ in throw Refusal.notFound }
    }
    for path in ["/c/{one}/{two}", "/c/{one}/{two}/{three}"] {
      former(path, &routes, { try $0.formerCategory() }) { _ in throw Refusal.notFound }
    }
    for path in Self.signedIn { visitors(path, &routes) { .redirect(.found, to: $0.signIn) } }
    // The app shows these to visitors.
    if let app {
      for path in ["/sign-in", "/i/{rest...}", "/setup/{rest...}", "/reset/{rest...}", "/forgot", "/email/{rest...}"] {
        routes.on(.get, path) { request, server throws(Problem) in
          var response = try await app(request, server)
          response.fields.add("Vary", "Cookie")
          return response
        }
      }
    }
    file("/css/hue/{hue}", &routes, holding: 0) { try $0.hueSheet() }
    addFeeds(to: &routes)
    file("/robots.txt", &routes, holding: 0) { $0.robots() }
    file("/apple-touch-icon.png", &routes, holding: 0) { try .redirect(.found, to: $0.touchIcon()) }
    file("/app.webmanifest", &routes, holding: 0) { try $0.manifest() }
    file("/sitemap.xml", &routes) { try await $0.sitemapIndex() }
    file("/sitemap/{part}", &routes, holding: PageContext.maxSitemapBytes) { try await $0.sitemapPart() }
  }

  /// Sign-in at issuers.
  private func addIssuers(to routes: inout Router.Builder) {
    let pages: [(String, Answer)] = [
      ("/oidc/{issuer}", { try await $0.startSignIn() }),
      ("/oidc/{issuer}/callback", { try await $0.completeSignIn() }),
      ("/oidc/{issuer}/sign-up", { try $0.signUpPage() }),
      ("/oidc/{issuer}/proved", { $0.provedPage() }),
    ]
    for (path, answer) in pages {
      routes.on(.get, path) { request, server throws(Problem) in
        try await respond(to: request, server, answer)
      }
    }
    routes.on(.post, "/oidc/{issuer}/sign-up", bodyLimit: { PageContext.maxSignUpBytes }) {
      request, server throws(Problem) in
      try await respond(to: request, server) { try await $0.signUpWithIssuer() }
    }
  }

  /// Addresses that visitors see after they have signed in.
  private static let signedIn = [
    "/feed", "/forums/new", "/f/{forum}/new", "/f/{forum}/settings", "/members", "/messages", "/messages/new",
    "/search", "/share", "/you", "/you/{rest...}", "/admin", "/admin/{rest...}",
  ]

  private func addFeeds(to routes: inout Router.Builder) {
    for format in FeedFormat.allCases {
      file("/\(format.rawValue)", &routes) { try await $0.respond(try await $0.siteFeed(), format) }
      file("/f/{forum}/\(format.rawValue)", &routes) { try await $0.respond(try await $0.forumFeed(), format) }
      file("/t/{topic}/\(format.rawValue)", &routes) { try await $0.respond(try await $0.topicFeed(), format) }
      file("/u/{name}/\(format.rawValue)", &routes) { try await $0.respond(try await $0.userFeed(), format) }
    }
  }

  private func page(
    _ path: String, _ routes: inout Router.Builder,
    _ make: @escaping @Sendable (PageContext) async throws -> VisitorPage
  ) {
    visitors(path, &routes) { context in try await context.respond(try await make(context)) }
  }

  /// A page for visitors, and the app for sessions.
  private func visitors(_ path: String, _ routes: inout Router.Builder, _ answer: @escaping Answer) {
    let app = app
    routes.on(.get, path) { request, server throws(Problem) in
      if let app, Authentication.hasCookie(request, server) {
        var response = try await app(request, server)
        response.fields.add("Vary", "Cookie")
        return response
      }
      var response = try await respond(to: request, server, answer)
      if !response.fields.has("vary") { response.fields.add("Vary", "Cookie") }
      return response
    }
  }

  /// An address that an imported site may have had. Sessions are redirected, too.
  private func former(
    _ path: String, _ routes: inout Router.Builder,
    _ find: @escaping @Sendable (PageContext) throws -> Response?,
    _ answer: @escaping Answer
  ) {
    let app = app
    routes.on(.get, path) { request, server throws(Problem) in
      if let moved = try redirect(request, server, find) { return moved }
      if let app, Authentication.hasCookie(request, server) {
        var response = try await app(request, server)
        response.fields.add("Vary", "Cookie")
        return response
      }
      var response = try await respond(to: request, server, answer)
      if !response.fields.has("vary") { response.fields.add("Vary", "Cookie") }
      return response
    }
  }

  private func redirect(
    _ request: Request, _ server: Context, _ find: (PageContext) throws -> Response?
  ) throws(Problem) -> Response? {
    do { return try find(try PageContext(request, server, api, files: files)) } catch { throw Problem(error) }
  }

  /// A file with public content, the same for everyone.
  /// - Parameter bytes: the memory of the request.
  private func file(
    _ path: String, _ routes: inout Router.Builder, holding bytes: Int = PageContext.maxBytes,
    _ answer: @escaping Answer
  ) {
    routes.on(.get, path) { request, server throws(Problem) in
      try await respond(to: request, server, holding: bytes, answer)
    }
  }

  private func respond(
    to request: Request, _ server: Context, holding bytes: Int = PageContext.maxBytes, _ answer: Answer
  ) async throws(Problem) -> Response {
    try server.reserve(bytes)
    do {
      let context = try PageContext(request, server, api, files: files)
      do {
        return try await answer(context)
      } catch Refusal.notFound, Refusal.unauthenticated, Refusal.forbidden, Refusal.gone {
        return try await context.respond(context.missingPage())
      }
    } catch {
      throw Problem(error)
    }
  }
}

extension PageContext {
  /// The sign-in page, which returns to this address. Browsers keep the fragment.
  fileprivate var signIn: String { PageAddress.signIn(back: site.address) }
}
