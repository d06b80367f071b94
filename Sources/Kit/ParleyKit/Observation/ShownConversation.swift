public import ParleyModel

/// A conversation as a list shows it.
public struct ShownConversation: Sendable, Hashable {
  public let held: HeldConversation
  /// What was said last, with what waits to be sent; nil where nothing is held of it.
  public let last: ShownMessage?
  /// What is being written and not yet said.
  public let draft: Draft?
  /// Whose room or topic it is.
  public let forum: Forum?
  /// Of the others who take part, where they are few, those who are known here.
  public let others: [User]
  /// When the last of what still goes out was said, by this device's clock; 0 where nothing does.
  let lastUnsentAt: Int64

  public var conversation: Conversation { held.conversation }
  /// Nil where nobody knows yet.
  public var unread: Int? { held.unread }

  /// Its own, its forum's, or the names of those with whom it is.
  public var title: String {
    if let title = conversation.title, !title.isEmpty { return title }
    if let forum { return forum.title }
    return others.compactMap { $0.summary.displayName ?? $0.summary.name }.joined(separator: ", ")
  }

  /// Ids grow with time, so one without messages stands where it was made. What waits is newer than all that was sent; what
  /// the server has refused is not.
  var activity: (Int64, Int) {
    (lastUnsentAt, max(conversation.lastMessage?.number ?? 0, conversation.id.number))
  }
}

extension Cache {
  func shown(_ id: ID<Conversation>) throws(CacheFault) -> ShownConversation? {
    guard let held = replica.conversations[id] else { return nil }
    let newest = try messages(.range(1...Int.max, of: id, .descending, limit: 1))
    let others = (held.conversation.participants ?? []).map(\.user).filter { $0 != replica.me?.summary.id }
    let unsent = unsent(in: id)
    let sending = unsent.compactMap(\.waiting.first).filter { $0.failure?.isTemporary ?? true }
    return ShownConversation(
      held: held, last: unsent.last ?? shown(newest).first, draft: draft(in: id),
      forum: held.conversation.forum.flatMap { replica.forums[$0]?.forum }, others: others.compactMap { user($0) },
      lastUnsentAt: sending.map(\.createdAt).max() ?? 0)
  }

  /// One's own, the last active first.
  public func ownConversations() throws(CacheFault) -> [ShownConversation] {
    var all: [ShownConversation] = []
    for (id, held) in replica.conversations where held.isOwn { if let shown = try shown(id) { all.append(shown) } }
    return all.sorted { $0.activity > $1.activity }
  }
}

extension Parley {
  /// One's own conversations as a list shows them, at once and whenever one of them is another; who is slow sees the newest.
  public nonisolated func conversationLists() -> AsyncStream<[ShownConversation]> {
    lists { cache throws(CacheFault) in try cache.ownConversations() }
  }

  /// The forums, the last active first, in the same way.
  public nonisolated func forumLists() -> AsyncStream<[HeldForum]> {
    lists { cache throws(CacheFault) in cache.forums }
  }

  private nonisolated func lists<Element: Sendable & Equatable>(
    _ read: @escaping @Sendable (isolated Cache) throws(CacheFault) -> [Element]
  ) -> AsyncStream<[Element]> {
    let (stream, continuation) = AsyncStream.makeStream(of: [Element].self, bufferingPolicy: .bufferingNewest(1))
    let cache = cache
    // What changes while a list is read makes one more, however much that is.
    let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let listenTask = Task {
      let updates = await cache.updates()
      change.yield()
      for await _ in updates { change.yield() }
      change.finish()
    }
    let readTask = Task {
      var last: [Element]?
      for await _ in changes {
        // What can't be read now shows what it showed before.
        guard let list = try? await read(cache), list != last else { continue }
        last = list
        continuation.yield(list)
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in
      listenTask.cancel()
      readTask.cancel()
    }
    return stream
  }
}
