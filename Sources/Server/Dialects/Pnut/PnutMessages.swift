import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Pnut {
  static func addMessages(to table: inout Table) throws {
    let (list, message) = ("/channels/{id}/messages", "/channels/{id}/messages/{message}")
    try table.on(.get, list, as: "GET /conversations/{id}/messages") { try await $0.listChannelMessages() }
    try table.on(.post, list, as: "POST /conversations/{id}/messages") { try await $0.createMessage() }
    try table.on(.post, "/channels/pm/messages", as: "POST /conversations/{id}/messages") {
      try await $0.createPrivateMessage()
    }
    try table.on(.get, message, as: "GET /messages/{id}") { try await $0.getMessage() }
    try table.on(.put, message, as: "PATCH /messages/{id}") { try await $0.reviseMessage() }
    try table.on(.delete, message, as: "DELETE /messages/{id}") { try await $0.deleteMessage() }
    try table.on(.get, "\(message)/thread", as: "GET /messages/{id}/replies") { try await $0.listMessageThread() }
    try table.on(.put, "\(message)/sticky", as: "PUT /messages/{id}/actions/{type}") { try await $0.setSticky(true) }
    try table.on(.delete, "\(message)/sticky", as: "DELETE /messages/{id}/actions/{type}") {
      try await $0.setSticky(false)
    }
    try table.on(.get, "/channels/{id}/sticky_messages", as: "GET /messages/search") {
      try await $0.listStickyMessages()
    }
    try table.on(.get, "/channels/messages", as: "GET /messages") { try await $0.getMessages() }
    try table.on(.get, "/channels/messages/search", as: "GET /messages/search") { try await $0.searchMessages() }
    try table.on(.get, "/users/me/messages", as: "GET /messages/search") { try await $0.listOwnMessages() }
  }
}

extension PnutCall {
  /// Unicode scalars of a message.
  static let maxMessage = 2_048

  func listChannelMessages() async throws -> Response {
    let id = try channel(try id()).conversation.id
    return try await page(
      messages(in: id) { seen in seen.filter { $0.message.kind == .message } }, marking: .channel(id),
      showing: { try await messages($0) })
  }

  /// Messages of channels, with the pinned ones among them.
  func messages(_ seen: [MessageView]) async throws -> [PnutPost] {
    var sticky: Set<ID<Message>> = []
    for view in seen where view.message.content?.actions.contains(where: { $0.type == ActionType.pin.name }) == true {
      sticky.insert(view.message.id)
    }
    return try await objects(seen, sticky: sticky)
  }

  private func oneMessage(_ seen: MessageView, _ status: Status = .ok) async throws -> Response {
    .envelope(try await messages([seen]).first, status)
  }

  /// The message in the path. Throws `notFound` for one of another channel.
  private func message() throws -> MessageView {
    let channel = try channel(try id()).conversation.id
    let found = try view.getPlainMessage(try id("message"), for: caller)
    guard found.message.conversation == channel, found.message.kind == .message else { throw Refusal.notFound }
    return found
  }

  func createMessage() async throws -> Response {
    let id = try channel(try id()).conversation.id
    return try await post(try await body(), in: id)
  }

  /// Posts to the private channel with exactly these users, which the first message creates.
  func createPrivateMessage() async throws -> Response {
    // The operation of the API that creates conversations is closed to tokens of forums.
    try caller.requireWholeSite()
    let body = try await body()
    let names = try body.list("destinations") ?? []
    guard let first = names.first else { throw Refusal.invalid("destinations", .missing) }
    // A refused text creates no channel.
    _ = try draft(of: body, atMost: Self.maxMessage)
    let draft = try Self.native({ json in
      json.field("kind", names.count == 1 ? Conversation.Kind.direct.rawValue : Conversation.Kind.group.rawValue)
      json.field("participants", names.count == 1 ? [first] : names)
      if names.count > 1 { json.field("distinct", true) }
    }) { body throws(JSONError) in try ConversationDraft(&body) }
    let created = try await community.createConversation(draft, by: caller)
    return try await post(body, in: created.conversation.conversation.id)
  }

  private func post(_ body: LenientBody, in id: ID<Conversation>) async throws -> Response {
    var draft = try draft(of: body, atMost: Self.maxMessage)
    if let text = try body.text("reply_to") {
      guard let id = ID<Message>(text) else { throw Refusal.invalid("reply_to", .invalid) }
      draft.replyTo = id
    }
    let posted = try await community.postMessage(draft, in: id, by: caller)
    if posted.isPrivate { context.refund(.sending) }
    if query.flag("update_marker") == true {
      let change = MarkerChange(.channel(id), posted.message.message.id, percentage: 0, resets: false)
      // The message exists: a client would repeat a request that fails, and post it twice.
      _ = try? await community.moveDialectMarker(change, by: caller)
    }
    return try await oneMessage(posted.message, .created)
  }

