// Messages as somebody reads them.

public import ParleyModel
import Storage

/// How messages are to be shown.
public struct MessageShow: Sendable {
  public var includesAnnotations = true
  public var includesHTML = false

  public init() {}
}

/// Which messages of a conversation somebody asks for.
public struct MessageRequest: Sendable {
  public var window = MessageQuery.Window.all
  public var order = MessageQuery.Order.descending
  public var limit = 50
  public var includesDeleted = true
  public var includesMachineOnly = false
  public var includesMuted = false
  public var show = MessageShow()

  public init() {}
}

/// A page of a conversation as somebody sees it.
public struct SeenPage: Sendable {
  public let messages: [SeenMessage]
  /// What the page says beside its messages.
  public let page: MessagePage
  public let cursor: String
}

/// A message that the caller may read, and what they may do where it stands.
struct FoundMessage {
  let message: Message
  let rights: Rights
  let standing: Standing

  func isBy(_ caller: Caller) -> Bool { message.author == caller.account }
}

extension ReadTransaction {
  /// Where a message stands that the caller may read. Any other is not there.
  func place(
    of id: ID<Message>, for caller: Caller
  ) throws(Refusal) -> (place: MessagePlace, rights: Rights, standing: Standing) {
    guard let place = try place(of: id) else { throw .notFound }
    let (rights, standing) = try rights(of: caller, in: place.conversation)
    guard place.seq >= Permissions.fromSeq(of: caller.role, in: standing) else { throw .notFound }
    return (place, rights, standing)
  }

  func message(_ id: ID<Message>, for caller: Caller) throws(Refusal) -> FoundMessage {
    guard let message = try message(id) else { throw .notFound }
    let (rights, standing) = try rights(of: caller, in: message.conversation)
    guard message.seq >= Permissions.fromSeq(of: caller.role, in: standing) else { throw .notFound }
    return FoundMessage(message: message, rights: rights, standing: standing)
  }

  /// Adds what depends on who looks.
  /// - Parameter marked: those with marks, where that is known.
  func seen(
    _ messages: [Message], marked: [ID<Message>]? = nil, by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> [SeenMessage] {
    guard let viewer = caller.account else { return messages.map { SeenMessage($0) } }
    let live = messages.indices.filter { messages[$0].isLive }
    let mine = try actions(of: viewer, on: marked ?? live.map { messages[$0].id })
    let own = Set(live.lazy.filter { messages[$0].author == viewer }.map { messages[$0].conversation })
    let reading = try readingParticipants(of: own, most: bounds.receiptPeople)
    return messages.map { message in
      guard message.isLive else { return SeenMessage(message) }
      var seen = SeenMessage(message, mine: mine[message.id] ?? [])
      guard message.author == viewer else { return seen }
      seen.status = reading[message.conversation].map { SeenMessage.Status(message.seq, for: viewer, $0) } ?? .delivered
      return seen
    }
  }

  /// Messages of any conversations, without those that the caller may not read.
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

  /// Nil where the caller reads nothing.
  func historyStart(of conversation: ID<Conversation>, for caller: Caller) throws(Refusal) -> Int? {
    guard let standing = try standing(of: caller.account, in: conversation),
      Permissions.rights(of: caller.role, in: standing).contains(.read)
    else { return nil }
    return Permissions.fromSeq(of: caller.role, in: standing)
  }
}

extension SeenMessage.Status {
  /// How many of the others have read it who were there when it was sent. Who does not show what they read has, as far
  /// as anybody can know, not read it; and who shows nothing is shown nothing.
  fileprivate init(_ seq: Int, for viewer: ID<Account>, _ people: [ReadingParticipant]) {
    let others = people.filter { $0.account != viewer && $0.joinedSeq < seq }
    let shows = people.contains { $0.account == viewer && $0.showsReceipts }
    let count = shows ? others.count { $0.readSeq >= seq } : 0
    self = count == 0 ? .delivered : count == others.count ? .allRead : .someRead
  }
}

extension CommunityView {
  public func message(
    _ id: ID<Message>, _ show: MessageShow = MessageShow(), for caller: Caller
  ) async throws(Refusal) -> SeenMessage {
    let seen = try self.seen(id, for: caller)
    return await [seen].shown(show)[0]
  }

  /// The same, without the HTML.
  public func seen(_ id: ID<Message>, for caller: Caller) throws(Refusal) -> SeenMessage {
    try read { tx throws(Refusal) in
      let found = try tx.message(id, for: caller)
      return try tx.seen([found.message], by: caller, community.bounds)[0]
    }
  }

  /// In the order of `ids`, and as often. Those that are not there, or not for the caller, are left out.
  public func messages(
    _ ids: [ID<Message>], _ show: MessageShow, for caller: Caller
  ) async throws(Refusal) -> [SeenMessage] {
    let found = try read { tx throws(Refusal) in
      try tx.seen(tx.readable(tx.messages(ids), by: caller), by: caller, community.bounds)
    }
    return await found.shown(show)
  }

