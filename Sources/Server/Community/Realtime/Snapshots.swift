// The data of a client's first screen, read in one transaction.

public import ParleyModel
import Storage

extension Community {
  /// Runs in the background, because its cost grows with the number of conversations.
  public func getSnapshot(for caller: Caller) async throws(Refusal) -> Snapshot {
    let user = try caller.requireUser()
    let (epoch, start) = (store.epoch, store.starts.current)
    return try await store.readInBackground(.catchUp, for: caller.turn) { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard let me = try tx.user(user) else { throw .unauthenticated }
      var snapshot = Snapshot(
        EventCursor(epoch: epoch, start: start, event: try tx.lastEvent()), me: me, settings: try tx.settings())
      let forums = try tx.forums(
        for: user, seeing: Permissions.readable(to: caller.role), ListSlice(limit: bounds.snapshotForums + 1))
      let own = try tx.ownConversations(of: user, limit: bounds.snapshotConversations + 1)
      snapshot.hasMoreForums = forums.count > bounds.snapshotForums
      snapshot.forums = Array(forums.prefix(bounds.snapshotForums))
      var conversations = try tx.readable(
        Array(own.prefix(bounds.snapshotConversations)), in: forums, by: caller, user, bounds)
      let count = conversations.count
      try tx.addLastMessages(to: &conversations, maxBytes: bounds.snapshotBytes)
      snapshot.hasMoreConversations = own.count > bounds.snapshotConversations || conversations.count < count
      snapshot.conversations = try tx.views(conversations, by: caller, bounds)
      snapshot.levels = try tx.levels(of: user)
      snapshot.relations = try tx.relations(of: user)
      var reading = NotificationFilter(caller)
      snapshot.inbox = try tx.unreadInbox(of: user, &reading)
      snapshot.users = try tx.users(in: snapshot, max: bounds.snapshotUsers, for: caller)
      for stream in [EventStream.site, .user(user)] { snapshot.offsets[stream] = 0 }
      for head in try tx.heads(of: [.site, .user(user)], movedSince: 0) {
        snapshot.offsets[head.stream] = head.offset
      }
      return snapshot
    }
  }
}

extension ReadTransaction {
  /// The conversations that the caller may read, each from its first readable message. In a forum with full history the
  /// rights need no query per conversation.
  ///
  /// - Parameter known: forums that were read in this transaction.
  fileprivate func readable(
    _ conversations: [OwnConversation], in known: [ForumView], by caller: Caller, _ user: ID<User>, _ bounds: Bounds
  ) throws(Refusal) -> [OwnConversation] {
    let ids = Set(conversations.compactMap(\.conversation.forum)).sorted()
    var standings = Dictionary(known.map { ($0.forum.id, $0.standing) }) { one, _ in one }
    for view in try forums(ids.filter { standings[$0] == nil }, for: user) { standings[view.forum.id] = view.standing }
    let limited = try forumsWithHistoryStart(among: ids, for: user)
    var readable: [OwnConversation] = []
    for own in conversations {
      guard let id = own.conversation.forum else {
        readable.append(own)
        continue
      }
      guard let standing = standings[id], Permissions.rights(of: caller.role, in: standing).contains(.read) else {
        continue
      }
      readable.append(
        limited.contains(id) ? try ownConversation(own.conversation.id, for: caller, user, bounds) : own)
    }
    return readable
  }

  /// The users that appear in the snapshot. A guest gets only those it may see.
  fileprivate func users(
    in snapshot: Snapshot, max limit: Int, for caller: Caller
  ) throws(Refusal) -> [User] {
    var named: Set<ID<User>> = []
    for own in snapshot.conversations {
      if let message = own.lastMessage { named.insert(message.message.author) }
      named.formUnion(own.conversation.participants?.map(\.user) ?? [])
    }
    named.remove(snapshot.me.summary.id)
    let ids = Array(named.sorted().prefix(limit))
    if caller.role == .guest {
      var seen: [User] = []
      for id in ids {
        do {
          seen.append(try user(.id(id), for: caller).user.redacted(for: .see))
        } catch Refusal.notFound {
          continue
        }
      }
      return seen
    }
    let found = try users(ids)
    return ids.compactMap { found[$0]?.redacted(for: .see) }
  }
}
