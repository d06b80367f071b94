// Message search. Each query uses the full-text index, which also contains the scope and features of a message. So a
// rare hashtag on a large site costs as much as a common one on a small site, and messages that the caller may not
// read are never examined. Actions change without their messages, so they are not in the index; a search for an action
// alone reads the index of actions, which has those of all conversations. If there are too many of them to examine, a
// search in one conversation reads its messages instead.

import ParleyJSON
public import ParleyModel
import ParleySQLite

/// A scope to search, and the message after which its history begins for the caller.
public struct SearchRange: Sendable, Hashable {
  public var scope: SearchScope
  public var after: ID<Message>

  public init(_ scope: SearchScope, after: ID<Message> = ID(0)) {
    self.scope = scope
    self.after = after
  }
}

/// Search criteria, scopes and page.
public struct MessageSearch: Sendable {
  /// Words; nil for a search by other criteria.
  public var query: SearchQuery?
  /// Scopes to search, a subset of those that the caller may read.
  public var ranges: [SearchRange]
  /// Features of a message, all required.
  public var features: Set<SearchFeature> = []
  /// Only hits of this kind.
  public var kind: SearchKind?
  /// Name of the location.
  public var locationName: SearchQuery?
  public var circle: GeoCircle?
  /// An action on the message; a private one must be the viewer's.
  public var action: ActionType?
  public var beforeTime: Int64?
  public var afterTime: Int64?
  /// The caller.
  public var viewer: ID<User>?
  /// Whether messages of users muted or blocked by the viewer are omitted.
  public var hidesMuted = false
  /// Exclusive upper bound.
  public var before: ID<Message>?
  /// Exclusive lower bound.
  public var after: ID<Message>?
  /// Whether the oldest hits within the bounds are wanted, not the newest. Hits are returned newest first all the same.
  public var isAscending = false
  public var order = SearchOrder.newest
  public var limit = Self.maxHits
  /// Maximum number of matches that are examined for the conditions outside of the index.
  public var maxExamined = 20_000
  /// The same for the messages of one conversation, read in the order of an index: 1 µs each.
  public var maxExaminedMessages = 500_000

  /// Maximum number of hits: a page, and one more that shows whether there is a next page.
  public static let maxHits = 201
  /// Number of newest hits among which the best are ranked. A common word has a million hits, and reading their texts
  /// would take minutes.
  public static let maxRanked = 1_000
  /// Maximum number of hits that are counted.
  public static let maxCounted = 1_000
  /// Maximum number of scopes per match. Each costs a lookup of 20 to 30 µs.
  static let maxScopesPerMatch = 1_000

  public init(_ query: SearchQuery?, in ranges: [SearchRange]) {
    self.query = query
    self.ranges = ranges
  }

  public init(_ query: SearchQuery?, in scopes: [SearchScope]) {
    self.init(query, in: scopes.map { SearchRange($0) })
  }

  /// Whether conditions outside of the index may drop any number of matches.
  private var isFiltered: Bool {
    afterTime != nil || beforeTime != nil || circle != nil || action.map { $0.reach != .personal } == true
  }

  /// The action, if it is the only criterion.
  fileprivate var onlyAction: ActionType? {
    query == nil && features.isEmpty && kind != .topic && locationName == nil && circle == nil ? action : nil
  }
}

/// Hits of a search. The hit of a topic's title has the id of the topic.
public struct SearchHitIDs: Sendable {
  public var ids: [ID<Message>]
  /// The last examined id, if the search ended before it had enough hits. The next page continues there.
  public var examined: ID<Message>?
}

extension ReadTransaction {
  /// Matching messages, newest or best first.
  public func search(_ search: MessageSearch) throws(Refusal) -> SearchHitIDs {
    let limit = max(0, min(search.limit, MessageSearch.maxHits))
    guard search.order == .best, let query = search.query else {
      return try hits(of: search, limit: limit)
    }
    let scored = try hits(of: search, limit: MessageSearch.maxRanked).ids.map(\.number).map { id throws(Refusal) in
      let title = try searchableTitle(of: ID(id))
      let text = if let title { title } else { try searchableText(of: ID(id)) }
      return (id: id, score: query.score(of: text))
    }
    let best = scored.sorted { ($0.score, $0.id) > ($1.score, $1.id) }.prefix(limit)
    return SearchHitIDs(ids: best.map { ID($0.id) })
  }

