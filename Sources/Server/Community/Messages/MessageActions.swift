// Actions on messages: personal stars, public likes and reactions, and pins by moderators.

public import ParleyModel
import Storage

extension Community {
  public func setAction(
    _ id: ID<Message>, as type: ActionType, by caller: Caller
  ) async throws(Refusal) -> MessageView {
    let user = try caller.requireUser(.write)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      try found.requireActionRights(type, caller)
      let isSet = try tx.isSet(type, on: id, by: user)
      if !isSet {
        guard found.message.tombstone == nil else { throw .gone }
        try tx.checkActionLimits(for: type, on: id, user, bounds)
        _ = try tx.add(type, to: id, in: found.message.conversation, by: user)
      }
      return try tx.currentView(id, by: caller, bounds)
    }
  }

  public func removeAction(_ id: ID<Message>, as type: ActionType, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      let conversation = found.message.conversation
      switch type.reach {
      // Users may always remove their own action, even without the right to set one.
      case .personal, .everyone: _ = try tx.remove(type, from: id, in: conversation, by: user)
      case .moderators:
        try found.requireActionRights(type, caller)
        try tx.removeAll(type, from: id, in: conversation, by: user)
      }
    }
  }

  /// The messages with the caller's own action of this type, newest first, as far as the caller may still read them.
  public func listMyActions(
    as type: ActionType, before cursor: TimelineCursor?, limit: Int, _ show: MessageOptions, for caller: Caller
  ) async throws(Refusal) -> (messages: [MessageView], next: TimelineCursor?) {
    let user = try caller.requireUser()
    let bounds = bounds
    let found = try await store.readInBackground { tx throws(Refusal) in
      let (ids, next) = try tx.readableActions(type.name, of: user, before: cursor, limit: limit, caller)
      return (try tx.views(tx.messages(ids), by: caller, bounds), next)
    }
    return (await found.0.applying(show), found.1)
  }
}

extension CommunityView {
  /// The actions on a message with their users. Returns one more than `limit` if there are more.
  public func listActions(
    on id: ID<Message>, type: String?, after: (type: String, user: ID<User>)?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [MessageAction] {
    try read { tx throws(Refusal) in
      let found = try tx.message(id, for: caller)
      guard found.message.tombstone == nil else { return [] }
      return try tx.actions(on: id, type: type, after: after, viewer: caller.user, limit: limit + 1)
    }
  }
}

extension ReadableMessage {
  fileprivate func requireActionRights(_ type: ActionType, _ caller: Caller) throws(Refusal) {
    let maySetActions =
      switch type.reach {
      case .personal: true
      case .everyone: Permissions.maySetActions(caller.role, in: standing)
      case .moderators: rights.contains(.moderate)
      }
    guard maySetActions else { throw .forbidden }
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

  /// Fills a page with readable messages. Returns the cursor of the next page if there are more.
  fileprivate func readableActions(
    _ type: String, of user: ID<User>, before cursor: TimelineCursor?, limit: Int, _ caller: Caller
  ) throws(Refusal) -> (ids: [ID<Message>], next: TimelineCursor?) {
    var starts: [ID<Conversation>: Int?] = [:]
    var page: [TimelineCursor] = []
    var before = cursor
    while true {
      let found = try marked(type, by: user, before: before, limit: Self.chunkSize)
      for (cursor, position) in found {
        if starts[position.conversation] == nil {
          starts[position.conversation] = .some(try historyStart(of: position.conversation, for: caller))
        }
        guard let start = starts[position.conversation] ?? nil, position.seq >= start else { continue }
        if page.count == limit { return (page.map(\.message), page.last) }
        page.append(cursor)
      }
      guard found.count == Self.chunkSize, let last = found.last else { return (page.map(\.message), nil) }
      before = last.cursor
    }
  }
}
