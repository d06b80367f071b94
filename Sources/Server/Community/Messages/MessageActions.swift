// Actions on messages: personal stars, public likes and reactions, reposts, and pins by moderators.

public import ParleyModel
import Storage

extension Community {
  public func setAction(
    _ id: ID<Message>, as type: ActionType, by caller: Caller
  ) async throws(Refusal) -> MessageView {
    let user = try caller.requireUser(.write)
    // An entry of a feed is outside of forums.
    if type == .repost { try caller.requireWholeSite() }
    let bounds = bounds
    let rules: CompiledRules? = if type == .repost { try await compiledRules() } else { nil }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      try tx.requireRights(to: type, on: found, caller)
      let isSet = try tx.isSet(type, on: id, by: user)
      if !isSet {
        guard let content = found.message.content else { throw .gone }
        // Readers act on the post.
        guard content.repostOf == nil else { throw .invalid("type", .mismatch) }
        if let emoji = type.customEmoji, try !tx.hasCustomEmoji(named: emoji) { throw .invalid("type", .unknown) }
        try tx.checkActionLimits(for: type, on: id, user, bounds)
        _ = try tx.add(type, to: id, in: found.message.conversation, by: user)
        if let rules { try tx.repost(found, content, rules, by: caller, bounds) }
      }
      return try tx.currentView(id, by: caller, bounds)
    }
  }

  public func removeAction(_ id: ID<Message>, as type: ActionType, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    if type == .repost { try caller.requireWholeSite() }
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      let conversation = found.message.conversation
      switch type.reach {
      // Users may always remove their own action, even without the right to set one.
      case .personal, .everyone:
        _ = try tx.remove(type, from: id, in: conversation, by: user)
        if type == .repost { try tx.deleteReposts(of: id, by: user) }
      case .moderators:
        try tx.requireRights(to: type, on: found, caller)
        try tx.removeAll(type, from: id, in: conversation, by: user)
      }
    }
  }

  /// The messages with the caller's own action of this type, newest first, as far as the caller may still read them.
  public func listMyActions(
    as type: ActionType, _ page: PageRequest, _ show: MessageOptions, for caller: Caller
  ) async throws(Refusal) -> ListPage<MessageView> {
    let user = try caller.requireUser()
    return try await messages(as: type, page, show, for: caller) { _ throws(Refusal) in user }
  }

  /// The messages that a user has starred, as far as the caller may read them: the caller's own, or those of a user who
  /// shows them.
  public func listStars(
    of reference: UserReference, _ page: PageRequest, _ show: MessageOptions, for caller: Caller
  ) async throws(Refusal) -> ListPage<MessageView> {
    try await messages(as: .star, page, show, for: caller) { tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: caller)
      let isShown = user.own?.showsStars == true && rights.contains(.seeFollowing)
      guard isShown || user.summary.id == caller.user else { throw .notFound }
      return user.summary.id
    }
  }

  private func messages(
    as type: ActionType, _ page: PageRequest, _ show: MessageOptions, for caller: Caller,
    of owner: @escaping @Sendable (ReadTransaction) throws(Refusal) -> ID<User>
  ) async throws(Refusal) -> ListPage<MessageView> {
    let found = try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      let user = try owner(tx)
      var end: ListKey?
      var marked = try ListPage(page, by: \.key) { slice throws(Refusal) in
        let (found, last) = try tx.readableActions(type.name, of: user, slice, caller, bounds)
        // The first slice is the page itself.
        if slice.limit > 1 { end = last }
        return found
      }
      marked.end(at: end, of: page)
      let messages = try tx.messages(of: &marked, page, by: \.key, \.message)
      return try marked.map { _ throws(Refusal) in try tx.views(messages, by: caller, bounds) }
    }
    return try await apply(show, to: found, for: caller)
  }
}

extension CommunityView {
  /// The actions on a message with their users.
  public func listActions(
    on id: ID<Message>, type: String?, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<MessageAction> {
    try read { tx throws(Refusal) in
      let found = try tx.message(id, for: caller)
      guard found.message.tombstone == nil else { return ListPage([]) }
      return try ListPage(page, by: { ListKey([$0.user.number], text: $0.type) }) { slice throws(Refusal) in
        try tx.actions(
          on: id, type: type, viewer: caller.user, seesStars: Permissions.isFullUser(caller.role), slice)
      }
    }
  }
}

extension ReadTransaction {
  fileprivate func requireRights(
    to type: ActionType, on found: ReadableMessage, _ caller: Caller
  ) throws(Refusal) {
    let maySetActions =
      switch type.reach {
      case .personal: true
      case .everyone: Permissions.maySetActions(caller.role, in: found.standing)
      case .moderators: found.rights.contains(.moderate)
      }
    guard !maySetActions else { return }
    let isSilenced = type.reach == .everyone && found.standing.isSilenced
    throw try refusal(of: try caller.requireUser(), in: found.message.conversation, isSilenced)
  }
}

extension ReadTransaction {
  fileprivate func checkActionLimits(
    for type: ActionType, on message: ID<Message>, _ user: ID<User>, _ bounds: Bounds
  ) throws(Refusal) {
    let (types, own) = try actionCounts(of: message, user)
    guard own < bounds.ownActions else { throw .tooMany(limit: bounds.ownActions) }
    let isKnown = try type.reach == .personal ? true : hasAction(type, message)
    guard isKnown || types < bounds.actionTypes else { throw .tooMany(limit: bounds.actionTypes) }
  }

  /// A message has at most one pin for all users.
  fileprivate func isSet(
    _ type: ActionType, on message: ID<Message>, by user: ID<User>
  ) throws(Refusal) -> Bool {
    if type.reach == .moderators { return try hasAction(type, message) }
    return try actions(of: user, on: [message])[message]?.contains(type.name) == true
  }

  /// Actions read per query.
  private static let chunkSize = 200

  /// The readable messages of a slice.
  ///
  /// - Returns: the messages, and the last examined one if there may be more.
  fileprivate func readableActions(
    _ type: String, of user: ID<User>, _ slice: ListSlice, _ caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> (messages: [DatedMessage], end: ListKey?) {
    var examined = 0
    var starts: [ID<Conversation>: Int?] = [:]
    var readable: [DatedMessage] = []
    var rest = ListSlice(after: slice.key, isBackward: slice.isBackward, limit: Self.chunkSize)
    while true {
      let found = try marked(type, by: user, rest)
      for (message, position) in found {
        if starts[position.conversation] == nil {
          starts[position.conversation] = .some(try historyStart(of: position.conversation, for: caller))
        }
        guard let start = starts[position.conversation] ?? nil, position.seq >= start else { continue }
        readable.append(message)
        if readable.count == slice.limit { return (readable, nil) }
      }
      guard found.count == rest.limit, let last = found.last else { return (readable, nil) }
      examined += found.count
      guard examined < bounds.examinedActions else { return (readable, last.message.key) }
      rest.key = last.message.key
    }
  }
}
