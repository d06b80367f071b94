public import Model
import SQLite

/// What is searched for, where, and which part of the answer is wanted.
public struct MessageSearch: Sendable {
  public var query: SearchQuery
  /// Where: what the asker may read, or less. Nothing is found anywhere else.
  public var scopes: [SearchScope]
  public var author: ID<Account>?
  /// Only older messages.
  public var before: ID<Message>?
  /// Only newer ones. Without `before`, the page next to it.
  public var after: ID<Message>?
  public var order = Order.newest
  public var limit = Self.mostHits

  public enum Order: Sendable, Hashable {
    case newest
    /// The best of the newest `mostRanked`, on one page: what comes before them is found with `before`.
    case best
  }

  /// How many one answer has at most.
  public static let mostHits = 100
  /// Among how many of the newest hits the best are looked for. A common word has a million, and reading their texts would
  /// take minutes.
  public static let mostRanked = 1_000
  /// How many places one match names. Each costs a look-up of 20 to 30 µs.
  static let mostScopesInMatch = 1_000

  public init(_ query: SearchQuery, in scopes: [SearchScope]) {
    self.query = query
    self.scopes = scopes
  }
}

extension ReadTransaction {
  /// The messages that are found, newest or best first.
  public func search(_ search: MessageSearch) throws(Refusal) -> [ID<Message>] {
    let limit = max(0, min(search.limit, MessageSearch.mostHits))
    switch search.order {
    case .newest:
      return try hits(of: search, limit: limit).map { ID($0) }
    case .best:
      let scored = try hits(of: search, limit: MessageSearch.mostRanked).map { id throws(Refusal) in
        (id: id, score: search.query.score(of: try searchEntry(of: ID(id))?.words ?? ""))
      }
      return scored.sorted { ($0.score, $0.id) > ($1.score, $1.id) }.prefix(limit).map { ID($0.id) }
    }
  }

  /// Newest first. Many places are asked one group after the other: each message is in one place, so of each group's
  /// newest the newest are those of all.
  private func hits(of search: MessageSearch, limit: Int) throws(Refusal) -> [Int] {
    let isUpward = search.after != nil && search.before == nil
    var ids: [Int] = []
    var rest = Array(Set(search.scopes))[...]
    while !rest.isEmpty {
      let group = Array(rest.prefix(MessageSearch.mostScopesInMatch))
      rest = rest.dropFirst(group.count)
      let match = search.query.expression(in: group, by: search.author)
      ids += try hits(
        of: match, after: search.after?.number ?? 0, before: search.before?.number ?? .max, isUpward, limit: limit)
    }
    // A message of a conversation is one of its forum, too.
    let sorted = Set(ids).sorted()
    return (isUpward ? sorted.prefix(limit) : sorted.suffix(limit)).reversed()
  }

  private func hits(
    of match: String, after: Int, before: Int, _ isUpward: Bool, limit: Int
  ) throws(Refusal) -> [Int] {
    try run { connection in
      // The index still has what is being imported, and what was in a conversation or a forum that is no more.
      let upward: SQL = """
        select s.rowid
        from search s
        join message m on m.id = s.rowid
        join conversation c on c.id = m.conversation_id
        left join forum f on f.id = c.forum_id
        where s.search match $1 and s.rowid > $2 and s.rowid < $3 and c.state = 'open' and f.deleted_at is null
        order by s.rowid
        limit $4
        """
      let downward: SQL = """
        select s.rowid
        from search s
        join message m on m.id = s.rowid
        join conversation c on c.id = m.conversation_id
        left join forum f on f.id = c.forum_id
        where s.search match $1 and s.rowid > $2 and s.rowid < $3 and c.state = 'open' and f.deleted_at is null
        order by s.rowid desc
        limit $4
        """
      return try connection.all(isUpward ? upward : downward, match, after, before, limit) { row in try row.int(0) }
    }
  }
}