  /// The number of matching topics and messages, each up to `maxCounted`.
  public func searchCounts(of search: MessageSearch) throws(Refusal) -> SearchCounts {
    func count(_ kind: SearchKind) throws(Refusal) -> Int {
      guard search.kind ?? kind == kind else { return 0 }
      var search = search
      search.kind = kind
      return try hits(of: search, limit: MessageSearch.maxCounted).ids.count
    }
    return SearchCounts(topics: try count(.topic), messages: try count(.message))
  }

  /// Indexed text of a message.
  private func searchableText(of message: ID<Message>) throws(Refusal) -> String {
    try searchEntry(of: message)?.words ?? ""
  }

  /// Indexed title of a topic.
  public func searchableTitle(of topic: ID<Conversation>) throws(Refusal) -> String? {
    try titleEntry(of: topic)?.words
  }

  /// The names of a message's files, which are among its words.
  public func fileNames(of message: ID<Message>) throws(Refusal) -> [String] {
    try run { connection in try SearchIndex.fileNames(of: message, connection) }
  }

  /// Newest first. Many scopes are queried in groups: each message is in one scope, so the newest of all groups'
  /// newest are the newest of all.
  private func hits(of search: MessageSearch, limit: Int) throws(Refusal) -> SearchHitIDs {
    // A title has no actions.
    if search.kind == .topic, search.action != nil { return SearchHitIDs(ids: []) }
    var ids: [Int] = []
    var ends: [Int] = []
    for (start, ranges) in Dictionary(grouping: Set(search.ranges), by: \.after).sorted(by: { $0.key < $1.key }) {
      var rest = ranges.map(\.scope)[...]
      while !rest.isEmpty {
        let group = Array(rest.prefix(MessageSearch.maxScopesPerMatch))
        rest = rest.dropFirst(group.count)
        let after = max(start.number, search.after?.number ?? 0)
        try run { connection in
          var search = search
          var after = after
          let (conversation, end) = try search.end(in: group, after: after, connection)
          if let end {
            ends.append(end)
            if search.isAscending { search.before = ID(end + 1) } else { after = max(after, end - 1) }
          }
          if let conversation, let action = search.onlyAction {
            ids += try search.marked(action, in: conversation, after: after, limit: limit, connection)
          } else {
            ids += try search.hits(in: group, after: after, limit: limit, connection)
          }
        }
      }
    }
    let end = search.isAscending ? ends.min() : ends.max()
    if let end { ids.removeAll { search.isAscending ? $0 > end : $0 < end } }
    // A message of a conversation may also match by its forum.
    let sorted = Set(ids).sorted()
    let found = (search.isAscending ? sorted.prefix(limit) : sorted.suffix(limit)).reversed()
    return SearchHitIDs(ids: found.map { ID($0) }, examined: found.count < limit ? end.map { ID($0) } : nil)
  }
}

extension MessageSearch {
  /// The id of the last match to examine; nil if there are no more than `maxExamined`. With a conversation its messages are
  /// examined, up to `maxExaminedMessages`.
  fileprivate func end(
    in scopes: [SearchScope], after: Int, _ connection: Connection
  ) throws -> (conversation: ID<Conversation>?, end: Int?) {
    guard isFiltered else { return (nil, nil) }
    let direction = isAscending ? "asc" : "desc"
    guard let onlyAction else {
      let end = try connection.first(
        SQL(
          """
          select s.rowid
          from search s
          where s.search match $1 and s.rowid > $2 and s.rowid < $3
          order by s.rowid \(direction)
          limit 1 offset $4
          """), try expression(in: scopes), after, before?.number ?? .max, maxExamined - 1
      ) { row in try row.int(0) }
      return (nil, end)
    }
    let end = try connection.first(
      SQL(
        """
        select message_id
        from action
        where type = $1 and type <> 'star' and message_id > $2 and message_id < $3
        order by message_id \(direction)
        limit 1 offset $4
        """), onlyAction.name, after, before?.number ?? .max, maxExamined - 1
    ) { row in try row.int(0) }
    guard end != nil, scopes.count == 1, case .conversation(let conversation) = scopes[0] else { return (nil, end) }
    let last = try connection.first(
      SQL(
        """
        select id
        from message
        where conversation_id = $1 and deletion is null and machine_only = 0 and +id > $2 and +id < $3
        order by seq \(direction)
        limit 1 offset $4
        """), conversation.number, after, before?.number ?? .max, maxExaminedMessages - 1
    ) { row in try row.int(0) }
    return (conversation, last)
  }

