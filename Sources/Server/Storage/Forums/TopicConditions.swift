// Lists of topics by conditions. A part of a title has no index: the titles of the forum are read in chunks, in the order
// of the list, until the slice is full. So are topics by creation, whose index has no tags.

import ParleyJSON
public import ParleyModel
import ParleySQLite

/// Conditions of a list of topics. All of them must match.
public struct TopicConditions: Sendable {
  public var tag: String?
  public var creator: ID<User>?
  public var isSolved: Bool?
  /// The order by creation, newest first, in place of that by activity.
  public let isByCreation: Bool
  /// The search key of a part of the title.
  fileprivate let key: String?

  public init(tag: String? = nil, title: String? = nil, isByCreation: Bool = false) {
    self.tag = tag
    self.isByCreation = isByCreation
    key = title.map { Forum.key($0) }
  }

  fileprivate func matchTitle(_ title: String) -> Bool { key.map { Forum.key(title).contains($0) } ?? true }

  public func match(_ topic: Topic) -> Bool {
    tag.map(topic.tags.contains) ?? true && creator.map { $0 == topic.createdBy } ?? true
      && isSolved.map { $0 == (topic.solvedBy != nil) } ?? true && matchTitle(topic.title)
  }
}

extension ReadTransaction {
  /// Topics of a forum in the order of the conditions. Run it on a background reader.
  public func topics(
    of forum: ID<Forum>, _ selected: TopicConditions, _ slice: ListSlice
  ) throws(Refusal) -> [Topic] {
    if selected.isByCreation { return try created(in: forum, selected, slice) }
    guard selected.key != nil else { return try indexed(of: forum, selected, slice) }
    var found: [Topic] = []
    var position = slice
    position.limit = Self.titleChunk
    while found.count < slice.limit {
      let titles = try titles(of: forum, position)
      for title in titles where selected.matchTitle(title.text) && found.count < slice.limit {
        if let topic = try topic(title.topic), selected.match(topic) { found.append(topic) }
      }
      guard titles.count == position.limit, let last = titles.last else { break }
      position.key = last.key
    }
    return found
  }

  private static var titleChunk: Int { 500 }

  private func indexed(
    of forum: ID<Forum>, _ selected: TopicConditions, _ slice: ListSlice
  ) throws(Refusal) -> [Topic] {
    guard let tag = selected.tag else {
      return try topics(of: forum, by: selected.creator, isSolved: selected.isSolved, slice)
    }
    return try topics(of: forum, tagged: tag, by: selected.creator, isSolved: selected.isSolved, slice)
  }

  private func created(
    in forum: ID<Forum>, _ selected: TopicConditions, _ slice: ListSlice
  ) throws(Refusal) -> [Topic] {
    var found: [Topic] = []
    var position = slice
    if selected.key != nil || selected.tag != nil { position.limit = Self.titleChunk }
    while found.count < slice.limit {
      let page = Keyset(position, .descending)
      let (start, count) = (page.number(), position.limit)
      let topics = try run { connection in
        try connection.all(
          SQL(
            """
            select \(Topic.columns)
            from conversation c
            where forum_id = $1 and kind = 'topic' and state = 'open' and id \(page.comparison) $2
            and ($3 is null or created_by = $3) and ($4 is null or (solved_by is not null) = $4)
            order by id \(page.order)
            limit $5
            """), forum.number, start, selected.creator?.number, selected.isSolved, count, read: Topic.init)
      }
      for topic in topics where selected.match(topic) && found.count < slice.limit { found.append(topic) }
      guard topics.count == count, let last = topics.last else { break }
      position.key = ListKey(last.id)
    }
    return found
  }

  private func titles(
    of forum: ID<Forum>, _ slice: ListSlice
  ) throws(Refusal) -> [(topic: ID<Conversation>, text: String, key: ListKey)] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select id, title, pinned, activity
          from conversation
          where forum_id = $1 and kind = 'topic' and state = 'open' and (pinned, activity) \(page.comparison) ($2, $3)
          order by pinned \(page.order), activity \(page.order), id \(page.order)
          limit $4
          """), forum.number, page.number(), page.number(1), slice.limit
      ) { row in (ID(try row.int(0)), try row.text(1), ListKey([try row.int(2), try row.int(3)])) }
    }
  }
}
