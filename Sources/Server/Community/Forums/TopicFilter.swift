// Lists of some topics of a forum.

public import ParleyModel
import Storage

/// A selection of a forum's topics: those that match all members, or all.
public struct TopicSelection: Sendable {
  public var filter: TopicFilter?
  /// A hashtag, with or without its sign.
  public var tag: String?
  /// A part of the title. Case and accents are ignored.
  public var text: String?
  public var order: TopicOrder

  public init(
    _ filter: TopicFilter? = nil, tag: String? = nil, text: String? = nil, order: TopicOrder = .activity
  ) {
    self.filter = filter
    self.tag = tag
    self.text = text
    self.order = order
  }

  /// Whether it has all topics in the order of their activity.
  public var isAll: Bool { filter == nil && tag == nil && text == nil && order == .activity }
}

/// The order of a list of topics.
public enum TopicOrder: String, Sendable, CaseIterable {
  /// Pinned topics first, then by newest activity.
  case activity
  /// By creation, newest first.
  case created
}

/// A filter of a forum's topics.
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
  /// Runs in the background, since a filter skips topics.
  public func listTopics(
    of forum: ID<Forum>, _ selection: TopicSelection, _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<ListedTopic> {
    let tag = try selection.tag.map { tag throws(Refusal) in try Texts.hashtag(tag, "tag") }
    let text = try selection.text.map { text throws(Refusal) in
      try Texts.line(text, "query", scalars: bounds.titleScalars, atLeast: 0)
    }
    let selected = TopicConditions(tag: tag, title: text, isByCreation: selection.order == .created)
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.require(.read, caller, in: forum)
      var new: [ID<Conversation>]?
      if let user = caller.user { new = try tx.newTopics(in: forum, for: user).map(\.id) }
      let found = try ListPage(page, by: { (topic: Topic) in selected.key(of: topic) }) { slice throws(Refusal) in
        try tx.topics(of: forum, selection.filter, selected, new: new ?? [], slice, for: caller)
      }
      return try found.map { topics throws(Refusal) in try tx.listed(topics, new: new.map { Set($0) }, for: caller) }
    }
  }
}

extension Community {
  /// The most used tags of a forum's topics. Counts them in the background.
  public func listForumTags(of forum: ID<Forum>, for caller: Caller) async throws(Refusal) -> [ForumTag] {
    try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.require(.read, caller, in: forum)
      return try tx.tags(of: forum, limit: ForumTag.maxListed)
    }
  }
}

extension Topic {
  /// The sort key of lists by activity.
  var key: ListKey { ListKey([isPinned ? 1 : 0, activity]) }
}

extension TopicConditions {
  /// The sort key of a topic in the list.
  fileprivate func key(of topic: Topic) -> ListKey { isByCreation ? ListKey(topic.id) : topic.key }
}

extension ReadTransaction {
  /// A slice of the topics that match the filter and the conditions.
  fileprivate func topics(
    of forum: ID<Forum>, _ filter: TopicFilter?, _ selected: TopicConditions, new: [ID<Conversation>],
    _ slice: ListSlice, for caller: Caller
  ) throws(Refusal) -> [Topic] {
    var selected = selected
    switch filter {
    case nil: break
    case .new: return try topics(new, selected, slice)
    case .unread: return try topics(try unreadTopics(of: forum, for: caller), selected, slice)
    case .mine: selected.creator = try caller.requireUser()
    case .solved: selected.isSolved = true
    case .unsolved: selected.isSolved = false
    }
    return try topics(of: forum, selected, slice)
  }

  /// A slice of some topics in the order of the list.
  private func topics(
    _ ids: [ID<Conversation>], _ selected: TopicConditions, _ slice: ListSlice
  ) throws(Refusal) -> [Topic] {
    var topics: [Topic] = []
    for id in ids { if let topic = try topic(id), selected.match(topic) { topics.append(topic) } }
    let numbers = { (topic: Topic) in selected.key(of: topic).numbers }
    topics.sort { numbers($1).lexicographicallyPrecedes(numbers($0)) }
    if slice.isBackward { topics.reverse() }
    let rest = topics.drop { topic in
      guard let key = slice.key?.numbers else { return false }
      return slice.isBackward
        ? !key.lexicographicallyPrecedes(numbers(topic)) : !numbers(topic).lexicographicallyPrecedes(key)
    }
    return Array(rest.prefix(slice.limit))
  }

  private func unreadTopics(of forum: ID<Forum>, for caller: Caller) throws(Refusal) -> [ID<Conversation>] {
    let user = try caller.requireUser()
    let reader = try forumsWithHistoryStart(among: [forum], for: user).isEmpty ? nil : caller
    var topics: [ID<Conversation>] = []
    for scope in try unreadConversationScopes(of: user)
    where scope.forum == forum && scope.kind == .topic && scope.level != .nothing && scope.unreadUpTo > 0 {
      if try unread(scope, of: user, for: reader) > 0 { topics.append(scope.conversation) }
    }
    return topics
  }
}
