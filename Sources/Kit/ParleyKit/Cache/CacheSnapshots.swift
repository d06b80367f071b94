// The snapshot of a new or reset copy.

public import ParleyModel

extension Cache {
  /// Applies a snapshot. Cached messages stay. Events between them and the snapshot may be missing: the caller verifies the
  /// messages, and then ends the reset.
  /// - Parameter lost: messages of conversations that are not in the snapshot. The user's own become orphans.
  /// - Returns: whether the cache belonged to another user and was erased.
  @discardableResult
  public func begin(
    _ snapshot: Snapshot, others: [OwnConversation] = [], lost: [Message] = []
  ) throws(CacheFault) -> Bool {
    try begin(snapshot, others: others, lost: lost, compared: nil) ?? false
  }

  /// - Parameter compared: the user's own messages of conversations that are not in the snapshot, as compared with the server;
  ///   nil if none are lost.
  /// - Returns: nil, without a change, if another response has stored such a message since the comparison.
  func begin(
    _ snapshot: Snapshot, others: [OwnConversation], lost: [Message], compared: [Message]?
  ) throws(CacheFault) -> Bool? {
    let isOther = owner.map { $0 != snapshot.me.summary.id } ?? false
    guard !isOther else {
      try seal()
      return true
    }
    if let compared {
      let known = Set((snapshot.conversations + others).map(\.conversation.id))
      guard try ownMessages(outside: known).without(compared).isEmpty else { return nil }
    }
    var fresh = Replica(snapshot)
    for own in others {
      fresh.merge(own, asOf: snapshot.cursor.event)
      if let last = own.lastMessage { fresh.merge([last], asOf: snapshot.cursor.event) }
    }
    var changes = CacheChanges()
    var generation = generation
    let before = replica.cursor
    if before != nil || isResetting {
      if before?.isOtherHistory(than: snapshot.cursor) ?? true {
        generation += 1
        changes.rows.append(CacheRow(.note, "generation", writing: generation))
        changes.rows.append(CacheRow(.note, Self.timelineNote, nil))
      }
      // A digest does not cover actions: those of cached messages may be stale from now on.
      changes.rows.append(CacheRow(.note, Self.actionsNote, writing: snapshot.cursor.event))
      changes.rows.append(CacheRow(.note, Self.resetNote, writing: 1))
      // All of it is compared.
      changes.rows += ahead.keys.map { CacheRow(.note, "\(Self.aheadPrefix)\($0)", nil) }
      // The snapshot has no actions of cached messages.
      fresh.keepMessageNeeds(of: replica)
      // Conversations without a subscription: a window fetches their messages again.
      for id in histories.keys where fresh.conversations[id] == nil { changes.removed.append(.init(id)) }
    }
    let last = fresh.conversations.values.flatMap { $0.messages.values.map(\.message.id) }
    var cached: [ID<Message>: ReplicaMessage] = [:]
    for one in try self.messages(.ids(last)) where one.generation == generation { cached[one.message.id] = one.replica }
    changes.rows += try orphans(
      of: cachedCopies(of: lost), beside: fresh.conversations.values.flatMap { $0.messages.values.map(\.message) })
    changes.rows += try unsealed(for: snapshot.me.summary.id)
    if notes[Self.ownerNote] != nil { changes.rows.append(CacheRow(.note, Self.ownerNote, nil)) }
    var stored = fresh
    stored.setMessagesAside()
    for new in fresh.conversations.values.flatMap(\.messages.values) {
      let merged = cached[new.message.id]?.merged(with: new) ?? new
      let name = try locationName(of: merged.message)
      changes.messages.append(
        CachedMessage(merged, generation: generation, indexing.index(merged.message, locationName: name)))
    }
    try save(stored, bringing: [], changes)
    return false
  }

  static let resetNote = "reset"

  /// Whether a snapshot was applied and the cached messages were not all verified. The copy may mix two histories.
  var isResetting: Bool { notes[Self.resetNote] != nil }

  func endReset() throws(CacheFault) {
    if isResetting { try save([CacheRow(.note, Self.resetNote, nil)]) }
  }

  /// Erases all data, except sealed work. The cache can be used again.
  public func erase() throws(CacheFault) { try erase(keeping: try store.rows(of: .sealed)) }

  func erase(keeping kept: [CacheRow]) throws(CacheFault) {
    let version = Self.indexRow(indexing)
    try store.erase(keeping: kept + [version])
    forget()
    notes = [version.key: version.value].compactMapValues { $0 }
    publish(CacheUpdate.erased)
  }

  /// Forgets the stored state. Tasks that began before must not write.
  func forget() {
    (replica, histories, operations, drafts, orphans) = (Replica(), [:], [:], [:], [:])
    (unsent, locationRequests) = ([:], [])
    eraseCount += 1
  }

  /// The work of the user that the server does not have, also of a locked copy.
  func unsentWork() throws(CacheFault) -> Unsent {
    if lockedFor == nil { return (operations, drafts, orphans) }
    let work = try StoredWork(store)
    return (work.operations, work.drafts, work.orphans)
  }

  /// Loads the stored state after a lock.
  func load() throws(CacheFault) {
    let stored = try StoredCopy(store)
    if !stored.repairs.isEmpty { try store.save(stored.repairs) }
    (replica, histories) = (stored.replica, stored.histories)
    (operations, drafts, orphans) = stored.unsent
    applyLocal(stored.repairs.rows)
    publish(CacheUpdate.erased)
  }

  /// Closes the cache. Further calls throw `closed`.
  public func close() {
    isClosed = true
    for observer in observers.values { observer.finish() }
    observers = [:]
  }
}
