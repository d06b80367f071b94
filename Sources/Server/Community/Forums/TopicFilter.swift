// Lists of some topics of a forum.

public import ParleyModel
import Storage

/// Which topics of a forum are listed.
public enum TopicFilter: String, Sendable, CaseIterable {
  /// The caller's new topics, as in `GET /unread`.
  case new
  /// Topics that the caller takes part in, with unread messages.
  case unread
  /// Topics that the caller started.
  case mine
  case solved, unsolved
}

extension Community {
  /// Pinned topics first, then by latest activity. Runs in the background, since the filter skips topics.
  public func listTopics(
    of forum: ID<Forum>, _ filter: TopicFilter, _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<ListedTopic> {
    try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.require(.read, caller, in: forum)
      var new: [ID<Conversation>]?
      if let user = caller.user { new = try tx.newTopics(in: forum, for: user).map(\.id) }
      let found = try ListPage(page, by: { (topic: Topic) in topic.key }) { slice throws(Refusal) in
        switch filter {
        case .new: try tx.topics(new ?? [], slice)
        case .unread: try tx.topics(try tx.unreadTopics(of: forum, for: try caller.requireUser()), slice)
        case .mine: try tx.topics(of: forum, by: try caller.requireUser(), slice)
        case .solved: try tx.topics(of: forum, isSolved: true, slice)
        case .unsolved: try tx.topics(of: forum, isSolved: false, slice)
        }
      }
      return try found.map { topics throws(Refusal) in try tx.listed(topics, new: new.map { Set($0) }, for: caller) }
    }
  }
}

extension Topic {
  /// The sort key of lists of topics.
  var key: ListKey { ListKey([isPinned ? 1 : 0, activity]) }
}

extension ReadTransaction {
  /// A slice of some topics in the order of the list.
  fileprivate func topics(_ ids: [ID<Conversation>], _ slice: ListSlice) throws(Refusal) -> [Topic] {
    var topics: [Topic] = []
    for id in ids { if let topic = try topic(id) { topics.append(topic) } }
    topics.sort { $1.key.numbers.lexicographicallyPrecedes($0.key.numbers) }
    if slice.isBackward { topics.reverse() }
    let rest = topics.drop { topic in
      guard let key = slice.key?.numbers else { return false }
      return slice.isBackward
        ? !key.lexicographicallyPrecedes(topic.key.numbers) : !topic.key.numbers.lexicographicallyPrecedes(key)
    }
    return Array(rest.prefix(slice.limit))
  }

  fileprivate func unreadTopics(of forum: ID<Forum>, for user: ID<User>) throws(Refusal) -> [ID<Conversation>] {
    var topics: [ID<Conversation>] = []
    for scope in try unreadConversationScopes(of: user)
    where scope.forum == forum && scope.kind == .topic && scope.level != .nothing && scope.unreadUpTo > 0 {
      if try unread(of: user, in: scope.conversation, after: scope.start) > 0 { topics.append(scope.conversation) }
    }
    return topics
  }
}
