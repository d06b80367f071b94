import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Pnut {
  static func addPosts(to table: inout Table) throws {
    let (post, action) = ("/posts/{id}", "/messages/{id}/actions/{type}")
    try table.on(.post, "/posts", as: "POST /conversations/{id}/messages") { try await $0.createPost() }
    try table.on(.get, "/posts", as: "GET /messages") { try await $0.getPosts() }
    try table.on(.get, post, as: "GET /messages/{id}") { try await $0.getPost() }
    try table.on(.put, post, as: "PATCH /messages/{id}") { try await $0.revisePost() }
    try table.on(.delete, post, as: "DELETE /messages/{id}") { try await $0.deletePost() }
    for (name, type) in [("repost", ActionType.repost), ("bookmark", .star)] {
      try table.on(.put, "\(post)/\(name)", as: "PUT \(action)") { try await $0.setAction(type) }
      try table.on(.delete, "\(post)/\(name)", as: "DELETE \(action)") { try await $0.removeAction(type) }
    }
    try table.on(.get, "\(post)/thread", as: "GET /messages/{id}/replies") { try await $0.listThread() }
    for name in ["tag", "tags"] {
      try table.on(.get, "/posts/\(name)/{tag}", as: "GET /messages/search") { try await $0.listTagged() }
    }
    try table.on(.get, "/posts/search", as: "GET /messages/search") { try await $0.searchPosts() }
    try table.on(.get, "/posts/streams/me", as: "GET /timeline") { try await $0.listTimeline(withMentions: false) }
    try table.on(.get, "/posts/streams/unified", as: "GET /timeline") { try await $0.listTimeline(withMentions: true) }
    try table.on(.get, "/posts/streams/global", as: "GET /timeline/global") { try await $0.listGlobal() }
    try table.on(.get, "/posts/streams/explore", as: "GET /timeline/global") { $0.listExploreStreams() }
    try table.on(.get, "/posts/streams/explore/{slug}", as: "GET /messages/search") { try await $0.explore() }
    try table.on(.get, "/users/{id}/posts", as: "GET /users/{id}/feed") { try await $0.listPostsOfUser() }
    try table.on(.get, "/users/{id}/bookmarks", as: "GET /users/{id}/stars") { try await $0.listBookmarks() }
    try table.on(.get, "/users/{id}/mentions", as: "GET /messages/search") { try await $0.listMentions() }
    try addPostFacts(to: &table)
    for name in ["actions", "interactions"] {
      try table.on(.get, "/users/me/\(name)", as: "GET /inbox") { try await $0.listInteractions() }
    }
  }
}

extension PnutCall {
  /// Unicode scalars of a post.
  static let maxPost = 256

  /// Posts into the feed of the caller, or replies in the feed of another post.
  func createPost() async throws -> Response {
    let body = try await body()
    var draft = try draft(of: body, atMost: Self.maxPost)
    let feed: ID<Conversation>
    if let text = try body.text("reply_to") {
      guard let id = ID<Message>(text) else { throw Refusal.invalid("reply_to", .invalid) }
      let post = try actedOn(id).message
      draft.replyTo = post.id
      feed = post.conversation
    } else {
      feed = try await ownFeed()
    }
    let posted = try await community.postMessage(draft, in: feed, by: caller)
    if posted.isPrivate { context.refund(.sending) }
    return try await one(posted.message, .created)
  }

  func draft(of body: LenientBody, atMost limit: Int) throws -> MessageDraft {
    let text = try body.text("text") ?? ""
    guard text.unicodeScalars.count <= limit else { throw Refusal.invalid("text", .tooLong(limit: limit)) }
    let raw = try RawInput(body)
    var draft = MessageDraft(text: text, clientID: nil)
    draft.annotations = raw.annotations
    draft.attachments = raw.files
    return draft
  }

  /// The feed of the caller, which the first post creates.
  func ownFeed() async throws -> ID<Conversation> {
    // The operation of the API that creates feeds is closed to tokens of forums.
    try caller.requireWholeSite()
    do throws(Refusal) {
      return try view.getFeed(of: try caller.requireUser(), for: caller).conversation.id
    } catch {
      guard error == .notFound else { throw error }
    }
    let draft = try Self.native({ json in json.field("kind", Conversation.Kind.feed.rawValue) }) {
      body throws(JSONError) in try ConversationDraft(&body)
    }
    return try await community.createConversation(draft, by: caller).conversation.conversation.id
  }

  /// A post or a reply. Throws `notFound` for any other message.
  func post(_ id: ID<Message>) throws -> MessageView {
    guard let found = try onlyPosts([try view.getPlainMessage(id, for: caller)]).first else { throw Refusal.notFound }
    return found
  }

  /// The post that a reply, a repost or a bookmark concerns: the original of a repost.
  func actedOn(_ id: ID<Message>) throws -> MessageView {
    let found = try post(id)
    guard let original = found.message.content?.repostOf else { return found }
    return try post(original)
  }

  /// The posts and replies among messages.
  func onlyPosts(_ messages: [MessageView]) throws -> [MessageView] {
    let kinds = try kinds(of: messages)
    return messages.filter { seen in
      let message = seen.message
      guard message.kind == .message, !message.isMachineOnly else { return false }
      return kinds[message.conversation] == .feed
    }
  }

  /// The kinds of the conversations of messages, without those that are not readable any more.
  func kinds(of messages: [MessageView]) throws(Refusal) -> [ID<Conversation>: Conversation.Kind] {
    var kinds: [ID<Conversation>: Conversation.Kind] = [:]
    for id in Set(messages.map(\.message.conversation)) {
      do throws(Refusal) {
        kinds[id] = try view.kind(of: id, for: caller)
      } catch {
        guard error == .notFound else { throw error }
      }
    }
    return kinds
  }

  /// `ids`, in their order. Unknown ones are left out.
  func getPosts() async throws -> Response {
    let found = try view.readableMessages(try query.ids("ids"), for: caller)
    return .envelope(try await posts(try onlyPosts(found)))
  }

  func getPost() async throws -> Response { try await one(try post(try id())) }

  func revisePost() async throws -> Response {
    let (id, body) = (try post(try id()).message.id, try await body())
    let text = try body.text("text") ?? ""
    guard text.unicodeScalars.count <= Self.maxPost else {
      throw Refusal.invalid("text", .tooLong(limit: Self.maxPost))
    }
    let change = try Self.native({ json in json.field("text", text) }) { body throws(JSONError) in
      try MessageChange(&body)
    }
    return try await one(try await community.editMessage(id, change, by: caller), .created)
  }

  /// A second request has the same answer.
  func deletePost() async throws -> Response {
    let found = try post(try id())
    if found.message.tombstone != nil { return try await one(found) }
    return try await one(try await community.deleteMessage(found.message.id, by: caller))
  }

  func setAction(_ type: ActionType) async throws -> Response {
    let post = try actedOn(try id()).message.id
    return try await one(
      try await community.setAction(post, as: type, by: caller), type == .repost ? .created : .ok)
  }

  func removeAction(_ type: ActionType) async throws -> Response {
    let post = try actedOn(try id()).message.id
    try await community.removeAction(post, as: type, by: caller)
    return try await one(try view.getPlainMessage(post, for: caller))
  }
}

extension ConversationView {
  /// The members that all readers see.
  var conversation: Conversation {
    switch self {
    case .forUser(let own): own.conversation
    case .forVisitor(let conversation): conversation
    }
  }
}
