// Reading messages.

public import ParleyModel
import Storage

/// Options for the representation of messages.
public struct MessageOptions: Sendable {
  public var includesAnnotations = true
  public var includesHTML = false

  public init() {}
}

/// The page of a conversation that the caller requests.
public struct MessageRequest: Sendable {
  public var window = MessageQuery.Window.all
  public var order = MessageQuery.Order.descending
  public var limit = 50
  public var includesDeleted = true
  public var includesMachineOnly = false
  public var includesMuted = false
  public var show = MessageOptions()

  public init() {}
}

/// A page of messages as the caller may see them.
public struct MessagePageView: Sendable {
  public let messages: [MessageView]
  /// The JSON of the messages whose view `isShared`, by index; empty unless it is encoded already.
  public let encoded: [EncodedMessage]
  /// The page's metadata.
  public let page: MessagePage
  public let order: MessageQuery.Order
  public let cursor: String

  /// The number of leading messages with HTML, if a page with the HTML of all is too large.
  var limitWithHTML: Int? { messages.firstIndex { $0.message.isLive && $0.html == nil } }
}

/// A readable message with the caller's rights in its conversation.
struct ReadableMessage {
  let message: Message
  let rights: Rights
  let standing: Standing

  func isBy(_ caller: Caller) -> Bool { message.author == caller.user }
}

extension ReadTransaction {
  /// Finds a readable message. Throws `notFound` for any other.
  func position(
    of id: ID<Message>, for caller: Caller
  ) throws(Refusal) -> (position: MessagePosition, rights: Rights, standing: Standing) {
    guard let position = try position(of: id) else { throw .notFound }
    let (rights, standing) = try rights(of: caller, in: position.conversation)
    guard position.seq >= Permissions.fromSeq(of: caller.role, in: standing) else { throw .notFound }
    return (position, rights, standing)
  }

  func message(_ id: ID<Message>, for caller: Caller) throws(Refusal) -> ReadableMessage {
    guard let message = try message(id) else { throw .notFound }
    let (rights, standing) = try rights(of: caller, in: message.conversation)
    guard message.seq >= Permissions.fromSeq(of: caller.role, in: standing) else { throw .notFound }
    return ReadableMessage(message: message, rights: rights, standing: standing)
  }

  /// Adds the fields that depend on the caller.
  /// - Parameters:
  ///   - marked: the messages with actions, if known.
  ///   - polled: the messages with polls, if known.
  func views(
    _ messages: [Message], marked: [ID<Message>]? = nil, polled: [ID<Message>]? = nil, by caller: Caller,
    _ bounds: Bounds
  ) throws(Refusal) -> [MessageView] {
    guard let viewer = caller.user else { return messages.map { MessageView($0) } }
    let live = messages.indices.filter { messages[$0].isLive }
    let mine = try actions(of: viewer, on: marked ?? live.map { messages[$0].id })
    let votes = try votes(
      of: viewer, in: polled ?? live.filter { messages[$0].hasPoll }.map { messages[$0].id })
    let own = Set(live.lazy.filter { messages[$0].author == viewer }.map { messages[$0].conversation })
    if mine.isEmpty, votes.isEmpty, own.isEmpty { return messages.map { MessageView($0) } }
    let reading = try readingParticipants(of: own, max: bounds.receiptParticipants)
    return messages.map { message in
      guard message.isLive else { return MessageView(message) }
      var seen = MessageView(message, mine: mine[message.id] ?? [], vote: votes[message.id] ?? [])
      guard message.author == viewer else { return seen }
      seen.status = reading[message.conversation].map { MessageView.Status(message.seq, for: viewer, $0) } ?? .delivered
      return seen
    }
  }

  /// The messages that the caller may read, from any conversations.
  func readable(_ messages: [Message], by caller: Caller) throws(Refusal) -> [Message] {
    var starts: [ID<Conversation>: Int?] = [:]
    for message in messages where starts[message.conversation] == nil {
      starts[message.conversation] = .some(try historyStart(of: message.conversation, for: caller))
    }
    return messages.filter { message in
      guard let start = starts[message.conversation] ?? nil else { return false }
      return message.seq >= start
    }
  }

  /// The first readable message, or nil if the caller may not read the conversation.
  func historyStart(of conversation: ID<Conversation>, for caller: Caller) throws(Refusal) -> Int? {
    guard let standing = try standing(of: caller, in: conversation),
      Permissions.rights(of: caller.role, in: standing).contains(.read)
    else { return nil }
    return Permissions.fromSeq(of: caller.role, in: standing)
  }
}

