// Unsent messages, cached ranges of conversations, drafts, and observers.

import ParleyJSON
public import ParleyModel

extension Cache {
  // MARK: Unsent messages

  /// The message that an operation will create, with its index entry; nil if it creates none.
  func unsent(_ operation: OutboxOperation) -> CachedMessage? {
    guard let draft = operation.draft else { return nil }
    if let known = unsent[operation.id], known.draft == draft { return known.message }
    let message = operation.message(
      of: draft, by: replica.me?.summary.id ?? ID(0),
      after: replica.conversations[operation.conversation]?.conversation
    ) { name in user(named: name) }
    let cached = CachedMessage(
      ReplicaMessage(MessageView(message), asOf: 0), generation: generation, indexing.index(message))
    unsent[operation.id] = (draft, cached)
    return cached
  }

  func user(named name: String) -> ID<User>? {
    let key = name.lowercased()
    if replica.me?.summary.name?.lowercased() == key { return replica.me?.summary.id }
    return replica.users.values.first { $0.summary.name?.lowercased() == key }?.summary.id
  }

  // MARK: Histories and drafts

  /// The cached ranges of a conversation.
  public func history(of conversation: ID<Conversation>) -> CachedHistory {
    var history = histories[conversation] ?? CachedHistory()
    guard history.sync == .complete, let known = replica.conversations[conversation] else { return history }
    // Messages posted before a reset leave a gap in a complete history. No response states where the readable history
    // begins: in a forum it may begin later than the participation.
    let (first, last) = (history.first ?? history.cached.all.first?.lowerBound ?? .max, known.conversation.lastSeq)
    if first <= last, let gap = history.cached.missing(in: first...last).last {
      history.sync = .started(before: gap.upperBound + 1)
    }
    return history
  }

  /// The state of several conversations: complete if all are, started if one is.
  public func syncState(of conversations: [ID<Conversation>]) -> SyncState {
    let states = conversations.map { history(of: $0).sync }
    guard let rest = states.first(where: { $0 != .complete }) else { return .complete }
    if rest != .notStarted { return rest }
    return states.allSatisfy { $0 == .notStarted } ? .notStarted : .started(before: .max)
  }

  /// The conversations with cached messages, in ascending order.
  public var cachedConversations: [ID<Conversation>] { histories.keys.sorted() }

  func setSync(_ state: SyncState, of conversation: ID<Conversation>) throws(CacheFault) {
    var changes = CacheChanges()
    changes.syncs[conversation] = state
    try change(bringing: [], changes) { _ in }
  }

  /// The unsent draft of the composer.
  public func draft(in conversation: ID<Conversation>) -> Draft? {
    drafts[conversation].flatMap { try? Draft(json: JSONValue(parsing: $0.bytes)) }
  }

  /// Stores a draft; nil removes it.
  public func setDraft(_ draft: Draft?, in conversation: ID<Conversation>) throws(CacheFault) {
    let key = conversation.description
    try save([draft.map { CacheRow(.draft, key, writing: $0) } ?? CacheRow(.draft, key, nil)])
  }

  /// Removes the draft of a conversation if it is one of these.
  func removeDraft(_ drafts: [Draft?], in conversation: ID<Conversation>) throws(CacheFault) {
    if let known = draft(in: conversation), drafts.contains(known) { try setDraft(nil, in: conversation) }
  }

  // MARK: Observers

  /// The changes from now on.
  public func updates() -> AsyncStream<CacheUpdate> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: CacheUpdate.self)
    observers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
    return stream
  }

  private func removeObserver(_ observer: Int) { observers[observer] = nil }

  func publish(_ update: CacheUpdate) {
    for observer in observers.values { observer.yield(update) }
  }
}
