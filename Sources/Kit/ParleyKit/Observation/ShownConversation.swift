import ParleyJSON
public import ParleyModel

/// A conversation as a row of a list.
public struct ShownConversation: Sendable, Hashable {
  /// The conversation with the caller's state in it.
  public let replica: ReplicaConversation
  /// The last message or unsent message; nil if none is cached.
  public let last: ShownMessage?
  /// The unsent draft.
  public let draft: Draft?
  /// The forum of a room or topic.
  public let forum: Forum?
  /// The other participants of a small conversation that are in the cache.
  public let others: [User]
  /// Unsent changes of the conversation, the user's leaving and its deletion, in their order. Those of messages are not among
  /// them.
  public let waiting: [OutboxOperation]
  /// The time of the last message being sent, by this device's clock; 0 without one.
  let lastUnsentAt: Int64

  /// The conversation of the server.
  public var conversation: Conversation { replica.conversation }
  /// Nil if unknown.
  public var unread: Int? { replica.unread }

  /// Whether the user has left or deleted the conversation, and the server does not know it yet.
  public var isEnding: Bool { waiting.contains { $0.isExpected && $0.work.endsConversation } }

  /// The conversation's title, also an unsent one, its forum's, or the names of the other participants.
  public var title: String {
    for operation in waiting.reversed() where operation.isExpected {
      if let title = operation.work.title, !title.isEmpty { return title }
    }
    if let title = conversation.title, !title.isEmpty { return title }
    if let forum { return forum.title }
    return others.compactMap { $0.summary.displayName ?? $0.summary.name }.joined(separator: ", ")
  }

  /// The sort key. Ids increase with time, so the id of a conversation without messages is its creation time. Unsent
  /// messages are newer than all sent ones, except those that the server refused.
  var activity: (Int64, Int) {
    (lastUnsentAt, max(conversation.lastMessage?.number ?? 0, conversation.id.number))
  }
}

extension Cache {
  func shown(_ id: ID<Conversation>) throws(CacheFault) -> ShownConversation? {
    guard let known = replica.conversations[id] else { return nil }
    let newest = try messages(.range(1...Int.max, of: id, .descending, limit: 1))
    let others = (known.conversation.participants ?? []).map(\.user).filter { $0 != replica.me?.summary.id }
    let unsent = unsent(in: id)
    let changes = operations.values.filter { $0.conversation == id && $0.kind.isOfConversation }
    let sending = unsent.compactMap(\.waiting.first).filter { $0.failure?.isTemporary ?? true }
    return ShownConversation(
      replica: known, last: unsent.last ?? shown(newest).first, draft: draft(in: id),
      forum: known.conversation.forum.flatMap { replica.forums[$0]?.forum }, others: others.compactMap { user($0) },
      waiting: changes.sorted { $0.order < $1.order },
      lastUnsentAt: sending.map(\.createdAt).max() ?? 0)
  }

  /// The user's own conversations by last activity, newest first.
  public func ownConversations() throws(CacheFault) -> [ShownConversation] {
    var all: [ShownConversation] = []
    for (id, known) in replica.conversations where known.isOwn { if let shown = try shown(id) { all.append(shown) } }
    return all.sorted { $0.activity > $1.activity }
  }
}

extension OutboxOperation {
  /// Whether it is sent without the user's doing.
  fileprivate var isExpected: Bool { failure?.isTemporary ?? true }
}

extension OutboxOperation.Kind {
  /// Whether it changes or ends a conversation that exists.
  fileprivate var isOfConversation: Bool {
    switch self {
    case .updateConversation, .leaveConversation, .deleteConversation: true
    case .send, .edit, .delete, .action, .read, .createConversation: false
    }
  }
}

extension OutboxOperation.Work {
  fileprivate var endsConversation: Bool {
    switch self {
    case .leaveConversation, .deleteConversation: true
    case .send, .edit, .delete, .action, .read, .createConversation, .updateConversation: false
    }
  }

  /// The new title of a change; nil for one that keeps it.
  fileprivate var title: String? {
    guard case .updateConversation(let body) = self else { return nil }
    do throws(JSONError) {
      var object = try JSONValue(parsing: body.bytes).object()
      return try object.optional("title")
    } catch {
      return nil
    }
  }
}

extension Parley {
  /// The user's own conversations, at once and after every change. A slow consumer receives only the newest list.
  public nonisolated func conversationLists() -> AsyncStream<[ShownConversation]> {
    lists { cache throws(CacheFault) in try cache.ownConversations() }
  }

  /// The forums by last activity, newest first, in the same way.
  public nonisolated func forumLists() -> AsyncStream<[ReplicaForum]> {
    lists { cache throws(CacheFault) in cache.forums }
  }

  private nonisolated func lists<Element: Sendable & Equatable>(
    _ read: @escaping @Sendable (isolated Cache) throws(CacheFault) -> [Element]
  ) -> AsyncStream<[Element]> {
    let (stream, continuation) = AsyncStream.makeStream(of: [Element].self, bufferingPolicy: .bufferingNewest(1))
    let cache = cache
    // Changes during a read cause one more read, regardless of their number.
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
        // On a read failure the previous list stays.
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
