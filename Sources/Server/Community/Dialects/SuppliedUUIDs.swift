// Things that clients of dialects name by UUIDs.

public import ParleyModel
public import Storage

extension Community {
  /// Creates a forum. Throws if another one has the UUID, so a repeated request is refused.
  public func createForum(
    _ draft: ForumDraft, named uuid: String?, by caller: Caller
  ) async throws(Refusal) -> CreatedForum {
    try await create(draft, by: caller) { tx, created throws(Refusal) in
      if let uuid { try tx.supply(uuid, for: .forum, created.id.number, by: created.createdBy) }
    }
  }

  /// Posts a message. Its `client_id` has to be that of `uuid`, so that a repeated request finds the message. Throws if
  /// another message has the UUID.
  public func postMessage(
    _ draft: MessageDraft, named uuid: String, in conversation: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) -> PostedMessage {
    let author = try caller.requireUser(.write)
    return try await post(draft, in: conversation, by: caller) { tx throws(Refusal) in
      guard let known = try tx.subject(of: .message, named: uuid) else { return }
      let message = try tx.message(ID<Message>(known))
      guard message?.author == author, message?.conversation == conversation else { throw .taken("uuid") }
    } finishing: { tx, message throws(Refusal) in
      try tx.supply(uuid, for: .message, message.number, by: author)
    }
  }
}

extension Community {
  /// Visible forums, last change first. In the background, since the offset costs as much as reading the forums before it.
  ///
  /// - Parameter time: in microseconds since 1970; the changes are later. Nil for all.
  public func listForums(
    changedAfter time: Int?, offset: Int, limit: Int, for caller: Caller
  ) async throws(Refusal) -> [Forum] {
    let time = time ?? .min
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      guard let ids = caller.forums else {
        return try tx.forums(
          changedAfter: time, for: caller.user, seeing: Permissions.visible(to: caller.role), offset: offset,
          limit: limit)
      }
      let changes = try tx.lastChanges(of: Array(ids)).filter { $0.value.at > time }
      var found: [Forum] = []
      for (id, _) in changes.sorted(by: { $0.value.at > $1.value.at }) {
        do throws(Refusal) { found.append(try tx.forum(id, for: caller).forum) } catch .notFound { continue }
      }
      return Array(found.dropFirst(offset).prefix(limit))
    }
  }
}

extension CommunityView {
  /// The id of the thing that a client named by this UUID, visible to the caller or not.
  public func subject(of kind: SuppliedKind, named uuid: String) throws(Refusal) -> Int? {
    try read { tx throws(Refusal) in try tx.subject(of: kind, named: uuid) }
  }

  /// The UUIDs that clients chose, by id.
  public func suppliedUUIDs(_ kind: SuppliedKind, of ids: [Int]) throws(Refusal) -> [Int: String] {
    try read { tx throws(Refusal) in try tx.suppliedUUIDs(kind, of: ids) }
  }

  /// Times of messages in microseconds, unique and in the order of their conversation.
  public func microseconds(of messages: [Message]) throws(Refusal) -> [ID<Message>: Int] {
    try read { tx throws(Refusal) in try tx.microseconds(of: messages) }
  }

  /// Whether the caller mutes or blocks the user: clients of dialects cannot hide messages themselves.
  public func hides(_ user: ID<User>, from caller: Caller) throws(Refusal) -> Bool {
    guard let viewer = caller.user else { return false }
    return try read { tx throws(Refusal) in
      if try tx.has(.mute, viewer, to: user) { return true }
      return try tx.has(.block, viewer, to: user)
    }
  }

  /// The last changes of forums that the caller has read.
  public func lastChanges(of forums: [ID<Forum>]) throws(Refusal) -> [ID<Forum>: ForumLastChange] {
    try read { tx throws(Refusal) in try tx.lastChanges(of: forums) }
  }
}
