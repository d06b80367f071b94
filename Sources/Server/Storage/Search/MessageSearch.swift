// Searching. Every question goes through the index of words, which also knows where a message stands and what it has: so a
// rare hashtag of a large place and a common one of a small one cost the same, and nothing is looked at that the asker may
// not read. Marks come and go without their messages, so they are no words of the index; a question for nothing but a mark
// walks their own index.

import ParleyJSON
public import ParleyModel
import ParleySQLite

/// A place that is searched, and the message after which its history begins for the asker.
public struct SearchPlace: Sendable, Hashable {
  public var scope: SearchScope
  public var after: ID<Message>

  public init(_ scope: SearchScope, after: ID<Message> = ID(0)) {
    self.scope = scope
    self.after = after
  }
}

/// What is searched for, where, and which part of the answer is wanted.
public struct MessageSearch: Sendable {
  /// The words; nil where something else is looked for.
  public var query: SearchQuery?
  /// Where: what the asker may read, or less. Nothing is found anywhere else.
  public var places: [SearchPlace]
  /// What a message has to have beside its words: all of it.
  public var features: Set<SearchFeature> = []
  /// The name of its place.
  public var placeName: SearchQuery?
  public var circle: GeoCircle?
  /// A mark that somebody has set on it; of a private one, the viewer.
  public var action: ActionType?
  public var beforeTime: Int64?
  public var afterTime: Int64?
  /// Who asks.
  public var viewer: ID<Account>?
  /// Whether what those wrote is left out whom the viewer has muted or blocked.
  public var hidesMuted = false
  /// Only older messages.
  public var before: ID<Message>?
  /// Only newer ones. Without `before`, the page next to it.
  public var after: ID<Message>?
  public var order = SearchOrder.newest
  public var limit = Self.mostHits

  /// How many one answer has at most: a page, and one more that says whether there is another.
  public static let mostHits = 201
  /// Among how many of the newest hits the best are looked for. A common word has a million, and reading their texts would
  /// take minutes.
  public static let mostRanked = 1_000
  /// How many places one match names. Each costs a look-up of 20 to 30 µs.
  static let mostScopesInMatch = 1_000

  public init(_ query: SearchQuery?, in places: [SearchPlace]) {
    self.query = query
    self.places = places
  }

  public init(_ query: SearchQuery?, in scopes: [SearchScope]) {
    self.init(query, in: scopes.map { SearchPlace($0) })
  }

  /// Whether a page next to an anchor is asked for, and not the newest one.
  public var isUpward: Bool { after != nil && before == nil }

  /// The mark, where it is all that is asked for.
  private var onlyAction: ActionType? {
    query == nil && features.isEmpty && placeName == nil && circle == nil ? action : nil
  }
}

extension ReadTransaction {
  /// The messages that are found, newest or best first.
  public func search(_ search: MessageSearch) throws(Refusal) -> [ID<Message>] {
    let limit = max(0, min(search.limit, MessageSearch.mostHits))
    guard search.order == .best, let query = search.query else {
      return try hits(of: search, limit: limit).map { ID($0) }
    }
    let scored = try hits(of: search, limit: MessageSearch.mostRanked).map { id throws(Refusal) in
      (id: id, score: query.score(of: try searchableText(of: ID(id))))
    }
    return scored.sorted { ($0.score, $0.id) > ($1.score, $1.id) }.prefix(limit).map { ID($0.id) }
  }

  /// What a message is found by, for what is shown of a hit.
  public func searchableText(of message: ID<Message>) throws(Refusal) -> String {
    try searchEntry(of: message)?.words ?? ""
  }

  /// Newest first. Many places are asked one group after the other: each message is in one place, so of each group's
  /// newest the newest are those of all.
  private func hits(of search: MessageSearch, limit: Int) throws(Refusal) -> [Int] {
    var ids: [Int] = []
    for (start, places) in Dictionary(grouping: Set(search.places), by: \.after).sorted(by: { $0.key < $1.key }) {
      var rest = places.map(\.scope)[...]
      while !rest.isEmpty {
        let group = Array(rest.prefix(MessageSearch.mostScopesInMatch))
        rest = rest.dropFirst(group.count)
        let after = max(start.number, search.after?.number ?? 0)
        ids += try run { connection in try search.hits(in: group, after: after, limit: limit, connection) }
      }
    }
    // A message of a conversation is one of its forum, too.
    let sorted = Set(ids).sorted()
    return (search.isUpward ? sorted.prefix(limit) : sorted.suffix(limit)).reversed()
  }
}

