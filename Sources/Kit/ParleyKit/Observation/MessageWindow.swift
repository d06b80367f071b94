// The list that a view shows: a bounded range of one conversation, with the unsent messages at the newest end. It reads
// only the cache, all of it at once; missing messages are fetched into the cache.

public import ParleyModel

/// A bounded part of a conversation's messages, for a list.
public actor MessageWindow {
  /// A change of the list. Deltas are applied in order.
  public enum Delta: Sendable, Hashable {
    /// A new message, at its index in the new list.
    case insert(ShownMessage, at: Int)
    /// The message at an index has left the list.
    case remove(at: Int)
    /// The message at an index has changed.
    case replace(ShownMessage, at: Int)
  }

  /// The list and the changes since the previous one.
  public struct Update: Sendable, Hashable {
    /// The list, oldest first, unsent messages last.
    public var messages: [ShownMessage]
    /// The changes since the previous list.
    public var deltas: [Delta]
    /// Whether there are messages before and after the list.
    public var hasOlder: Bool
    /// Whether there are messages after the list.
    public var hasNewer: Bool
    /// Indexes in the list with missing messages right before them, such as when offline. If the newest messages are missing,
    /// it is the index after the last sent message: `messages.count` without unsent messages. Moving the window fetches
    /// missing messages.
    public var gaps: [Int] = []
  }

  /// The conversation of the messages.
  public let conversation: ID<Conversation>
  private let cache: Cache
  private let sync: Sync?
  private let size: Int
  private let filter: MessageFilter?
  private var range: Range
  /// Whether a filtered list that is too long ends earlier, not begins later.
  private var dropsNewest = false
  /// The number of the read that `current` shows.
  private var lastRead = 0
  private var current: Update
  private var observers: [Int: AsyncStream<Update>.Continuation] = [:]
  private var lastObserver = 0
  private var watchTask: Task<Void, Never>?

  /// - Parameters:
  ///   - sync: fetches uncached messages; without it the window shows only cached messages.
  ///   - size: the messages that each move adds.
  ///   - limit: the most messages. A move beyond it drops the messages at the other end.
  ///   - isIncluded: a filter, applied before messages are counted: a move examines up to ten times `size` messages for
  ///     `size` that match. Unsent messages are not filtered.
  public init(
    _ conversation: ID<Conversation>, _ cache: Cache, _ sync: Sync? = nil, size: Int = 50, limit: Int = 200,
    where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil
  ) {
    self.conversation = conversation
    self.cache = cache
    self.sync = sync
    self.size = size
    let limit = max(size, limit)
    filter = isIncluded.map { MessageFilter(isIncluded: $0, limit: limit) }
    range = Range(limit: filter == nil ? limit : limit * MessageFilter.examined)
    current = Update(messages: [], deltas: [], hasOlder: false, hasNewer: false)
  }

  deinit { watchTask?.cancel() }

  /// The list as it is now.
  public var messages: [ShownMessage] { current.messages }
  /// Whether there are messages before the list.
  public var hasOlder: Bool { current.hasOlder }
  /// Whether there are messages after the list.
  public var hasNewer: Bool { current.hasNewer }

  /// The part of the conversation that the window shows.
  struct Range: Sendable, Hashable {
    /// Nil until the window is first moved.
    var first: Int?
    /// Nil while the window is pinned to the newest messages.
    var last: Int?
    /// Whether the view is scrolled to the end.
    var isSticking = true
    let limit: Int

    var seqs: ClosedRange<Int> {
      let start = first ?? 1
      return start...max(start, last ?? Int.max)
    }

    /// Drops the oldest messages beyond the limit. While the view is scrolled up, a pinned window grows to twice the limit
    /// and then stops appending.
    mutating func bound(end: Int) {
      guard last == nil, let first, end - first >= limit else { return }
      if isSticking {
        self.first = end - limit + 1
      } else if end - first >= 2 * limit {
        last = first + 2 * limit - 1
      }
    }
  }

  /// Call it when the view is scrolled to the end, and when it no longer is: then new messages drop no old ones.
  public func setSticking(_ isSticking: Bool) async throws {
    range.isSticking = isSticking
    try await refresh()
  }

  // MARK: Moving

  /// Moves to the newest messages and stays pinned to them: new messages are appended.
  @discardableResult
  public func newest() async throws -> Update {
    await watch()
    let before = current.messages
    dropsNewest = false
    // Cached messages are shown at once.
    await moveToNewest()
    try await refresh()
    try await refreshConversation()
    await moveToNewest()
    try await refresh()
    var update = try await fillOlder()
    update.deltas = Self.deltas(from: before, to: update.messages)
    return update
  }

  private func moveToNewest() async {
    let end = await end
    (range.first, range.last) = (max(1, end - size + 1), nil)
  }

  /// Adds `count` older messages. Fetches uncached ones.
  @discardableResult
  public func older(_ count: Int? = nil) async throws -> Update {
    guard range.first != nil else { return try await newest() }
    let before = current.messages
    dropsNewest = true
    defer { dropsNewest = false }
    let end = await end
    let first = range.first ?? 1
    if first > 1 {
      let start = max(1, first - (count ?? size))
      range.first = start
      if (range.last ?? end) - start >= range.limit { range.last = start + range.limit - 1 }
    }
    var update = try await fillOlder(count, before: first)
    if filter != nil { update.deltas = Self.deltas(from: before, to: update.messages) }
    return update
  }

  /// Fetches the range. A filtered window moves on until it shows `count` messages before `end`, or has examined enough.
  private func fillOlder(_ count: Int? = nil, before end: Int = .max) async throws -> Update {
    try await fetch()
    var update = try await refresh()
    guard filter != nil else { return update }
    for _ in 1..<MessageFilter.examined {
      guard let first = range.first, update.hasOlder, update.count(where: { $0 < end }) < count ?? size else { break }
      range.first = max(1, first - size)
      try await fetch()
      update = try await refresh()
    }
    return update
  }

  /// The same at the other end.
  private func fillNewer(_ count: Int? = nil, after start: Int) async throws -> Update {
    try await fetch()
    var update = try await refresh()
    guard filter != nil else { return update }
    for _ in 1..<MessageFilter.examined {
      guard let last = range.last, update.count(where: { $0 > start }) < count ?? size else { break }
      let end = await end
      range.last = last + size >= end ? nil : last + size
      try await fetch()
      update = try await refresh()
    }
    return update
  }

  /// Adds `count` newer messages. Fetches uncached ones. At the end the window is pinned to the newest again.
  @discardableResult
  public func newer(_ count: Int? = nil) async throws -> Update {
    guard range.first != nil else { return try await newest() }
    let before = current.messages
    let end = await end
    let start = range.last ?? end
    if let last = range.last {
      let newEnd = min(last + (count ?? size), max(last, end))
      range.last = newEnd >= end ? nil : newEnd
      range.first = max(range.first ?? 1, newEnd - range.limit + 1)
    }
    var update = try await fillNewer(count, after: start)
    if filter != nil { update.deltas = Self.deltas(from: before, to: update.messages) }
    return update
  }

  /// Moves to a message, with half a window on either side. Fetches uncached messages. The window is pinned to the newest
  /// message only if it contains it.
  @discardableResult
  public func around(_ message: ID<Message>) async throws -> Update {
    await watch()
    try await refreshConversation()
    guard let seq = try await seq(of: message) else { throw SyncRefusal.unknownMessage }
    let start = max(1, seq - size / 2)
    let newEnd = start + size - 1
    let end = await end
    (range.first, range.last) = (start, newEnd >= end ? nil : newEnd)
    let before = current.messages
    var update = try await fillOlder(size / 2, before: seq)
    guard filter != nil else { return update }
    update = try await fillNewer(size / 2, after: seq)
    update.deltas = Self.deltas(from: before, to: update.messages)
    return update
  }

  /// Fetches the state of a conversation without events: the user is not a participant.
  private func refreshConversation() async throws {
    guard let sync, await cache.replica.cursor != nil else { return }
    if await cache.replica.conversations[conversation]?.isOwn ?? false { return }
    try await ignoringOffline { try await sync.refresh(conversation) }
  }

  /// Ignores temporary faults, and lost access to a conversation with cached messages: the cached messages are shown.
  private func ignoringOffline(_ request: () async throws -> Void) async throws {
    do { try await request() } catch let fault as ClientFault {
      if fault.isTemporary { return }
      guard fault.isGone, await !cache.history(of: conversation).cached.all.isEmpty else { throw fault }
    }
  }

  private func seq(of message: ID<Message>) async throws -> Int? {
    var found = try await cache.messages(.ids([message])).first?.message
    if found == nil { found = try await sync?.refresh([message]).first?.message }
    return found?.conversation == conversation ? found?.seq : nil
  }

  /// Fetches the uncached messages of the window.
  private func fetch() async throws {
    let newEnd = await end
    let range = range
    let start = max(range.first ?? 1, await cache.replica.conversations[conversation]?.participation?.fromSeq ?? 1)
    let stop = min(range.last ?? newEnd, newEnd)
    guard let sync, start <= stop else { return }
    try await ignoringOffline {
      try await sync.fetch(start...stop, of: conversation)
      try await sync.refreshActions(in: start...stop, of: conversation)
    }
  }

  private var end: Int {
    get async { await cache.end(of: conversation) }
  }

  // MARK: Reading

  @discardableResult
  private func refresh() async throws(CacheFault) -> Update {
    while true {
      let range = range
      let content = try await cache.windowContent(of: conversation, range)
      // Another refresh may have shown a later read, or the window may have moved, during the `await`.
      guard content.read > lastRead, self.range == range else { continue }
      lastRead = content.read
      self.range = content.range
      if let filter {
        self.range = filter.bounded(content, droppingNewest: dropsNewest)
        // The shorter range is read again.
        if self.range != content.range { continue }
      }
      return show(content)
    }
  }

  private func show(_ content: WindowContent) -> Update {
    let (shown, gaps) = filter?.apply(to: content) ?? (content.messages, content.gaps)
    let (last, start) = (content.range.last, content.range.first ?? 1)
    let old = current
    let update = Update(
      messages: shown, deltas: Self.deltas(from: old.messages, to: shown), hasOlder: start > content.from,
      hasNewer: last != nil && content.hasUnfetched, gaps: gaps)
    current = update
    let hasMoved = update.hasOlder != old.hasOlder || update.hasNewer != old.hasNewer
    if update.messages != old.messages || update.gaps != old.gaps || hasMoved {
      for observer in observers.values { observer.yield(update) }
    }
    return update
  }

  /// Compares by identity: a sent message replaces its unsent form.
  static func deltas(from old: [ShownMessage], to new: [ShownMessage]) -> [Delta] {
    var deltas: [Delta] = []
    var list = old
    let difference = new.map(\.identity).difference(from: old.map(\.identity))
    for change in difference {
      switch change {
      case .remove(let offset, _, _):
        deltas.append(.remove(at: offset))
        list.remove(at: offset)
      case .insert(let offset, _, _):
        deltas.append(.insert(new[offset], at: offset))
        list.insert(new[offset], at: offset)
      }
    }
    for (index, message) in new.enumerated() where list[index] != message {
      deltas.append(.replace(message, at: index))
    }
    return deltas
  }

  // MARK: Observers

  /// The current list and each change.
  public func updates() async -> AsyncStream<Update> {
    await watch()
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: Update.self)
    observers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
    continuation.yield(current)
    return stream
  }

  private func removeObserver(_ observer: Int) { observers[observer] = nil }

  private func watch() async {
    guard watchTask == nil else { return }
    watchTask = Task {}
    let updates = await cache.updates()
    let conversation = conversation
    watchTask = Task { [weak self] in
      for await update in updates {
        guard update.isErased || update.messages.contains(conversation) || !update.operations.isEmpty else { continue }
        guard let self else { return }
        // If the cache can't be read, the list stays as it is.
        _ = try? await self.refresh()
      }
    }
  }
}

/// The messages of a window.
struct WindowContent: Sendable {
  /// Increases with each read.
  let read: Int
  let range: MessageWindow.Range
  let messages: [ShownMessage]
  /// The first readable `seq`, and the highest known one.
  let from: Int
  let end: Int
}

extension Cache {
  /// Reads a range with the unsent messages at its end, at once: a message being sent is always in one of them.
  func windowContent(of conversation: ID<Conversation>, _ range: MessageWindow.Range) throws(CacheFault)
    -> WindowContent
  {
    let end = end(of: conversation)
    var range = range
    range.bound(end: end)
    var all = shown(try messages(.range(range.seqs, of: conversation)))
    if range.last == nil {
      // The event of a message may arrive before the response to its request.
      let known = Set(all.map(\.identity))
      all += unsent(in: conversation).filter { !known.contains($0.identity) }
    }
    var from = replica.conversations[conversation]?.participation?.fromSeq ?? 1
    let history = history(of: conversation)
    // The history is complete: there are no readable messages before its first.
    if history.sync == .complete, let begin = history.first { from = max(from, begin) }
    return WindowContent(read: nextRead(), range: range, messages: all, from: from, end: end)
  }
}
