// Saved filters of timelines. The full-text index has the features of each message as terms, so one lookup decides whether
// a message meets the criteria.

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  public func timelineFilter(_ name: String, of user: ID<User>) throws(Refusal) -> TimelineFilter? {
    try run { connection in
      try connection.first(
        """
        select filter
        from timeline_filter
        where user_id = $1 and name = $2
        """, user.number, name
      ) { row in try TimelineFilter(stored: row.text(0)) }
    }
  }

  /// The filters of a user by name.
  public func timelineFilters(of user: ID<User>, _ slice: ListSlice) throws(Refusal) -> [TimelineFilter] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select filter
          from timeline_filter
          where user_id = $1 and name \(page.comparison) $2
          order by name \(page.order)
          limit $3
          """), user.number, page.text, slice.limit
      ) { row in try TimelineFilter(stored: row.text(0)) }
    }
  }

  public func timelineFilterCount(of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from timeline_filter where user_id = $1", user.number) { row in
        try row.int(0)
      } ?? 0
    }
  }

  /// The posts that a filter lists, in the same order. For a repost, its post is examined; an author is that of either.
  ///
  /// - Parameter words: returns the query of an entry of `words`.
  public func posts(
    _ posts: [DatedMessage], listedBy filter: TimelineFilter, words: (String) throws(Refusal) -> SearchQuery
  ) throws(Refusal) -> [DatedMessage] {
    let included = try filter.include.words.map(words)
    let excluded = try filter.exclude.words.map(words)
    let listed = try run { connection in
      let include = try PostConditions(filter.include, included, isAny: false)
      let exclude = try PostConditions(filter.exclude, excluded, isAny: true)
      return Set(
        try connection.all(
          """
          select m.id
          from message m
          left join message o on o.id = m.repost_of
          where m.id in (select value from json_each($1))
          and ($2 is null or exists (
            select 1
            from search
            where search match $2 and rowid = coalesce(m.repost_of, m.id)
          ))
          and ($3 is null or exists (select 1 from json_each($3) where value in (m.author_id, o.author_id)))
          and ($4 = 0 or m.repost_of is not null)
          and ($5 is null or not exists (
            select 1
            from search
            where search match $5 and rowid = coalesce(m.repost_of, m.id)
          ))
          and ($6 is null or not exists (select 1 from json_each($6) where value in (m.author_id, o.author_id)))
          and ($7 = 0 or m.repost_of is null)
          """, posts.map(\.message.number).jsonText, include.match, include.authors, include.reposts, exclude.match,
          exclude.authors, exclude.reposts
        ) { row in ID<Message>(try row.int(0)) })
    }
    return posts.filter { listed.contains($0.message) }
  }
}

extension WriteTransaction {
  /// Adds or replaces the filter of that name.
  public func set(_ filter: TimelineFilter, of user: ID<User>) throws(Refusal) {
    let hasChanged = try run { connection in
      try connection.execute(
        """
        insert into timeline_filter (user_id, name, filter)
        values ($1, $2, $3)
        on conflict (user_id, name) do update
        set filter = excluded.filter
        where filter <> excluded.filter
        """, user.number, filter.name, filter.jsonText) == 1
    }
    if hasChanged { try logTimelineFilters(of: user) }
  }

  /// Deletes one filter, or all of a user.
  public func deleteTimelineFilters(_ name: String? = nil, of user: ID<User>) throws(Refusal) {
    let count = try run { connection in
      try connection.execute(
        """
        delete from timeline_filter
        where user_id = $1 and ($2 is null or name = $2)
        """, user.number, name)
    }
    if count > 0 { try logTimelineFilters(of: user) }
  }

  /// The event has no filter: its name is no number.
  private func logTimelineFilters(of user: ID<User>) throws(Refusal) {
    try log(.timelineFiltersChanged, in: .user(user), subject: user.number, revision: 0, actor: user.number)
  }
}

/// The criteria as parameters of the query; nil without a condition.
private struct PostConditions {
  let match: String?
  let authors: String?
  let reposts: Bool

  init(_ criteria: PostCriteria<ID<User>>, _ words: [SearchQuery], isAny: Bool) throws {
    let groups: [[SearchFeature]] = [
      criteria.mentions.map { .mention($0) }, criteria.hashtags.map { .hashtag($0) }, criteria.has.map { .init($0) },
    ]
    match = SearchQuery.expression(
      words: words, features: try groups.map { try $0.map { try $0.token() } }, isAny: isAny)
    authors = criteria.authors.isEmpty ? nil : criteria.authors.map(\.number).jsonText
    reposts = criteria.reposts
  }
}

extension TimelineFilter {
  fileprivate init(stored text: String) throws { try self.init(json: JSONValue(parsing: Array(text.utf8))) }
}
