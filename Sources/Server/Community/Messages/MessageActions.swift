// Marks on messages: a star for oneself, a like for all to see, a pin by who keeps order.

public import ParleyModel
import Storage

extension Community {
  public func mark(
    _ id: ID<Message>, as type: ActionType, by caller: Caller
  ) async throws(Refusal) -> SeenMessage {
    let person = try caller.person(for: .write)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let found = try tx.message(id, for: caller)
      try found.requireMarking(type, caller)
      let isSet = try tx.isSet(type, on: id, by: person)
      if !isSet {
        guard found.message.tombstone == nil else { throw .gone }
        try tx.requireRoom(for: type, on: id, person, bounds)
        _ = try tx.add(type, to: id, in: found.message.conversation, by: person)
      }
      return try tx.seenNow(id, by: caller, bounds)
    }
  }

  public func unmark(_ id: ID<Message>, as type: ActionType, by caller: Caller) async throws(Refusal) {
    let person = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let found = try tx.message(id, for: caller)
      let conversation = found.message.conversation
      switch type.reach {
      // What somebody set they may take back, also where they may set nothing any more.
      case .personal, .everyone: _ = try tx.remove(type, from: id, in: conversation, by: person)
      case .moderators:
        try found.requireMarking(type, caller)
        try tx.removeAll(type, from: id, in: conversation, by: person)
      }
    }
  }

  /// What the caller has marked so, the newest message first, as far as they may still read it.
  public func marked(
    as type: ActionType, before cursor: TimelineCursor?, limit: Int, _ show: MessageShow, for caller: Caller
  ) async throws(Refusal) -> (messages: [SeenMessage], next: TimelineCursor?) {
    let person = try caller.person()
    let bounds = bounds
    let found = try await store.readInBackground { tx throws(Refusal) in
      let (ids, next) = try tx.readableMarks(type.name, of: person, before: cursor, limit: limit, caller)
      return (try tx.seen(tx.messages(ids), by: caller, bounds), next)
    }
    return (await found.0.shown(show), found.1)
  }
}

extension CommunityView {
  /// Who has marked a message how: one more than `limit`, where there are more.
  public func actions(
    on id: ID<Message>, type: String?, after: (type: String, user: ID<Account>)?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [MessageAction] {
    try read { tx throws(Refusal) in
      let found = try tx.message(id, for: caller)
      guard found.message.tombstone == nil else { return [] }
      return try tx.actions(on: id, type: type, after: after, viewer: caller.account, limit: limit + 1)
    }
  }
}

extension FoundMessage {
  fileprivate func requireMarking(_ type: ActionType, _ caller: Caller) throws(Refusal) {
    let mayMark =
      switch type.reach {
      case .personal: true
      case .everyone: Permissions.mayMark(caller.role, in: standing)
      case .moderators: rights.contains(.moderate)
      }
    guard mayMark else { throw .forbidden }
  }
}

extension ReadTransaction {
  fileprivate func requireRoom(
    for type: ActionType, on message: ID<Message>, _ person: ID<Account>, _ bounds: Bounds
  ) throws(Refusal) {
    let (types, own) = try actionCounts(of: message, person)
    guard own < bounds.ownActions else { throw .tooMany(limit: bounds.ownActions) }
    let isKnown = try type.reach == .personal ? true : hasAction(type, message)
    guard isKnown || types < bounds.actionTypes else { throw .tooMany(limit: bounds.actionTypes) }
  }

  /// Of pins there is one, whoever set it.
  fileprivate func isSet(
    _ type: ActionType, on message: ID<Message>, by person: ID<Account>
  ) throws(Refusal) -> Bool {
    if type.reach == .moderators { return try hasAction(type, message) }
    return try actions(of: person, on: [message])[message]?.contains(type.name) == true
  }

  /// How many marks are looked at together.
  private static let stretch = 200

  /// As many as fit a page; where it goes on, the last of them, if there are more.
  fileprivate func readableMarks(
    _ type: String, of person: ID<Account>, before cursor: TimelineCursor?, limit: Int, _ caller: Caller
  ) throws(Refusal) -> (ids: [ID<Message>], next: TimelineCursor?) {
    var starts: [ID<Conversation>: Int?] = [:]
    var page: [TimelineCursor] = []
    var before = cursor
    while true {
      let found = try marked(type, by: person, before: before, limit: Self.stretch)
      for (cursor, place) in found {
        if starts[place.conversation] == nil {
          starts[place.conversation] = .some(try historyStart(of: place.conversation, for: caller))
        }
        guard let start = starts[place.conversation] ?? nil, place.seq >= start else { continue }
        if page.count == limit { return (page.map(\.message), page.last) }
        page.append(cursor)
      }
      guard found.count == Self.stretch, let last = found.last else { return (page.map(\.message), nil) }
      before = last.cursor
    }
  }
}
