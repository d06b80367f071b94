// Unread counts.

public import ParleyModel
import Storage

extension Community {
  /// Unread messages in the caller's forums and conversations, and unread mentions and replies anywhere, in order of
  /// priority.
  public func getUnread(
    _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<UnreadItem> {
    let user = try caller.requireUser()
    let all = try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      let counts = try tx.unreadMentions(of: user, caller)
      var items: [UnreadItem] = []
      var rooms: Set<ID<Conversation>> = []
      for scope in try tx.followedForums(of: user) {
        guard let forum = scope.forum, var item = try tx.unread(scope, .forum, counts, caller, user) else { continue }
        rooms.insert(scope.conversation)
        try tx.addNewTopics(to: &item, in: forum, for: user)
        items.append(item)
      }
      for scope in try tx.joinedForums(of: user) {
        guard let forum = scope.forum, try tx.historyStart(of: scope.conversation, for: caller) != nil else { continue }
        var item = UnreadItem(.forum, scope.conversation, forum: forum)
        try tx.addNewTopics(to: &item, in: forum, for: user)
        items.append(item)
      }
      for scope in try tx.unreadConversationScopes(of: user) where !rooms.contains(scope.conversation) {
        guard scope.level == .everything || counts[scope.conversation] != nil else { continue }
        guard let item = try tx.unread(scope, .conversation(scope.kind), counts, caller, user) else { continue }
        items.append(item)
      }
      return items.filter { !$0.isEmpty }.sorted { $0.isMorePressing(than: $1) }
    }
    // The whole list is counted for each page: the order depends on the counts.
    return try ListPage(page, by: { ListKey($0.urgency) }) { slice in
      let inOrder = slice.isBackward ? all.reversed() : all
      let rest = inOrder.drop { item in
        guard let key = slice.key?.numbers else { return false }
        return slice.isBackward
          ? !key.lexicographicallyPrecedes(item.urgency) : !item.urgency.lexicographicallyPrecedes(key)
      }
      return Array(rest.prefix(slice.limit))
    }
  }
}

extension ReadTransaction {
  fileprivate typealias MentionCounts = [ID<Conversation>: (mentions: Int, replies: Int)]

  /// Unread mentions and replies.
  fileprivate func unreadMentions(of user: ID<User>, _ caller: Caller) throws(Refusal) -> MentionCounts {
    var reading = NotificationFilter(caller)
    var counts: MentionCounts = [:]
    for entry in try inbox(of: user, isUnread: true, ListSlice(limit: InboxCounts.maxCounted)) {
      guard entry.kind == .mention || entry.kind == .reply, let conversation = entry.conversation,
        try reading.mayRead(entry, self)
      else { continue }
      if entry.kind == .mention {
        counts[conversation, default: (0, 0)].mentions += 1
      } else {
        counts[conversation, default: (0, 0)].replies += 1
      }
    }
    return counts
  }

  fileprivate func addNewTopics(
    to item: inout UnreadItem, in forum: ID<Forum>, for user: ID<User>
  ) throws(Refusal) {
    let topics = try newTopics(in: forum, for: user)
    item.newTopics = topics.count
    for id in topics.prefix(UnreadItem.maxListed) {
      if let topic = try topic(id) { item.topics.append(topic) }
    }
  }

  /// Nil if the caller may not read the forum or conversation.
  fileprivate func unread(
    _ scope: UnreadScope, _ kind: UnreadItem.Kind, _ counts: MentionCounts, _ caller: Caller, _ user: ID<User>
  ) throws(Refusal) -> UnreadItem? {
    guard scope.lastSeq > scope.start || kind == .forum || counts[scope.conversation] != nil else { return nil }
    guard let fromSeq = try historyStart(of: scope.conversation, for: caller) else { return nil }
    var item = UnreadItem(kind, scope.conversation, forum: scope.forum)
    let start = max(scope.start, fromSeq - 1)
    if scope.lastSeq > start {
      item.unread = try unread(of: user, in: scope.conversation, after: start)
      item.firstUnread = item.unread == 0 ? nil : try firstUnread(of: user, in: scope.conversation, after: start)
      item.lastMessage = scope.lastMessage
    }
    if let counts = counts[scope.conversation] { (item.mentions, item.replies) = counts }
    return item
  }
}