extension MessageView.Status {
  /// The number of participants present at sending who have read the message. A user with hidden read positions does
  /// not count as having read it and gets no receipts.
  fileprivate init(_ seq: Int, for viewer: ID<User>, _ participants: [ReadingParticipant]) {
    let others = participants.filter { $0.user != viewer && $0.joinedSeq < seq }
    let shows = participants.contains { $0.user == viewer && $0.showsReceipts }
    let count = shows ? others.count { $0.readSeq >= seq } : 0
    self = count == 0 ? .delivered : count == others.count ? .allRead : .someRead
  }
}

extension CommunityView {
  public func getMessage(
    _ id: ID<Message>, _ show: MessageOptions = MessageOptions(), for caller: Caller
  ) async throws(Refusal) -> MessageView {
    let seen = try getPlainMessage(id, for: caller)
    return try await community.apply(show, to: [seen], for: caller)[0]
  }

  /// The message without HTML.
  public func getPlainMessage(_ id: ID<Message>, for caller: Caller) throws(Refusal) -> MessageView {
    try read { tx throws(Refusal) in
      let found = try tx.message(id, for: caller)
      return try tx.views([found.message], by: caller, community.bounds)[0]
    }
  }

  /// Returns the messages in the order of `ids`, duplicates included. Missing and unreadable messages are omitted.
  public func getMessages(
    _ ids: [ID<Message>], _ show: MessageOptions, for caller: Caller
  ) async throws(Refusal) -> [MessageView] {
    try await community.apply(show, to: readableMessages(ids, for: caller), for: caller)
  }

  /// The readable ones of these messages, without HTML, in the order of `ids`.
  public func readableMessages(_ ids: [ID<Message>], for caller: Caller) throws(Refusal) -> [MessageView] {
    try read { tx throws(Refusal) in
      try tx.views(tx.readable(tx.messages(ids), by: caller), by: caller, community.bounds)
    }
  }

  public func listMessages(
    in conversation: ID<Conversation>, _ request: MessageRequest, for caller: Caller
  ) async throws(Refusal) -> MessagePageView {
    var request = request
    while true {
      let page = try await messages(in: conversation, request, for: caller)
      guard request.show.includesHTML, let limit = page.limitWithHTML, 1..<request.limit ~= limit else { return page }
      request.limit = limit
    }
  }

  private func messages(
    in conversation: ID<Conversation>, _ request: MessageRequest, for caller: Caller
  ) async throws(Refusal) -> MessagePageView {
    let version = community.store.version
    let (page, encoded, seen) = try read { tx throws(Refusal) in
      let (_, standing) = try tx.rights(of: caller, in: conversation)
      var query = MessageQuery(conversation, request.window, order: request.order, limit: request.limit)
      query.fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
      if request.show.includesHTML { query.maxBytes = HTMLRenderer.maxPageBytes + query.limit * Message.minSize }
      query.includesDeleted = request.includesDeleted
      query.includesMachineOnly = request.includesMachineOnly
      if !request.includesMuted, let viewer = caller.user, try tx.hidesAnyone(viewer) { query.viewer = viewer }
      let (page, encoded) = try self.page(query, at: version, tx)
      let seen = try tx.views(
        page.messages, marked: page.marked, polled: page.polled, by: caller, community.bounds)
      return (page, encoded, seen)
    }
    return MessagePageView(
      messages: try await community.apply(request.show, to: seen, for: caller), encoded: encoded, page: page,
      order: request.order, cursor: community.cursor(at: page.lastEvent))
  }

  /// A page with the JSON of its messages, if it was requested before.
  private func page(
    _ query: MessageQuery, at version: Int, _ tx: ReadTransaction
  ) throws(Refusal) -> (MessagePage, [EncodedMessage]) {
    switch community.messagePages.page(query, at: version) {
    case .found(let shared): return (shared.page, shared.encoded)
    case .missing(let isRepeated):
      let page = try tx.messages(query)
      guard isRepeated else { return (page, []) }
      let shared = SharedMessagePage(page)
      community.messagePages.add(shared, for: query, at: version)
      return (page, shared.encoded)
    }
  }

  /// The replies to a message, oldest first.
  public func listReplies(
    to id: ID<Message>, _ page: PageRequest, _ show: MessageOptions, for caller: Caller
  ) async throws(Refusal) -> ListPage<MessageView> {
    let seen = try read { tx throws(Refusal) in
      let (_, _, standing) = try tx.position(of: id, for: caller)
      let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
      let replies = try ListPage(page, by: { ListKey($0.id) }, size: \.size) { slice throws(Refusal) in
        try tx.replies(to: id, fromSeq: fromSeq, viewer: caller.user, slice)
      }
      return try replies.map { replies throws(Refusal) in try tx.views(replies, by: caller, community.bounds) }
    }
    return try await community.apply(show, to: seen, for: caller)
  }