  func getMessage() async throws -> Response { try await oneMessage(try message()) }

  func reviseMessage() async throws -> Response {
    let (id, body) = (try message().message.id, try await body())
    let text = try body.text("text") ?? ""
    guard text.unicodeScalars.count <= Self.maxMessage else {
      throw Refusal.invalid("text", .tooLong(limit: Self.maxMessage))
    }
    let change = try Self.native({ json in json.field("text", text) }) { body throws(JSONError) in
      try MessageChange(&body)
    }
    return try await oneMessage(try await community.editMessage(id, change, by: caller))
  }

  /// A second request has the same answer.
  func deleteMessage() async throws -> Response {
    let found = try message()
    if found.message.tombstone != nil { return try await oneMessage(found) }
    return try await oneMessage(try await community.deleteMessage(found.message.id, by: caller))
  }

  /// `ids`, in their order. Unknown ones are left out.
  func getMessages() async throws -> Response {
    let found = try view.readableMessages(try query.ids("ids"), for: caller)
    return .envelope(try await messages(try onlyMessages(found)))
  }

  /// The messages of channels.
  private func onlyMessages(_ found: [MessageView]) throws -> [MessageView] {
    let kinds = try kinds(of: found)
    return found.filter { seen in
      guard seen.message.kind == .message, let kind = kinds[seen.message.conversation] else { return false }
      return switch kind {
      case .direct, .group, .channel, .room: true
      case .topic, .feed: false
      }
    }
  }

  func listMessageThread() async throws -> Response {
    let thread = try await thread(of: try message())
    let sorted = thread.sorted { $0.message.id > $1.message.id }
    let (items, meta) = IDRange(query).cut(sorted) { $0.message.id.number }
    return .envelope(try await messages(items), page: meta)
  }

  // MARK: Searches

  /// The messages with the words `q` in one of `channel_ids`, or in all channels of the caller.
  func searchMessages() async throws -> Response {
    var request = try searchRequest()
    let ids: [ID<Conversation>] = try query.ids("channel_ids")
    if ids.count == 1 { request.conversation = ids.first }
    if query.flag("is_sticky") == true { request.action = .pin }
    // A search needs a word or a feature.
    guard request.hasFilters else { return try await listMessages(of: ids) }
    return try await page(
      hits(of: request) { found in
        try onlyMessages(found).filter { ids.isEmpty || ids.contains($0.message.conversation) }
      }, showing: { try await messages($0) })
  }

  /// The most channels of a list.
  private static let maxChannels = 20

  /// The messages of several channels. Those that the caller may not read are left out.
  private func listMessages(of ids: [ID<Conversation>]) async throws -> Response {
    guard !ids.isEmpty else { throw Refusal.invalid("q", .missing) }
    guard ids.count <= Self.maxChannels else { throw Refusal.invalid("channel_ids", .tooMany(limit: Self.maxChannels)) }
    let range = IDRange(query)
    var (found, more) = ([MessageView](), false)
    for id in Set(ids) {
      guard try readable(id)?.conversation.isChannel == true else { continue }
      let (items, meta) = try await range.read(messages(in: id) { seen in seen.filter { $0.message.kind == .message } })
      found += items
      more = more || meta.more
    }
    let (items, page) = range.cut(found.sorted { $0.message.id > $1.message.id }) { $0.message.id.number }
    var meta = page
    meta.more = page.more || more && !items.isEmpty
    return .envelope(try await messages(items), page: meta)
  }

  func listOwnMessages() async throws -> Response {
    var request = SearchRequest()
    request.author = .me
    return try await page(hits(of: request) { try onlyMessages($0) }, showing: { try await messages($0) })
  }

  // MARK: Sticky messages

  func setSticky(_ isSticky: Bool) async throws -> Response {
    let id = try message().message.id
    guard isSticky else {
      try await community.removeAction(id, as: .pin, by: caller)
      return try await oneMessage(try message())
    }
    return try await oneMessage(try await community.setAction(id, as: .pin, by: caller))
  }

  func listStickyMessages() async throws -> Response {
    var request = SearchRequest()
    request.conversation = try channel(try id()).conversation.id
    request.action = .pin
    return try await page(hits(of: request) { $0 }, showing: { try await messages($0) })
  }

  func stickyMessages(of id: ID<Conversation>, _ page: PageRequest) async throws -> ListPage<SearchHit> {
    var request = SearchRequest()
    request.conversation = id
    request.action = .pin
    request.page = page
    return try await community.searchMessages(request, for: caller).page
  }
}