extension MessageSearch {
  fileprivate func hits(in scopes: [SearchScope], after: Int, limit: Int, _ connection: Connection) throws -> [Int] {
    if let onlyAction { return try marked(onlyAction, in: scopes, after: after, limit: limit, connection) }
    let match = SearchQuery.expression(
      query, in: scopes, having: try features.map { try $0.token() }.sorted(),
      in: try (circle?.cells ?? []).map { try SearchFeature.cell($0).token() }, at: placeName)
    let (direction, muted) = (isUpward ? "asc" : "desc", hidesMuted ? viewer?.number : nil)
    guard let circle else {
      return try connection.all(
        SQL(Self.indexed(direction, more: "")), match, after, before?.number ?? .max, muted, beforeTime.map { Int($0) },
        afterTime.map { Int($0) }, action?.name, viewer?.number, limit
      ) { row in try row.int(0) }
    }
    return try connection.all(
      SQL(Self.indexed(direction, more: Self.isNear)), match, after, before?.number ?? .max, muted,
      beforeTime.map { Int($0) }, afterTime.map { Int($0) }, action?.name, viewer?.number, circle.latitude,
      circle.longitude, circle.haversine, limit
    ) { row in try row.int(0) }
  }

  /// What of a forum or a conversation is not there, and what of what is there was not asked for.
  private static let conditions = """
    and c.state = 'open' and f.deleted_at is null and m.deletion is null
    and not exists (
      select 1
      from relation r
      where r.user_id = $4 and r.kind in ('mute', 'block') and r.other_id = m.author_id
    )
    and ($5 is null or m.created_at < $5) and ($6 is null or m.created_at > $6)
    """

  private static func indexed(_ direction: String, more: String) -> String {
    """
    select s.rowid
    from search s
    join message m on m.id = s.rowid
    join conversation c on c.id = m.conversation_id
    left join forum f on f.id = c.forum_id
    where s.search match $1 and s.rowid > $2 and s.rowid < $3
    \(conditions)
    and ($7 is null or exists (
      select 1
      from action a
      where a.message_id = m.id and a.type = $7 and (a.type <> 'star' or a.user_id = $8)
    ))
    \(more)
    order by s.rowid \(direction)
    limit \(more.isEmpty ? "$9" : "$12")
    """
  }

  /// By the haversine formula. The cells have left out all that is far away.
  private static let isNear = """
    and exists (
      select 1
      from location l
      where l.message_id = m.id
      and pow(sin(radians(l.latitude - $9) / 2), 2)
      + cos(radians(l.latitude)) * cos(radians($9)) * pow(sin(radians(l.longitude - $10) / 2), 2) <= $11
    )
    """

  private func marked(
    _ action: ActionType, in scopes: [SearchScope], after: Int, limit: Int, _ connection: Connection
  ) throws -> [Int] {
    var conversations: [Int] = []
    var forums: [Int] = []
    for scope in scopes {
      switch scope {
      case .conversation(let id): conversations.append(id.number)
      case .forum(let id): forums.append(id.number)
      }
    }
    let (direction, muted) = (isUpward ? "asc" : "desc", hidesMuted ? viewer?.number : nil)
    guard action.reach == .personal else {
      return try connection.all(
        SQL(Self.marked(direction, and: "and a.type <> 'star'", limit: "$9")), action.name, after,
        before?.number ?? .max, muted, beforeTime.map { Int($0) }, afterTime.map { Int($0) }, conversations.jsonText,
        forums.jsonText, limit
      ) { row in try row.int(0) }
    }
    return try connection.all(
      SQL(Self.marked(direction, and: "and a.user_id = $9", limit: "$10")), action.name, after, before?.number ?? .max,
      muted, beforeTime.map { Int($0) }, afterTime.map { Int($0) }, conversations.jsonText, forums.jsonText,
      viewer?.number, limit
    ) { row in try row.int(0) }
  }

  private static func marked(_ direction: String, and more: String, limit: String) -> String {
    """
    select a.message_id
    from action a
    join message m on m.id = a.message_id
    join conversation c on c.id = m.conversation_id
    left join forum f on f.id = c.forum_id
    where a.type = $1 and a.message_id > $2 and a.message_id < $3
    \(conditions)
    and (c.id in (select value from json_each($7)) or c.forum_id in (select value from json_each($8)))
    and m.machine_only = 0
    \(more)
    group by a.message_id
    order by a.message_id \(direction)
    limit \(limit)
    """
  }
}
