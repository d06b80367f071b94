// The list that a view shows: a stretch of one conversation, with what was not sent yet at its newest end. It reads the cache
// alone, and asks the server for what is missing at its edges.

public import ParleyModel

public actor MessageWindow {
  /// What has changed in the list, to be applied one after the other.
  public enum Delta: Sendable, Hashable {
    case insert(ShownMessage, at: Int)
    case remove(at: Int)
    case replace(ShownMessage, at: Int)
  }

  /// The list as it is, and how it came to be that.
  public struct Update: Sendable, Hashable {
    public var messages: [ShownMessage]
    public var deltas: [Delta]
    /// Whether there is more before and after it.
    public var hasOlder: Bool
    public var hasNewer: Bool
    /// Places in the list right before which messages are missing that are not held, such as without a network; where the
    /// newest are, that is behind the last message: `messages.count`, where nothing waits to be sent. To move the window
    /// asks for them.
    public var gaps: [Int] = []
  }

  public let conversation: ID<Conversation>
  private let cache: Cache
  private let sync: Sync?
  private let size: Int
  /// Nil while it was not moved anywhere.
  private var first: Int?
  /// Nil while it sticks to the newest.
  private var last: Int?
  private var current: Update
  private var observers: [Int: AsyncStream<Update>.Continuation] = [:]
  private var lastObserver = 0
  private var watchTask: Task<Void, Never>?

  /// - Parameter sync: asked for what is not held; without it the window shows what is.
  public init(_ conversation: ID<Conversation>, _ cache: Cache, _ sync: Sync? = nil, size: Int = 50) {
    self.conversation = conversation
    self.cache = cache
    self.sync = sync
    self.size = size
    current = Update(messages: [], deltas: [], hasOlder: false, hasNewer: false)
  }

  deinit { watchTask?.cancel() }

  public var messages: [ShownMessage] { current.messages }
  public var hasOlder: Bool { current.hasOlder }
  public var hasNewer: Bool { current.hasNewer }

  // MARK: Moving

  /// To the newest, and stays there: what comes is appended.
  @discardableResult
  public func newest() async throws -> Update {
    await watch()
    let before = current.messages
    // What is held shows at once.
    await moveToNewest()
    try await refresh()
    try await refreshConversation()
    await moveToNewest()
    try await refresh()
    try await fetch()
    var update = try await refresh()
    update.deltas = Self.deltas(from: before, to: update.messages)
    return update
  }

  private func moveToNewest() async {
    let end = await end
    last = nil
    first = max(1, end - size + 1)
  }

  /// So many more at the beginning; what is not held is asked for.
  @discardableResult
  public func older(_ count: Int? = nil) async throws -> Update {
    guard let first else { return try await newest() }
    if first > 1 { self.first = max(1, first - (count ?? size)) }
    try await fetch()
    return try await refresh()
  }

  /// So many more at the end, until it sticks to the newest again; what is not held is asked for.
  @discardableResult
  public func newer(_ count: Int? = nil) async throws -> Update {
    guard first != nil else { return try await newest() }
    if let last {
      let newEnd = last + (count ?? size)
      self.last = newEnd >= (await end) ? nil : newEnd
    }
    try await fetch()
    return try await refresh()
  }

  /// To a message, with as many on either side as fit; one that is not held is asked for. It does not follow the newest
  /// then, unless that is in it.
  @discardableResult
  public func around(_ message: ID<Message>) async throws -> Update {
    await watch()
    try await refreshConversation()
    guard let seq = try await seq(of: message) else { throw SyncRefusal.unknownMessage }
    let start = max(1, seq - size / 2)
    let newEnd = start + size - 1
    first = start
    last = newEnd >= (await end) ? nil : newEnd
    try await fetch()
    return try await refresh()
  }

  /// Of a conversation in which one takes no part, no event tells what is new.
  private func refreshConversation() async throws {
    guard let sync, await cache.replica.cursor != nil else { return }
    if await cache.replica.conversations[conversation]?.isOwn ?? false { return }
    try await ignoringOffline { try await sync.refresh(conversation) }
  }

  /// Without a network what is held is shown, and so it is where the server gives this user nothing of it any longer.
  private func ignoringOffline(_ ask: () async throws -> Void) async throws {
    do { try await ask() } catch let fault as ClientFault {
      if fault.isTemporary { return }
      guard fault.isGone, await !cache.history(of: conversation).held.all.isEmpty else { throw fault }
    }
  }

  private func seq(of message: ID<Message>) async throws -> Int? {
    var held = try await cache.messages(.ids([message])).first?.message
    if held == nil { held = try await sync?.refresh([message]).first?.message }
    return held?.conversation == conversation ? held?.seq : nil
  }

  /// What of it is not held is asked for.
  private func fetch() async throws {
    let newEnd = await end
    let start = max(first ?? 1, await cache.replica.conversations[conversation]?.participation?.fromSeq ?? 1)
    let stop = min(last ?? newEnd, newEnd)
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
    let start = first ?? 1
    let seqs = start...max(start, last ?? Int.max)
    var shown = await cache.shown(try await cache.messages(.range(seqs, of: conversation)))
    let newestSeq = shown.last?.message?.seq ?? 0
    if last == nil {
      // An event may tell of a message before its sending is answered.
      let known = Set(shown.map(\.identity))
      shown += await cache.unsent(in: conversation).filter { !known.contains($0.identity) }
    }
    let held = shown.prefix { $0.held != nil }.compactMap(\.message)
    let old = current
    var from = await cache.replica.conversations[conversation]?.participation?.fromSeq ?? 1
    let history = await cache.history(of: conversation)
    // Nobody gives us what is before.
    if history.sync == .complete, let begin = history.first { from = max(from, begin) }
    let hasUnfetched = await end > newestSeq
    var gaps = zip(held, held.dropFirst()).enumerated().filter { $0.element.0.id != $0.element.1.previous }
      .map { $0.offset + 1 }
    if let oldest = held.first, oldest.seq > max(start, from) { gaps.insert(0, at: 0) }
    if last == nil, hasUnfetched, !held.isEmpty { gaps.append(held.count) }
    // Another refresh may have been quicker while this one waited: the deltas are from what is shown now.
    let update = Update(
      messages: shown, deltas: Self.deltas(from: current.messages, to: shown), hasOlder: start > from,
      hasNewer: last != nil && hasUnfetched, gaps: gaps)
    current = update
    if update.messages != old.messages || update.gaps != old.gaps {
      for observer in observers.values { observer.yield(update) }
    }
    return update
  }

  /// By identity: a message that was sent takes the place of the one that waited.
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

  // MARK: Watching

  /// The list at once, and whenever it is another.
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
      for await one in updates {
        guard one.isErased || one.messages.contains(conversation) || !one.operations.isEmpty else { continue }
        guard let self else { return }
        // What can't be read now shows what it showed before.
        _ = try? await self.refresh()
      }
    }
  }
}
