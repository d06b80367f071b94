// What is new where somebody follows.

public import ParleyModel
import Storage

extension Community {
  /// What is new in the forums and conversations that the caller follows, and wherever they were called or answered: the
  /// most pressing first.
  public func unread(
    from start: Int, limit: Int, for caller: Caller
  ) async throws(Refusal) -> (places: [UnreadPlace], isMore: Bool) {
    let person = try caller.person()
    let all = try await store.readInBackground { tx throws(Refusal) in
      let calls = try tx.unreadCalls(of: person, caller)
      var places: [UnreadPlace] = []
      var rooms: Set<ID<Conversation>> = []
      for heard in try tx.followedForums(of: person) {
        guard let forum = heard.forum, var place = try tx.unread(heard, .forum, calls, caller, person) else { continue }
        rooms.insert(heard.conversation)
        place.newTopics = try tx.newTopics(in: forum, for: person)
        places.append(place)
      }
      for heard in try tx.heardConversations(of: person) where !rooms.contains(heard.conversation) {
        guard heard.level == .everything || calls[heard.conversation] != nil else { continue }
        guard let place = try tx.unread(heard, .conversation(heard.kind), calls, caller, person) else { continue }
        places.append(place)
      }
      return places.filter { !$0.isEmpty }.sorted { $0.isMorePressing(than: $1) }
    }
    let rest = all.dropFirst(start)
    return (Array(rest.prefix(limit)), rest.count > limit)
  }
}

extension ReadTransaction {
  fileprivate typealias Calls = [ID<Conversation>: (mentions: Int, replies: Int)]

  /// How often somebody was called and answered since they looked.
  fileprivate func unreadCalls(of person: ID<Account>, _ caller: Caller) throws(Refusal) -> Calls {
    var reading = InboxReading(caller)
    var calls: Calls = [:]
    for entry in try inbox(of: person, isUnread: true, limit: InboxCounts.most) {
      guard entry.kind == .mention || entry.kind == .reply, let conversation = entry.conversation,
        try reading.mayRead(entry, self)
      else { continue }
      if entry.kind == .mention {
        calls[conversation, default: (0, 0)].mentions += 1
      } else {
        calls[conversation, default: (0, 0)].replies += 1
      }
    }
    return calls
  }

  /// Nil where the caller may read nothing.
  fileprivate func unread(
    _ heard: HeardPlace, _ kind: UnreadPlace.Kind, _ calls: Calls, _ caller: Caller, _ person: ID<Account>
  ) throws(Refusal) -> UnreadPlace? {
    guard heard.lastSeq > heard.start || kind == .forum || calls[heard.conversation] != nil else { return nil }
    guard let fromSeq = try historyStart(of: heard.conversation, for: caller) else { return nil }
    var place = UnreadPlace(kind, heard.conversation, forum: heard.forum)
    let start = max(heard.start, fromSeq - 1)
    if heard.lastSeq > start {
      place.unread = try unread(of: person, in: heard.conversation, after: start)
      place.firstUnread = place.unread == 0 ? nil : try firstUnread(of: person, in: heard.conversation, after: start)
      place.lastMessage = heard.lastMessage
    }
    if let calls = calls[heard.conversation] { (place.mentions, place.replies) = calls }
    return place
  }
}