  private var wantedFeatures: Set<SearchFeature> { kind == .topic ? features.union([.title]) : features }

  /// Titles are found by their words, or as such.
  private var findsTitles: Bool { kind.map { $0 == .topic } ?? (query != nil) }

  private func expression(in scopes: [SearchScope]) throws -> String {
    SearchQuery.expression(
      query, in: scopes, having: try wantedFeatures.map { try $0.token() }.sorted(),
      in: try (circle?.cells ?? []).map { try SearchFeature.cell($0).token() }, at: locationName)
  }

  fileprivate func hits(in scopes: [SearchScope], after: Int, limit: Int, _ connection: Connection) throws -> [Int] {
    if let onlyAction { return try marked(onlyAction, in: scopes, after: after, limit: limit, connection) }
    let match = try expression(in: scopes)
    let (direction, muted) = (isAscending ? "asc" : "desc", hidesMuted ? viewer?.number : nil)
    guard let circle else {
      return try connection.all(
        SQL(Self.indexed(direction, withTitles: findsTitles, more: "")), match, after, before?.number ?? .max, muted,
        beforeTime.map { Int($0) },
        afterTime.map { Int($0) }, action?.name, viewer?.number, limit
      ) { row in try row.int(0) }
    }
    return try connection.all(
      SQL(Self.indexed(direction, withTitles: findsTitles, more: Self.isNear)), match, after, before?.number ?? .max,
      muted,
      beforeTime.map { Int($0) }, afterTime.map { Int($0) }, action?.name, viewer?.number, circle.latitude,
      circle.longitude, circle.haversine, limit
    ) { row in try row.int(0) }
  }

  /// Conditions that the index cannot answer. Without a message (m) the hit is the title of a topic (c).
  private static let conditions = """
    and c.state = 'open' and f.deleted_at is null and m.deletion is null
    and not exists (
      select 1
      from relation r
      where r.user_id = $4 and r.kind in ('mute', 'block') and r.other_id = coalesce(m.author_id, c.created_by)
    )
    and ($5 is null or coalesce(m.created_at, c.created_at) < $5)
    and ($6 is null or coalesce(m.created_at, c.created_at) > $6)
    """

  /// - Parameter withTitles: whether the titles of topics are hits, too.
  private static func indexed(_ direction: String, withTitles: Bool, more: String) -> String {
    """
    select s.rowid
    from search s
    \(withTitles ? "left join" : "join") message m on m.id = s.rowid
    join conversation c on c.id = coalesce(m.conversation_id, s.rowid)
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

  /// Haversine formula. The cells have already excluded distant messages.
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
    let (direction, muted) = (isAscending ? "asc" : "desc", hidesMuted ? viewer?.number : nil)
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

  /// The marked messages of one conversation.
  fileprivate func marked(
    _ action: ActionType, in conversation: ID<Conversation>, after: Int, limit: Int, _ connection: Connection
  ) throws -> [Int] {
    try connection.all(
      SQL(
        """
        select m.id
        from conversation c
        left join forum f on f.id = c.forum_id
        cross join message m
        where exists (
          select 1
          from action a
          where a.message_id = m.id and a.type = $1
        )
        and +m.id > $2 and +m.id < $3
        \(Self.conditions)
        and c.id = $7 and m.conversation_id = $7 and m.machine_only = 0
        order by m.seq \(isAscending ? "asc" : "desc")
        limit $8
        """), action.name, after, before?.number ?? .max, hidesMuted ? viewer?.number : nil,
      beforeTime.map { Int($0) }, afterTime.map { Int($0) }, conversation.number, limit
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
