// Events and the messages that they need, names of locations, and files that messages lose.

public import ParleyModel

extension Cache {
  // MARK: Gone files

  private static let goneFilePrefix = "gone file "

  /// The files that messages have lost, by a deletion or an edit, and whose pictures are still to be removed. They survive a
  /// restart of the app.
  var goneFiles: [ID<File>] {
    notes.keys.compactMap { key in
      key.hasPrefix(Self.goneFilePrefix) ? ID<File>(String(key.dropFirst(Self.goneFilePrefix.count))) : nil
    }
  }

  /// Notes that the pictures of these files were removed.
  func forgetGone(_ files: [ID<File>]) throws(CacheFault) {
    try save(files.map { CacheRow(.note, "\(Self.goneFilePrefix)\($0)", nil) })
  }

  /// - Parameters:
  ///   - loaded: the messages before the change.
  ///   - unknown: ids for which none were loaded.
  func goneFileRows(
    _ new: [Message], _ loaded: [ID<Message>: ReplicaMessage], unknown: Set<ID<Message>>
  ) throws(CacheFault) -> [CacheRow] {
    guard keepsPictures else { return [] }
    let wanted = new.filter { loaded[$0.id] == nil && ($0.content == nil || unknown.contains($0.id)) }.map(\.id)
    var earlier = loaded
    for known in try replicas(.ids(wanted)) { earlier[known.message.id] = known }
    var gone: Set<ID<File>> = []
    for message in new {
      guard let before = earlier[message.id]?.message, before.isSame(as: message) else { continue }
      gone.formUnion(Set(before.content?.attachments ?? []).subtracting(message.content?.attachments ?? []))
    }
    return gone.sorted().map { CacheRow(.note, "\(Self.goneFilePrefix)\($0)", writing: 1) }
  }

  // MARK: Location names

  /// The name that the app has given to an unnamed location.
  func locationName(of message: Message) throws(CacheFault) -> String? {
    guard indexing.locationName != nil, message.unnamedLocation != nil else { return nil }
    return try messages(.ids([message.id])).first?.index.locationName
  }

  /// Requests the names of unnamed locations from the app, one by one, in the background.
  func requestLocationNames(of messages: [CachedMessage]) {
    guard indexing.locationName != nil else { return }
    let nameless = messages.filter { cached in
      let message = cached.message
      return cached.index.locationName == nil && message.unnamedLocation != nil
        && locationRequests.insert(message.id).inserted
    }
    guard !nameless.isEmpty else { return }
    let ids = nameless.map(\.message.id)
    let eraseCount = eraseCount
    Task {
      for id in ids {
        guard self.eraseCount == eraseCount else { return }
        // A location without a name is requested again when the message is saved again, such as with a new action.
        if await !self.resolveLocationName(of: id, eraseCount), self.eraseCount == eraseCount {
          self.locationRequests.remove(id)
        }
      }
    }
  }

  /// Requests the name of a message's location, if the message is still cached.
  /// - Returns: whether the location has a name now.
  private func resolveLocationName(of id: ID<Message>, _ eraseCount: Int) async -> Bool {
    do throws(CacheFault) {
      guard let location = try messages(.ids([id])).first?.message.unnamedLocation,
        let name = await indexing.locationName?(location), self.eraseCount == eraseCount,
        let cached = try messages(.ids([id])).first, cached.message.unnamedLocation == location
      else { return false }
      var changes = CacheChanges()
      changes.messages = [
        CachedMessage(cached.replica, generation: cached.generation, indexing.index(cached.message, locationName: name))
      ]
      try change(bringing: [], changes) { _ in }
      return true
    } catch {
      return false
    }
  }

  // MARK: Events

  /// The result of applying events.
  public struct Applied: Sendable, Hashable {
    /// The number of events that were applied or already known.
    public var count = 0
    /// The gap before the next event.
    public var missing: Missing?

    /// Missing events of a stream.
    public struct Missing: Sendable, Hashable {
      /// The stream with the gap.
      public var stream: EventStream
      /// The offset of the last event before the gap.
      public var after: Int
    }
  }

  /// Applies events in order up to the first gap of a stream, and saves them with the cursor. Events that fill a gap do not
  /// move the cursor: other events before them may be missing.
  public func apply(_ events: [ReceivedEvent], movesCursor: Bool = true) throws(CacheFault) -> Applied {
    let loaded = try messages(touchedBy: events)
    let cursor = replica.cursor
    var changes = CacheChanges()
    if !movesCursor, !events.isEmpty { changes.rows = aheadRows(of: events) }
    changes.rows += timelinePositionRows(of: events)
    return try change(bringing: loaded, changes) { replica in
      var applied = Applied()
      for event in events {
        if case .missing(let after) = replica.apply(event) {
          applied.missing = .init(stream: event.stream, after: after)
          break
        }
        applied.count += 1
      }
      if !movesCursor, let cursor { replica.move(to: cursor) }
      return applied
    }
  }

  func messages(touchedBy events: [ReceivedEvent]) throws(CacheFault) -> [ReplicaMessage] {
    var ids: Set<ID<Message>> = []
    var unread: Set<ID<Conversation>> = []
    for event in events {
      switch event.content {
      case .message(let message):
        ids.insert(message.id)
        // An event that the row includes may correct a count of the cached messages.
        if replica.conversations[message.conversation]?.includes(event) ?? false { unread.insert(message.conversation) }
      case .actions(let message, _), .star(let message, _), .poll(let message, _), .vote(let message, _):
        ids.insert(message)
      case .readPosition(let conversation, _): unread.insert(conversation)
      case .relations: unread.formUnion(replica.conversations.keys)
      case .receipt, .conversation, .gained, .participant, .member, .forum, .user, .settings, .level, .later,
        .timelinePosition, .inbox,
        .press, .commandReply, .thing, .hidden:
        break
      }
    }
    var found: [ID<Message>: ReplicaMessage] = [:]
    for known in try replicas(.ids(Array(ids))) { found[known.message.id] = known }
    for id in unread {
      guard let conversation = replica.conversations[id], conversation.isOwn else { continue }
      let seqs = conversation.unreadSeqs
      guard !seqs.isEmpty, seqs.count <= ConversationHead.maxUnread else { continue }
      for known in try replicas(.range(ClosedRange(seqs), of: id)) { found[known.message.id] = known }
    }
    return Array(found.values)
  }

  /// Moves the cursor: all events up to here were delivered.
  public func move(to cursor: EventCursor) throws(CacheFault) {
    try change { $0.move(to: cursor) }
  }

  /// Marks events as applied that are not available.
  func skip(_ stream: EventStream, to offset: Int, event: Int) throws(CacheFault) {
    let row = CacheRow(.stream, stream.description, writing: [offset, event])
    try change { replica throws(CacheFault) in
      do { try replica.take(ReplicaRow(.init(.stream, row.key), row.value)) } catch { throw .broken("\(error)") }
    }
  }
}
