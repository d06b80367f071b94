// How far people have come, what they want to hear, and what those write whom they follow.

public import ParleyModel
import Storage

extension Community {
  /// Moves a mark to a message that the caller may read; never back.
  public func move(
    _ kind: Mark.Kind, in id: ID<Conversation>, to message: ID<Message>, by caller: Caller
  ) async throws(Refusal) -> MarkedConversation {
    let person = try caller.person(for: .write)
    let (marked, waits) = try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let (_, standing) = try tx.rights(of: caller, in: id)
      let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
      guard let seq = try tx.seq(of: message, in: id, from: fromSeq) else {
        throw .invalid("message_id", .mismatch)
      }
      let mark = try tx.move(kind, of: person, in: id, to: seq)
      let waits = kind == .read ? try tx.readInbox(of: person, in: id, upTo: message) : false
      guard let own = try tx.conversations([(id, fromSeq)], of: person).first else { throw .notFound }
      return (MarkedConversation(id, mark, unread: own.unread), waits)
    }
    // What has waited for long may be more than one closure reads.
    var isMore = waits
    while isMore {
      isMore = try await store.write { tx throws(Refusal) in try tx.readInbox(of: person, in: id, upTo: message) }
    }
    return marked
  }

  // MARK: Levels

  /// Nil is what is usual there. Who follows a topic takes part in it.
  public func setLevel(
    _ level: Level?, in id: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) -> SetLevel {
    let person = try caller.person(for: .write)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      try tx.require(.read, caller, in: id)
      try tx.setLevel(level, of: person, in: id)
      guard let conversation = try tx.conversation(id) else { throw .notFound }
      if conversation.kind == .topic, level == .everything { try tx.follow(conversation, by: person) }
      if let level { return SetLevel(level, isOwn: true) }
      let inForum =
        try conversation.kind == .room
        ? conversation.forum.map { forum throws(Refusal) in
          try tx.level(of: person, in: forum)
        } ?? nil : nil
      return SetLevel(inForum ?? .usual(in: conversation.kind), isOwn: false)
    }
  }

  public func setLevel(_ level: Level?, in id: ID<Forum>, by caller: Caller) async throws(Refusal) -> SetLevel {
    let person = try caller.person(for: .write)
    return try await store.write { tx throws(Refusal) in
      try tx.require(.read, try tx.renewed(caller), in: id)
      try tx.setLevel(level, of: person, in: id)
      return SetLevel(level ?? .usualInForum, isOwn: level != nil)
    }
  }

  // MARK: The timeline

  /// The newest posts of those whom the caller follows.
  public func timeline(
    before cursor: TimelineCursor?, limit: Int, for caller: Caller
  ) async throws(Refusal) -> (posts: [SeenMessage], next: TimelineCursor?) {
    let person = try caller.person()
    return try await store.readInBackground { [bounds] tx throws(Refusal) in
      let (posts, next) = try tx.timeline(of: person, isGuest: caller.role == .guest, before: cursor, limit: limit)
      return (try tx.seen(posts, by: caller, bounds), next)
    }
  }
}