  public func messages(
    in conversation: ID<Conversation>, _ request: MessageRequest, for caller: Caller
  ) async throws(Refusal) -> SeenPage {
    let (page, seen) = try read { tx throws(Refusal) in
      let (_, standing) = try tx.rights(of: caller, in: conversation)
      var query = MessageQuery(conversation, request.window, order: request.order, limit: request.limit)
      query.fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
      query.includesDeleted = request.includesDeleted
      query.includesMachineOnly = request.includesMachineOnly
      query.viewer = request.includesMuted ? nil : caller.account
      let page = try tx.messages(query)
      return (page, try tx.seen(page.messages, marked: page.marked, by: caller, community.bounds))
    }
    return SeenPage(
      messages: await seen.shown(request.show), page: page, cursor: community.cursor(at: page.lastEvent))
  }

  /// The answers to a message, oldest first.
  public func replies(
    to id: ID<Message>, after reply: ID<Message>?, limit: Int, _ show: MessageShow, for caller: Caller
  ) async throws(Refusal) -> (messages: [SeenMessage], more: Bool) {
    let (seen, more) = try read { tx throws(Refusal) in
      let (_, _, standing) = try tx.place(of: id, for: caller)
      let (replies, more) = try tx.replies(
        to: id, after: reply, fromSeq: Permissions.fromSeq(of: caller.role, in: standing), viewer: caller.account,
        limit: limit)
      return (try tx.seen(replies, by: caller, community.bounds), more)
    }
    return (await seen.shown(show), more)
  }

  /// What a message said before, oldest first. Its author sees it, who keeps order, and others where the forum says so.
  public func revisions(
    of id: ID<Message>, after revision: Int, limit: Int, for caller: Caller
  ) throws(Refusal) -> (revisions: [MessageRevision], more: Bool) {
    try read { tx throws(Refusal) in
      let found = try tx.message(id, for: caller)
      let isOpen = try tx.showsRevisions(found.message.conversation)
      guard Permissions.maySeeRevisions(found.rights, isAuthor: found.isBy(caller), isOpen: isOpen) else {
        throw caller.account == nil ? .unauthenticated : .forbidden
      }
      let (revisions, more) = try tx.revisions(of: id, after: revision, limit: limit)
      return (revisions, more)
    }
  }

  /// How far each of the others has come, in a conversation of a few. Elsewhere there is no such list; and who shows
  /// nothing is shown nothing.
  public func receipts(of id: ID<Message>, for caller: Caller) throws(Refusal) -> [MessageReceipt] {
    let viewer = try caller.person()
    return try read { tx throws(Refusal) in
      let place = try tx.place(of: id, for: caller).place
      guard
        let people = try tx.readingParticipants(
          of: [place.conversation], most: community.bounds.receiptPeople)[place.conversation],
        let author = try tx.message(id)?.author
      else { throw .notFound }
      guard people.contains(where: { $0.account == viewer && $0.showsReceipts }) else { return [] }
      return people.filter { $0.account != author && $0.joinedSeq < place.seq && $0.showsReceipts }.map { person in
        MessageReceipt(
          user: person.account, isDelivered: person.deliveredSeq >= place.seq, isRead: person.readSeq >= place.seq)
      }
    }
  }
}

extension Community {
  /// Where a client stands that has applied everything up to this event.
  public func cursor(at event: Int) -> String { "\(store.epoch).\(event)" }

  /// A fingerprint of what the caller may read of a conversation, and the cursor of the moment at which it was taken.
  public func digest(
    of conversation: ID<Conversation>, fromSeq: Int?, toSeq: Int?, parts: Int, for caller: Caller
  ) async throws(Refusal) -> (digest: ConversationDigest, cursor: String) {
    let digest = try await store.readInBackground { tx throws(Refusal) in
      let (_, standing) = try tx.rights(of: caller, in: conversation)
      return try tx.digest(
        of: conversation, fromSeq: fromSeq, toSeq: toSeq, parts: parts,
        historyFrom: Permissions.fromSeq(of: caller.role, in: standing))
    }
    return (digest, cursor(at: digest.lastEvent))
  }
}

extension [SeenMessage] {
  /// With what was asked for, and without what was not.
  func shown(_ show: MessageShow) async -> [SeenMessage] {
    var shown = self
    if !show.includesAnnotations {
      for place in shown.indices { shown[place].showsAnnotations = false }
    }
    guard show.includesHTML else { return shown }
    for (place, html) in zip(shown.indices, await Rendering.html(of: shown.map(\.message.content?.text))) {
      shown[place].html = html
    }
    return shown
  }
}
