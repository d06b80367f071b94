import Community
import ParleyMarkup
import ParleyModel
import ParleyWire
import Web

/// One request of a visitor. Pages call the same functions as the API, always as a visitor.
struct PageContext {
  let request: Request
  let server: Context
  let api: API
  let view: CommunityView
  let caller: Caller
  let site: PageSite
  /// The texts in the language of the request.
  var words: PageText { site.words }
  private let query: Query

  init(_ request: Request, _ server: Context, _ api: API, files: PageFiles) throws {
    self.request = request
    self.server = server
    self.api = api
    let target = request.head.target
    query = try Query(target.query, path: target.path)
    view = server.locals.object(CommunityView.self) { api.community.view() }
    caller = .visitor(network: server.networkHash)
    site = PageSite(
      settings: try view.getSettings(), origin: server.origin, files: files,
      words: files.languages.words(for: request.fields),
      address: target.path + (target.query.map { "?\($0)" } ?? ""))
  }

  /// The id at the beginning of a part of the path, as in `12-garden`.
  func id<Thing>(_ name: String) throws(Refusal) -> ID<Thing> {
    guard let id: ID<Thing> = request.parameters[name].flatMap(PageAddress.id) else { throw .notFound }
    return id
  }

  /// The first message of the page, by `seq`.
  func firstSeq() throws(Refusal) -> Int? {
    var query = query
    let seq = try query.int("from", in: 1...ID<Message>.maxNumber)
    try query.requireValid()
    return seq
  }

  /// The tag of a list of topics.
  func tag() throws(Refusal) -> String? {
    var query = query
    let tag = try query.text("tag")
    try query.requireValid()
    guard let tag else { return nil }
    guard !tag.isEmpty, tag.unicodeScalars.count <= MarkupLimits.hashtag else { throw .notFound }
    return tag.lowercased()
  }

  /// The position of a page in a list, under the path that is independent of titles.
  func position(in list: ListName) throws(Refusal) -> ListPosition? {
    var query = query
    let text = try query.text("page")
    try query.requireValid()
    guard let text else { return nil }
    guard let position = ListPosition(text, in: list) else { throw .notFound }
    return position
  }

  /// The authors and files of messages that the visitor reads.
  func posts(_ messages: [MessageView]) throws(Refusal) -> PostList {
    let ids = messages.flatMap { $0.message.content?.attachments ?? [] }.prefix(api.community.bounds.filesPerRequest)
    let files = try view.listFiles(Array(ids), for: caller)
    return PostList(
      messages: messages, authors: try view.getAuthors(Set(messages.map(\.message.author)), for: caller),
      files: Dictionary(files.map { ($0.id, $0) }) { one, _ in one }, words: words,
      inlineFiles: Set(files.filter { api.community.isShownInline($0.mimeType) }.map(\.id)),
      time: try time(of: messages))
  }

  /// The time at which the polls of messages are open or closed; 0 without polls.
  func time(of messages: [MessageView]) throws(Refusal) -> Int64 {
    messages.contains { $0.message.hasPoll } ? try view.getTime() : 0
  }

  /// A page of messages with their HTML, from `seq` on.
  func messages(
    in conversation: ID<Conversation>, from seq: Int, limit: Int = PageContext.pageSize
  ) async throws(Refusal) -> MessagePageView {
    var request = MessageRequest()
    request.window = .newer(than: seq - 1, in: nil)
    request.order = .ascending
    request.limit = limit
    request.show = Self.html
    return try await view.listMessages(in: conversation, request, for: caller)
  }

  /// Messages by id, without those that the visitor may not read.
  func messages(_ ids: [ID<Message>]) async throws -> [ID<Message>: MessageView] {
    let found = try await view.getMessages(ids, MessageOptions(), for: caller)
    return Dictionary(found.map { ($0.message.id, $0) }) { one, _ in one }
  }

  /// Memory of a page or feed: its messages and their HTML end at the size of a page of the API.
  static let maxBytes = ListPage<MessageView>.maxBytes

  /// Posts or topics of a page.
  static let pageSize = 50

  /// A page as the response to a visitor: it has nothing private, so any cache may keep it, for its language.
  func respond(_ page: VisitorPage) async throws -> Response {
    let site = site
    let bytes = try await api.community.render(for: caller) { page.html(in: site) }
    var response = Response(page.status, bytes, type: .html)
    response.fields.addMissing(from: Self.policy)
    response.fields.add("Cache-Control", page.status == .ok ? Self.caching : "no-cache")
    // A cookie holds a chosen language or a session.
    response.fields.add("Vary", "Accept-Language, Cookie")
    return page.status == .ok ? response.tagged(bytes) : response
  }

  /// A page with private content, whose form may lead to another program.
  ///
  /// - Parameter formAction: a source of the Content Security Policy; browsers check the redirect after a form, too.
  func respond(privately page: VisitorPage, formAction: String? = nil) -> Response {
    var response = Response(page.status, page.html(in: site), type: .html)
    // A secret and a text of another user are in one page: the length of its compressed form would tell of them (BREACH).
    response.isNegotiated = true
    response.fields.addMissing(from: Self.policy(formAction: formAction))
    response.fields.add("Cache-Control", "no-store")
    return response
  }

  /// A file with public content as the response to everyone.
  static func file(_ bytes: [UInt8], _ type: ContentType, caching: String = Self.caching) -> Response {
    var response = Response(.ok, bytes, type: type)
    response.fields.add("Cache-Control", caching)
    return response.tagged(bytes)
  }

  private static let caching = "public, max-age=60"

  /// Pages need their style sheet and script, the feed and pictures.
  private static let policy = policy(formAction: nil)

  private static func policy(formAction: String?) -> Fields {
    [
      "Content-Security-Policy": [
        "default-src 'none'", "style-src 'self'", "script-src 'self'", "connect-src 'self'", "img-src 'self'",
        "media-src 'self'", "form-action 'self'" + (formAction.map { " " + $0 } ?? ""),
        "frame-ancestors 'none'", "base-uri 'none'",
      ].joined(separator: "; "),
      "Cross-Origin-Opener-Policy": "same-origin",
      "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ]
  }
}
