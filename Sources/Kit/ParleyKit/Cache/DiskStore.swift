// A store in SQLite. The primary key of a message is its displayed date combined with bits of its id, so that all queries
// return the newest messages first without sorting.

import ParleyJSON
import ParleyModel
import ParleySQLite

/// A store in an SQLite file. One process at a time has it open; of a shared one, others read the copy (`CacheReader`).
public final class DiskStore: CacheStore {
  private let connection: Connection
  /// Held by the process that has a shared file open: the file itself is not locked.
  private let lock: Connection?

  static let version = 1

  /// Opens or creates the file. It is locked by one process; another waits for `patience` and then fails with `inUse`. The
  /// lock ends with the store, or with the process.
  ///
  /// - Parameter isShared: whether other processes may read the file meanwhile. Its lock is another file, `path` with `-lock`.
  public init(_ path: String, isShared: Bool = false, patience: Duration = .seconds(5)) throws(CacheFault) {
    lock =
      isShared
      ? try .device(
        path + "-lock", version: 1, schema: "create table lock (id integer primary key) strict;", cacheKibibytes: 64,
        patience: patience) : nil
    connection = try .device(
      path, version: Self.version, schema: Self.schema + Self.searchTable,
      cacheKibibytes: 8_192, patience: patience, isExclusive: !isShared)
  }

  private static let schema = """
    create table thing (
      kind text not null,
      key text not null,
      value text not null,
      primary key (kind, key)
    ) strict, without rowid;
    create table message (
      moment integer primary key,
      conversation integer not null,
      seq integer not null,
      id integer not null unique,
      client_id text,
      is_live integer not null,
      generation integer not null,
      location text,
      -- Hash of the index entry: if it is unchanged, the message is not indexed again.
      fingerprint integer not null,
      value text not null
    ) strict;
    create unique index message_by_seq on message (conversation, seq);
    create index message_by_moment on message (conversation, moment) where is_live = 1;
    create index message_by_client on message (client_id) where client_id is not null;
    create table feature (
      token text not null,
      moment integer not null,
      primary key (token, moment)
    ) strict, without rowid;
    create index feature_by_moment on feature (moment);
    """

  private static let searchTable = """
    create virtual table search using fts5 (
      words, scope, location,
      prefix = '1 2', tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
    );
    """

  // MARK: Writing

  /// Stores the changes in one transaction.
  public func save(_ changes: CacheChanges) throws(CacheFault) {
    if changes.isEmpty { return }
    do {
      try connection.transaction {
        for removal in changes.removed { try remove(removal) }
        for row in changes.rows { try save(row) }
        for message in changes.messages { try save(message) }
      }
    } catch { throw CacheFault(error) }
  }

  private func save(_ row: CacheRow) throws(SQLiteError) {
    guard let value = row.value else {
      try connection.execute("delete from thing where kind = $1 and key = $2", row.table.rawValue, row.key)
      return
    }
    try connection.execute(
      "insert into thing (kind, key, value) values ($1, $2, $3) on conflict (kind, key) do update set value = $3",
      row.table.rawValue, row.key, String(decoding: value.bytes, as: UTF8.self))
  }

  private func remove(_ removal: CacheChanges.Removal) throws(SQLiteError) {
    let moments = try connection.all(
      "select moment from message where conversation = $1 and seq between $2 and $3",
      removal.conversation.number, removal.seqs.lowerBound, removal.seqs.upperBound
    ) { row in try row.int(0) }
    for moment in moments { try removeMessage(at: moment) }
  }

  private func removeMessage(at moment: Int) throws(SQLiteError) {
    try removeIndex(at: moment)
    try connection.execute("delete from message where moment = $1", moment)
  }

  private func removeIndex(at moment: Int) throws(SQLiteError) {
    try connection.execute("delete from feature where moment = $1", moment)
    try connection.execute("delete from search where rowid = $1", moment)
  }

