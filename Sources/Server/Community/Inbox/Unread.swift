// The overview of unread forums, conversations and notifications.

public import ParleyModel
import Storage

extension Community {
  /// Unread messages in the caller's forums and conversations, unread mentions and replies anywhere, and new topics, in
  /// order of priority.
  public func getUnread(_ page: PageRequest, for caller: Caller) async throws(Refusal) -> UnreadOverview {
    _ = try caller.requireUser()
    return try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      try tx.unreadOverview(page, for: caller, bounds)
    }
  }

  /// Marks messages, new topics and notifications up to an id as read, whatever the notification levels are, except
  /// conversations that the caller has put off.
  public func markAllRead(upTo id: Int, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    let conversations = try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      let omitted = Set(try tx.later(of: user).map(\.conversation))
      let notifications = try tx.unreadNotifications(of: user, except: omitted, caller)
      let scopes = try tx.unreadConversationScopes(of: user).filter { !omitted.contains($0.conversation) }
      let listed = try tx.unread(scopes, notifications, of: user, except: omitted, caller).flatMap(\.conversations)
      let others = scopes.filter { $0.unreadUpTo > 0 }.map(\.conversation)
      return Set(listed + others).sorted()
    }
    var rest = conversations[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(Self.conversationsPerWrite)
      rest = rest.dropFirst(Self.conversationsPerWrite)
      try await store.write { tx throws(Refusal) in
        _ = try tx.reloadCaller(caller)
        for conversation in chunk { try tx.markRead(conversation, of: user, upTo: ID(id)) }
      }
    }
    while try await store.write({ tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      return try tx.markNotificationsRead(of: user, upTo: ID(id), keepsLater: true)
    }) {}
  }

  /// Read positions that one transaction moves.
  private static let conversationsPerWrite = 100
}

/// The unread notifications of a user, by what counts them.
private struct UnreadNotifications {
  /// The newest first.
  var byConversation: [ID<Conversation>: (mentions: Int, replies: Int, message: ID<Message>?)] = [:]
  var others: [Notification] = []
  var counts = InboxCounts()
  var newest: ID<Notification>?
}

/// An item of the overview before its topics and messages are read.
private struct UnreadEntry {
  var item: UnreadItem
  var newTopics: [ID<Conversation>] = []
  /// The newest message of its conversation and new topics.
  var latest = 0

  /// The conversations to mark as read.
  var conversations: [ID<Conversation>] { [item.conversation] + newTopics }
}

