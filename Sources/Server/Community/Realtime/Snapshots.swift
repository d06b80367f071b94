// What a first screen needs, of one moment.

public import ParleyModel
import Storage

extension Community {
  /// In the background: it grows with how much somebody takes part in.
  public func snapshot(for caller: Caller) async throws(Refusal) -> Snapshot {
    let account = try caller.person()
    let epoch = store.epoch
    return try await store.readInBackground { [bounds] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      guard let me = try tx.person(account) else { throw .unauthenticated }
      var snapshot = Snapshot(
        EventCursor(epoch: epoch, event: try tx.lastEvent()), me: me, settings: try tx.settings())
      let forums = try tx.forums(
        for: account, seeing: Permissions.readable(to: caller.role), limit: bounds.snapshotForums + 1)
      let own = try tx.ownConversations(of: account, limit: bounds.snapshotConversations + 1)
      snapshot.hasMoreForums = forums.count > bounds.snapshotForums
      snapshot.hasMoreConversations = own.count > bounds.snapshotConversations
      snapshot.forums = Array(forums.prefix(bounds.snapshotForums))
      var conversations = try tx.readable(
        Array(own.prefix(bounds.snapshotConversations)), by: caller, account, bounds)
      try tx.addLastMessages(to: &conversations)
      snapshot.conversations = try tx.seen(conversations, by: caller, bounds)
      snapshot.levels = try tx.levels(of: account)
      snapshot.relations = try tx.relations(of: account)
      var reading = InboxReading(caller)
      snapshot.inbox = try tx.unreadInbox(of: account, &reading)
      snapshot.people = try tx.people(namedIn: snapshot, most: bounds.snapshotPeople, for: caller)
      for stream in [EventStream.site, .user(account)] { snapshot.offsets[stream] = 0 }
      for head in try tx.heads(of: [.site, .user(account)], movedSince: 0) {
        snapshot.offsets[head.stream] = head.offset
      }
      return snapshot
    }
  }
}

extension ReadTransaction {
  /// Those that the caller may read, each from where they may. Of a forum that lets everyone read all there is nothing to
  /// ask; where it does not, each conversation is asked for alone.
  fileprivate func readable(
    _ conversations: [OwnConversation], by caller: Caller, _ account: ID<Account>, _ bounds: Bounds
  ) throws(Refusal) -> [OwnConversation] {
    let ids = Set(conversations.compactMap(\.conversation.forum)).sorted()
    let forums = try forums(ids)
    let roles = try roles(of: ids.map { Concern(account, $0) })
    let limited = try forumsWithHistoryStart(among: ids, for: account)
    var readable: [OwnConversation] = []
    for own in conversations {
      guard let id = own.conversation.forum else {
        readable.append(own)
        continue
      }
      guard let forum = forums[id] else { continue }
      let standing = ForumStanding(visibility: forum.visibility, role: roles[Concern(account, id)])
      guard Permissions.rights(of: caller.role, in: standing).contains(.read) else { continue }
      readable.append(limited.contains(id) ? try shown(own.conversation.id, to: caller, account, bounds) : own)
    }
    return readable
  }

  /// Whom a client has to know to show it. Guests know only some.
  fileprivate func people(
    namedIn snapshot: Snapshot, most: Int, for caller: Caller
  ) throws(Refusal) -> [Person] {
    var named: Set<ID<Account>> = []
    for own in snapshot.conversations {
      if let message = own.lastMessage { named.insert(message.message.author) }
      named.formUnion(own.conversation.participants?.map(\.account) ?? [])
    }
    named.remove(snapshot.me.account.id)
    let ids = Array(named.sorted().prefix(most))
    if caller.role == .guest {
      var seen: [Person] = []
      for id in ids {
        do {
          seen.append(try person(.id(id), for: caller).person.seen(with: .see))
        } catch Refusal.notFound {
          continue
        }
      }
      return seen
    }
    let found = try people(ids)
    return ids.compactMap { found[$0]?.seen(with: .see) }
  }
}