  private func save(_ cached: CachedMessage) throws(SQLiteError) {
    let (message, index) = (cached.message, cached.index)
    let old = try connection.first(
      "select moment, fingerprint from message where conversation = $1 and seq = $2",
      message.conversation.number, message.seq
    ) { row in (moment: try row.int(0), fingerprint: try row.int(1)) }
    let isLive = message.tombstone == nil
    var json = JSONWriter()
    json.value(cached.replica)
    let value = String(decoding: json.bytes, as: UTF8.self)
    let fingerprint = index.fingerprint
    if let old, old.fingerprint == fingerprint {
      try connection.execute(
        """
        update message
        set id = $1, client_id = $2, is_live = $3, generation = $4, location = $5, value = $6
        where moment = $7
        """, message.id.number, message.clientID, isLive, cached.generation, index.locationName, value, old.moment)
      return
    }
    if let old { try removeMessage(at: old.moment) }
    // After a restore of the server's backup another message may have this id.
    if let other = try moment(of: message.id) { try removeMessage(at: other) }
    let moment = try freeMoment(index, message.id)
    try connection.execute(
      """
      insert into message (moment, conversation, seq, id, client_id, is_live, generation, location, fingerprint, value)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      """, moment, message.conversation.number, message.seq, message.id.number, message.clientID, isLive,
      cached.generation, index.locationName, fingerprint, value)
    for token in Set(index.features) {
      try connection.execute("insert into feature (token, moment) values ($1, $2)", token, moment)
    }
    guard !index.words.isEmpty || index.locationName != nil else { return }
    try connection.execute(
      "insert into search (rowid, words, scope, location) values ($1, $2, $3, $4)", moment, index.words,
      "\(SearchScope.conversation(message.conversation).token) \(Self.everywhere.token)",
      SearchText.prepare(index.locationName ?? ""))
  }

  /// Id 0 is unused by conversations and denotes all of them.
  private static let everywhere = SearchScope.conversation(ID(0))

  private func moment(of id: ID<Message>) throws(SQLiteError) -> Int? {
    try connection.first("select moment from message where id = $1", id.number) { row in try row.int(0) }
  }

  // MARK: Moments

  /// Milliseconds fit 42 bits until the year 2109. Later dates and dates before 1970 are clamped.
  private static let idBits = 20
  private static let latest = (1 << 42) - 1

  private static func moment(at milliseconds: Int64) -> Int { min(max(Int(milliseconds), 0), latest) << idBits }

  private func freeMoment(_ index: MessageIndex, _ id: ID<Message>) throws(SQLiteError) -> Int {
    var moment = Self.moment(at: index.shownAt) | (id.number & ((1 << Self.idBits) - 1))
    while try connection.first("select 1 from message where moment = $1", moment, read: { row in try row.int(0) })
      != nil
    {
      moment += 1
    }
    return moment
  }

  // MARK: Reading

  /// All rows of a table.
  public func rows(of table: CacheTable) throws(CacheFault) -> [CacheRow] {
    do {
      guard table == .message else {
        return try connection.all("select key, value from thing where kind = $1", table.rawValue) { row in
          CacheRow(table, try row.text(0), JSONRaw(trusted: Array(try row.text(1).utf8)))
        }
      }
      // Not decoded here: an earlier version of the app may have written them.
      return try connection.all(
        "select moment, generation, location, value, conversation, seq from message order by moment"
      ) { row in
        let value = JSONRaw(trusted: Array(try row.text(3).utf8))
        let (generation, index) = (try row.int(1), try Self.index(row))
        var json = JSONWriter()
        CachedMessage.write(value, generation: generation, index, to: &json)
        return CacheRow(.message, CachedMessage.key(ID(try row.int(4)), try row.int(5)), JSONRaw(trusted: json.bytes))
      }
    } catch { throw CacheFault(error) }
  }

  private static func read(_ row: borrowing Row) throws -> CachedMessage {
    let value = try JSONValue(parsing: Array(try row.text(3).utf8))
    return CachedMessage(try ReplicaMessage(json: value), generation: try row.int(1), try index(row))
  }

  private static func index(_ row: borrowing Row) throws(SQLiteError) -> MessageIndex {
    var index = MessageIndex(shownAt: Int64(try row.int(0) >> idBits))
    index.locationName = try row.optionalText(2)
    return index
  }

  /// The index entries of the result only have the date and the location name.
  public func messages(_ query: CacheQuery) throws(CacheFault) -> [CachedMessage]? {
    do { return try found(query) } catch { throw CacheFault(error) }
  }