extension ReadTransaction {
  /// A page of the caller's overview.
  func unreadOverview(
    _ page: PageRequest, for caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> UnreadOverview {
    let user = try caller.requireUser()
    let later = try later(of: user)
    let omitted = Set(later.map(\.conversation))
    let notifications = try unreadNotifications(of: user, except: omitted, caller)
    let scopes = try unreadConversationScopes(of: user).filter { !omitted.contains($0.conversation) }
    let all = try unread(scopes, notifications, of: user, except: omitted, caller)
    let newest = [notifications.newest?.number ?? 0] + all.map(\.latest) + scopes.map(\.unreadUpTo)
    // The whole list is counted for each page: the order depends on the counts.
    var found = try ListPage(page, by: { (entry: UnreadEntry) in ListKey(entry.item.urgency) }) { slice in
      let inOrder = slice.isBackward ? all.reversed() : all
      let rest = inOrder.drop { entry in
        guard let key = slice.key?.numbers else { return false }
        return slice.isBackward
          ? !key.lexicographicallyPrecedes(entry.item.urgency) : !entry.item.urgency.lexicographicallyPrecedes(key)
      }
      return Array(rest.prefix(slice.limit))
    }
    try complete(&found.items, notifications, by: caller, bounds)
    return UnreadOverview(
      page: try found.map { entries in entries.map(\.item) }, notifications: notifications.others,
      unread: notifications.counts, later: later, upTo: newest.max().flatMap { $0 > 0 ? $0 : nil })
  }

  /// The number on the icon of the app: unread messages of direct and group conversations that are not muted; and with these the
  /// rooms and topics with mentions or replies, and the notices. All reports count as one. The web app counts the same.
  func badgeCount(for caller: Caller) throws(Refusal) -> Int {
    let user = try caller.requireUser()
    var messages: [ID<Conversation>: Int] = [:]
    for (conversation, start) in try ownUnreadConversations(of: user) {
      messages[conversation] = try unread(of: user, in: conversation, after: start)
    }
    let later = Set(try later(of: user).map(\.conversation))
    let notifications = try unreadNotifications(of: user, except: later, caller)
    var called = 0
    for id in notifications.byConversation.keys {
      switch try conversation(id)?.kind {
      case .room, .topic, .feed: called += 1
      case .direct, .group, .channel, nil: break
      }
    }
    var (notices, hasReports) = (0, false)
    for notice in notifications.others {
      switch notice.kind {
      case .report: hasReports = true
      // One with unread messages counts as these.
      case .request: if messages[notice.conversation ?? ID(0), default: 0] == 0 { notices += 1 }
      case .mention, .reply, .direct, .room, .warning, .token, .secondFactorEnabled, .secondFactorDisabled,
        .recoveryCodesCreated, .recoveryCodeUsed, .signIn, .endpointDisabled, .passkeyCreated, .passkeyDeleted,
        .passkeyCopied, .identityLinked, .identityUnlinked, .alert:
        notices += 1
      }
    }
    return messages.values.reduce(0, +) + called + notices + (hasReports ? 1 : 0)
  }

  fileprivate func unreadNotifications(
    of user: ID<User>, except omitted: Set<ID<Conversation>>, _ caller: Caller
  ) throws(Refusal) -> UnreadNotifications {
    var reading = NotificationFilter(caller)
    var found = UnreadNotifications()
    for entry in try inbox(of: user, isUnread: true, ListSlice(limit: InboxCounts.maxCounted))
    where try reading.mayRead(entry, self) {
      if entry.kind.isCountedByConversation, let conversation = entry.conversation, omitted.contains(conversation) {
        continue
      }
      found.counts.add(entry.kind)
      if found.newest == nil { found.newest = entry.id }
      guard let conversation = entry.conversation, entry.kind.isCountedByConversation else {
        if found.others.count < UnreadOverview.maxNotifications { found.others.append(entry) }
        continue
      }
      guard entry.kind != .direct else { continue }
      var counts = found.byConversation[conversation] ?? (0, 0, entry.message)
      if entry.kind == .reply { counts.replies += 1 } else { counts.mentions += 1 }
      found.byConversation[conversation] = counts
    }
    return found
  }

  /// The entries with unread content, most urgent first.
  fileprivate func unread(
    _ scopes: [UnreadScope], _ notifications: UnreadNotifications, of user: ID<User>,
    except omitted: Set<ID<Conversation>>, _ caller: Caller
  ) throws(Refusal) -> [UnreadEntry] {
    var entries: [UnreadEntry] = []
    var counted: Set<ID<Conversation>> = []
    for scope in try followedForums(of: user) {
      guard let forum = scope.forum, let item = try unread(scope, .forum, notifications, caller, user) else { continue }
      counted.insert(scope.conversation)
      let isLater = omitted.contains(scope.conversation)
      let room = isLater ? UnreadItem(.forum, scope.conversation, forum: forum) : item
      entries.append(try entry(room, isLater ? nil : scope, newTopicsOf: forum, except: omitted, user))
      for topic in try followedTopics(in: forum, of: user) where !omitted.contains(topic.conversation) {
        counted.insert(topic.conversation)
        guard let item = try unread(topic, .conversation(.topic), notifications, caller, user) else { continue }
        entries.append(UnreadEntry(item: item, latest: topic.unreadUpTo))
      }
    }
    for scope in try ownForums(of: user) {
      guard let forum = scope.forum, try historyStart(of: scope.conversation, for: caller) != nil else { continue }
      let item = UnreadItem(.forum, scope.conversation, forum: forum)
      entries.append(try entry(item, nil, newTopicsOf: forum, except: omitted, user))
    }
    for scope in scopes where !counted.contains(scope.conversation) {
      guard scope.level == .everything || notifications.byConversation[scope.conversation] != nil else { continue }
      guard let item = try unread(scope, .conversation(scope.kind), notifications, caller, user) else { continue }
      entries.append(UnreadEntry(item: item, latest: scope.unreadUpTo))
    }
    // Notifications in conversations that the user takes no part in, such as the room of a forum read by a group.
    let known = counted.union(scopes.map(\.conversation))
    let others = Set(notifications.byConversation.keys).subtracting(known).sorted()
    for scope in try unreadScopes(of: others) {
      guard let item = try unread(scope, .conversation(scope.kind), notifications, caller, user) else { continue }
      entries.append(UnreadEntry(item: item))
    }
    return entries.filter { !$0.item.isEmpty }.sorted { $0.item.isMorePressing(than: $1.item) }
  }

  /// - Parameter scope: nil if the room's messages do not count.
  private func entry(
    _ item: UnreadItem, _ scope: UnreadScope?, newTopicsOf forum: ID<Forum>, except omitted: Set<ID<Conversation>>,
    _ user: ID<User>
  ) throws(Refusal) -> UnreadEntry {
    let topics = try newTopics(in: forum, for: user).filter { !omitted.contains($0.id) }
    var entry = UnreadEntry(item: item, newTopics: topics.map(\.id))
    entry.item.newTopics = topics.count
    entry.latest = max(scope?.unreadUpTo ?? 0, topics.map(\.activity).max() ?? 0)
    return entry
  }

  /// Messages after this `seq` are unread: those of the reader's history. Nil if the conversation is not readable.
  func unreadStart(of scope: UnreadScope, for reader: Caller) throws(Refusal) -> Int? {
    try historyStart(of: scope.conversation, for: reader).map { max(scope.start, $0 - 1) }
  }

  /// Nil if the caller may not read the forum or conversation.
  private func unread(
    _ scope: UnreadScope, _ kind: UnreadItem.Kind, _ notifications: UnreadNotifications, _ caller: Caller,
    _ user: ID<User>
  ) throws(Refusal) -> UnreadItem? {
    let counts = notifications.byConversation[scope.conversation]
    guard scope.lastSeq > scope.start || kind == .forum || counts != nil else { return nil }
    guard let start = try unreadStart(of: scope, for: caller) else { return nil }
    var item = UnreadItem(kind, scope.conversation, forum: scope.forum)
    if scope.lastSeq > start {
      item.unread = try unread(of: user, in: scope.conversation, after: start)
      item.firstUnread = item.unread == 0 ? nil : try firstUnread(of: user, in: scope.conversation, after: start)
      item.lastMessage = scope.lastMessage
    }
    if let counts { (item.mentions, item.replies) = (counts.mentions, counts.replies) }
    return item
  }

  /// Adds titles, topics and messages.
  fileprivate func complete(
    _ entries: inout [UnreadEntry], _ notifications: UnreadNotifications, by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) {
    var shown: [Int: ID<Message>] = [:]
    for index in entries.indices {
      let item = entries[index].item
      if item.kind != .forum { entries[index].item.title = try conversation(item.conversation)?.title }
      var topics: [Topic] = []
      for id in entries[index].newTopics.prefix(UnreadItem.maxListed) {
        if let topic = try topic(id) { topics.append(topic) }
      }
      entries[index].item.topics = try listed(topics, new: Set(entries[index].newTopics), for: caller)
      // A muted or read room has an item of its own, if it has notifications.
      guard item.kind != .forum || item.firstUnread != nil else { continue }
      shown[index] = notifications.byConversation[item.conversation]?.message ?? item.firstUnread
    }
    let messages = try readable(try self.messages(Array(Set(shown.values)).sorted()), by: caller)
    let views = Dictionary(try views(messages, by: caller, bounds).map { ($0.message.id, $0) }) { one, _ in one }
    for (index, message) in shown { entries[index].item.message = views[message] }
  }
}

extension WriteTransaction {
  /// Moves the read position to the newest message up to an id.
  fileprivate func markRead(
    _ conversation: ID<Conversation>, of user: ID<User>, upTo message: ID<Message>
  ) throws(Refusal) {
    guard let seq = try lastSeq(of: conversation, upTo: message) else { return }
    _ = try move(.read, of: user, in: conversation, to: seq)
    while try markNotificationsRead(of: user, in: conversation, upTo: message) {}
  }
}