  /// The numbers of replies to messages, in the order of `ids`. Missing and unreadable messages are omitted. Replies are later than
  /// their message, so a history that shows it shows them.
  public func listReplyCounts(_ ids: [ID<Message>], for caller: Caller) async throws(Refusal) -> [ReplyCount] {
    try await community.store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.readable(tx.messages(ids), by: caller).map { message throws(Refusal) in
        try tx.replyCount(of: message.id, viewer: caller.user)
      }
    }
  }

  /// The earlier revisions of a message, oldest first. Readable by its author and moderators, and by others if the
  /// forum allows it.
  public func listRevisions(
    of id: ID<Message>, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<MessageRevision> {
    try read { tx throws(Refusal) in
      let found = try tx.message(id, for: caller)
      let isOpen = try tx.showsRevisions(found.message.conversation)
      guard Permissions.maySeeRevisions(found.rights, isAuthor: found.isBy(caller), isOpen: isOpen) else {
        throw caller.user == nil ? .unauthenticated : .forbidden
      }
      return try ListPage(page, by: { ListKey([$0.revision]) }, size: \.size) { slice throws(Refusal) in
        try tx.revisions(of: id, slice)
      }
    }
  }

  /// The read positions of the other participants, in conversations up to a size limit. A caller with a hidden read
  /// position gets none.
  public func listReceipts(of id: ID<Message>, for caller: Caller) throws(Refusal) -> [MessageReceipt] {
    let viewer = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let position = try tx.position(of: id, for: caller).position
      guard
        let participants = try tx.readingParticipants(
          of: [position.conversation], max: community.bounds.receiptParticipants)[position.conversation],
        let author = try tx.message(id)?.author
      else { throw .notFound }
      guard participants.contains(where: { $0.user == viewer && $0.showsReceipts }) else { return [] }
      return participants.filter { $0.user != author && $0.joinedSeq < position.seq && $0.showsReceipts }.map {
        user in
        MessageReceipt(
          user: user.user, isDelivered: user.deliveredSeq >= position.seq, isRead: user.readSeq >= position.seq)
      }
    }
  }
}

extension Community {
  /// The cursor of a client that has applied every event up to this id.
  public func cursor(at event: Int) -> String { store.cursor(at: event) }

  /// The current start of the server, as in cursors.
  public var start: String { store.starts.current }

  /// A digest of the messages that the caller may read, and the cursor at the time it was computed.
  public func getDigest(
    of conversation: ID<Conversation>, fromSeq: Int?, toSeq: Int?, parts: Int, for caller: Caller
  ) async throws(Refusal) -> (digest: ConversationDigest, cursor: String) {
    let digest = try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      let (_, standing) = try tx.rights(of: caller, in: conversation)
      return try tx.digest(
        of: conversation, fromSeq: fromSeq, toSeq: toSeq, parts: parts,
        historyFrom: Permissions.fromSeq(of: caller.role, in: standing))
    }
    return (digest, cursor(at: digest.lastEvent))
  }
}

extension ReadTransaction {
  /// The messages of a page whose items name them. The page ends at `ListPage.maxBytes`. `extra` is the size of the rest of an
  /// item, such as a snippet.
  func messages<Item>(
    of page: inout ListPage<Item>, _ request: PageRequest, extra: Int = 0, by key: (Item) -> ListKey,
    _ id: (Item) -> ID<Message>?
  ) throws(Refusal) -> [Message] {
    let found = try messages(page.items.compactMap(id))
    let count = page.items.count
    let sizes = try sizes(of: found)
    page.cut(request, by: key) { item in (id(item).flatMap { sizes[$0] } ?? 0) + extra }
    guard page.items.count < count else { return found }
    let kept = Set(page.items.compactMap(id))
    return found.filter { kept.contains($0.id) }
  }

  /// The sizes of messages by id. A repost counts with its post, which a response may include.
  func sizes(of messages: [Message]) throws(Refusal) -> [ID<Message>: Int] {
    let posts = try sizes(of: messages.compactMap { $0.content?.repostOf })
    let sizes = messages.map { ($0.id, $0.size + ($0.content?.repostOf.flatMap { posts[$0] } ?? 0)) }
    return Dictionary(sizes) { one, _ in one }
  }
}

extension Community {
  /// Applies the options of the request.
  func apply(
    _ show: MessageOptions, to views: [MessageView], for caller: Caller
  ) async throws(Refusal) -> [MessageView] {
    var views = views
    if !show.includesAnnotations {
      for index in views.indices { views[index].showsAnnotations = false }
    }
    return show.includesHTML ? try await renderer.addHTML(to: views, for: caller.turn) : views
  }

  func apply(
    _ show: MessageOptions, to page: ListPage<MessageView>, for caller: Caller
  ) async throws(Refusal) -> ListPage<MessageView> {
    ListPage(try await apply(show, to: page.items, for: caller), next: page.next, previous: page.previous)
  }
}