  private func found(_ query: CacheQuery) throws(SQLiteError) -> [CachedMessage] {
    if let ids = query.ids {
      var found: [CachedMessage] = []
      for id in ids {
        found += try connection.all(
          "select moment, generation, location, value from message where id = $1", id.number, read: Self.read)
      }
      return found
    }
    if let names = query.clientIDs {
      var found: [CachedMessage] = []
      for name in names {
        found += try connection.all(
          "select moment, generation, location, value from message where client_id = $1", name, read: Self.read)
      }
      return found
    }
    if let seqs = query.seqs, let conversation = query.conversation {
      let sql: SQL =
        query.order == .descending
        ? """
        select moment, generation, location, value from message
        where conversation = $1 and seq between $2 and $3 and is_live >= $4 order by seq desc limit $5
        """
        : """
        select moment, generation, location, value from message
        where conversation = $1 and seq between $2 and $3 and is_live >= $4 order by seq limit $5
        """
      return try connection.all(
        sql, conversation.number, seqs.lowerBound, seqs.upperBound, !query.includesDeleted, query.limit,
        read: Self.read)
    }
    return try foundByDate(query)
  }

  /// The moments before this one come after a position. If its message is gone, those of its date come again.
  private func moment(after position: CacheQuery.Position) throws(SQLiteError) -> Int {
    let date = Self.moment(at: position.shownAt)
    if let id = position.message, let moment = try moment(of: id), moment >> Self.idBits == date >> Self.idBits {
      return moment
    }
    return date + (1 << Self.idBits)
  }

  /// Builds the statement from constant clauses and bound parameters.
  private func foundByDate(_ query: CacheQuery) throws(SQLiteError) -> [CachedMessage] {
    let features = query.features.map(\.alternatives)
    var end = query.before.flatMap { $0 > Self.latest ? nil : Self.moment(at: $0) } ?? Int.max
    if let next = query.next { end = min(end, try moment(after: next)) }
    var values: [any Bindable] = [query.notBefore.map(Self.moment) ?? 0, end]
    func bound(_ value: any Bindable) -> String {
      values.append(value)
      return "$\(values.count)"
    }
    func list(_ tokens: [String]) -> String { tokens.map(bound).joined(separator: ", ") }
    var source = "message m"
    var conditions = ["m.moment >= $1", "m.moment < $2", "m.is_live = 1"]
    var rest = features[...]
    if query.words != nil || query.locationName != nil {
      source = "search s join message m on m.moment = s.rowid"
      let scope = query.conversation.map { SearchScope.conversation($0) } ?? Self.everywhere
      conditions[0] = "s.rowid >= $1"
      conditions[1] = "s.rowid < $2"
      let match = SearchQuery.expression(query.words, in: [scope], at: query.locationName)
      conditions.append("s.search match \(bound(match))")
    } else if let first = rest.popFirst() {
      source = "feature f join message m on m.moment = f.moment"
      conditions[0] = "f.moment >= $1"
      conditions[1] = "f.moment < $2"
      conditions.append("f.token in (\(list(first)))")
    }
    if let conversation = query.conversation { conditions.append("m.conversation = \(bound(conversation.number))") }
    for tokens in rest {
      conditions.append("exists (select 1 from feature where token in (\(list(tokens))) and moment = m.moment)")
    }
    let order =
      source.hasPrefix("search") ? "s.rowid" : source.hasPrefix("feature") ? "f.moment" : "m.moment"
    let text = """
      select m.moment, m.generation, m.location, m.value from \(source)
      where \(conditions.joined(separator: " and ")) order by \(order) desc limit \(bound(query.limit))
      """
    let statement = try connection.prepare(SQL(text))
    for (number, value) in values.enumerated() { try value.bind(to: statement, at: number + 1) }
    var found: [CachedMessage] = []
    while try statement.step() {
      do { found.append(try Self.read(statement.row)) } catch {
        throw error as? SQLiteError ?? statement.row.unexpected(3)
      }
    }
    return found
  }

  // MARK: Erasing

  /// Deletes everything, and stores the rows that stay.
  public func erase(keeping kept: [CacheRow]) throws(CacheFault) {
    do {
      try connection.transaction {
        try connection.execute("delete from thing")
        try connection.execute("delete from feature")
        try connection.execute("delete from message")
        // FTS5 keeps deleted words until it merges segments, so the index is recreated.
        try connection.execute("drop table search")
        try connection.executeScript(Self.searchTable)
        for row in kept { try save(row) }
      }
      try connection.execute("vacuum")
      try connection.checkpoint(.truncate)
    } catch { throw CacheFault(error) }
  }
}

extension MessageIndex {
  fileprivate var fingerprint: Int { Int(truncatingIfNeeded: Fingerprint(of: self).sum) }
}
