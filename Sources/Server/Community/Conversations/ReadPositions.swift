// Read positions and notification levels.

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
}
