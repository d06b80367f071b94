// Read positions, notification levels and the timeline.

public import ParleyModel
import Storage

extension Community {
  /// Advances a read position to a readable message; never back.
  public func advanceReadPosition(
    _ kind: ReadPosition.Kind, in id: ID<Conversation>, to message: ID<Message>, by caller: Caller
  ) async throws(Refusal) -> ReadConversation {
    let user = try caller.requireUser(.write)
    let (result, hasMore) = try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (_, standing) = try tx.rights(of: caller, in: id)
      let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
      guard let seq = try tx.seq(of: message, in: id, from: fromSeq) else {
        throw .invalid("message_id", .mismatch)
      }
      let position = try tx.move(kind, of: user, in: id, to: seq)
      let hasMore = kind == .read ? try tx.markNotificationsRead(of: user, in: id, upTo: message) : false
      guard let own = try tx.conversations([(id, fromSeq)], of: user).first else { throw .notFound }
      return (ReadConversation(id, position, unread: own.unread), hasMore)
    }
    // Remove further notifications in separate transactions: one transaction could exceed its row limit.
    var isMore = hasMore
    while isMore {
      isMore = try await store.write { tx throws(Refusal) in
        try tx.markNotificationsRead(of: user, in: id, upTo: message)
      }
    }
    return result
  }

  // MARK: Levels

  /// Sets the level; nil is the default. Setting `everything` on a topic joins it.
  public func setConversationLevel(
    _ level: Level?, in id: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) -> SetLevel {
    let user = try caller.requireUser(.write)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      try tx.require(.read, caller, in: id)
      try tx.setLevel(level, of: user, in: id)
      guard let conversation = try tx.conversation(id) else { throw .notFound }
      if conversation.kind == .topic, level == .everything { try tx.follow(conversation, by: user) }
      if let level { return SetLevel(level, isOwn: true) }
      let inForum =
        try conversation.kind == .room
        ? conversation.forum.map { forum throws(Refusal) in
          try tx.level(of: user, in: forum)
        } ?? nil : nil
      return SetLevel(inForum ?? .usual(in: conversation.kind), isOwn: false)
    }
  }

  public func setForumLevel(_ level: Level?, in id: ID<Forum>, by caller: Caller) async throws(Refusal) -> SetLevel {
    let user = try caller.requireUser(.write)
    return try await store.write { tx throws(Refusal) in
      try tx.require(.read, try tx.reloadCaller(caller), in: id)
      try tx.setLevel(level, of: user, in: id)
      return SetLevel(level ?? .usualInForum, isOwn: level != nil)
    }
  }

  // MARK: The timeline

  /// The newest posts of the caller, and of the users that the caller follows.
  public func getTimeline(
    _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<MessageView> {
    let user = try caller.requireUser()
    return try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      try tx.posts(page, for: caller, bounds) { slice throws(Refusal) in
        try tx.timeline(of: user, isGuest: caller.role == .guest, slice)
      }
    }
  }

  /// The newest posts of all feeds that the caller may read.
  public func getGlobalTimeline(
    _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<MessageView> {
    try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      try tx.posts(page, for: caller, bounds) { slice throws(Refusal) in
        try tx.globalTimeline(for: caller.user, isGuest: caller.role == nil || caller.role == .guest, slice)
      }
    }
  }
}

extension ReadTransaction {
  /// A page of posts.
  fileprivate func posts(
    _ page: PageRequest, for caller: Caller, _ bounds: Bounds,
    _ read: (ListSlice) throws(Refusal) -> [DatedMessage]
  ) throws(Refusal) -> ListPage<MessageView> {
    var posts = try ListPage(page, by: \.key, read)
    let messages = try messages(of: &posts, page, by: \.key, \.message)
    return try posts.map { _ throws(Refusal) in try views(messages, by: caller, bounds) }
  }
}
