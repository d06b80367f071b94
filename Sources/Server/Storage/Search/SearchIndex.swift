// The full-text index. It is contentless: removing an entry requires exactly the text that was added. Both pass
// through `SearchText.prepare`, whose version is stored in the settings; a program with another version rebuilds the
// index before anything else.

import ParleyModel
import ParleySQLite

/// Index entry of one message, or of the title of one topic.
struct SearchEntry: Hashable {
  /// Id of the message or the topic. Both come from one counter, so they differ.
  let id: Int
  /// Text of the message, options of its poll, names of its location and of its files; title of the topic.
  let words: String
  /// Terms for the conversation, the forum and the features.
  let scope: String
  /// Name of the location.
  let locationName: String

  init(
    _ message: ID<Message>, text: String, options: [String], locationName: String?, fileNames: [String],
    conversation: ID<Conversation>, forum: ID<Forum>?, features: [SearchFeature]
  ) throws {
    id = message.number
    words = ([text] + options + (locationName.map { [$0] } ?? []) + fileNames).joined(separator: "\n")
    self.locationName = locationName ?? ""
    let scopes = [SearchScope.conversation(conversation)] + (forum.map { [.forum($0)] } ?? [])
    scope = (scopes.map(\.token) + Set(try features.map { try $0.token() }).sorted()).joined(separator: " ")
  }

  /// The title of a topic. It is found in its forum, not by a search within the topic.
  init(titleOf topic: ID<Conversation>, _ title: String, forum: ID<Forum>, author: ID<User>) throws {
    id = topic.number
    words = title
    locationName = ""
    let features = [SearchFeature.author(author), .title]
    scope = ([SearchScope.forum(forum).token] + (try features.map { try $0.token() })).joined(separator: " ")
  }
}

/// Addition or removal of an entry. The index stores no text, so read the entry to remove with `searchEntry(of:)` or
/// `titleEntry(of:)` before the message or the topic changes.
enum SearchChange {
  case add(SearchEntry)
  case remove(SearchEntry)
}

enum SearchIndex {
  static func apply(_ changes: [SearchChange], _ connection: Connection) throws {
    for change in changes {
      switch change {
      case .add(let entry): try add(entry, connection)
      case .remove(let entry):
        try connection.execute(
          "insert into search (search, rowid, words, scope, location) values ('delete', $1, $2, $3, $4)", entry.id,
          SearchText.prepare(entry.words), entry.scope, SearchText.prepare(entry.locationName))
      }
    }
  }

  private static func add(_ entry: SearchEntry, _ connection: Connection) throws {
    try connection.execute(
      "insert into search (rowid, words, scope, location) values ($1, $2, $3, $4)", entry.id,
      SearchText.prepare(entry.words), entry.scope, SearchText.prepare(entry.locationName))
  }

  /// Rebuilds the index if another version prepared it, in one transaction, before any write or search: the entries of
  /// the older version could not be removed. A million messages take half a minute; the duration is logged.
  static func rebuildIfOutdated(_ connection: Connection, log: (String) -> Void) throws {
    guard try !isUpToDate(connection) else { return }
    let start = ContinuousClock.now
    let count = try connection.transaction { () throws in
      let count = try rebuild(connection)
      try UserTermIndex.rebuild(connection)
      try connection.keepSetting("search_version", version)
      return count
    }
    guard count > 0 else { return }
    log(
      "The search index was rebuilt for \(count) messages in \((ContinuousClock.now - start).components.seconds) s")
  }

  /// The version of `SearchText`, and that of what the index has.
  private static let version = "\(SearchText.version).4"

  /// Whether this version of the program built the index.
  static func isUpToDate(_ connection: Connection) throws -> Bool {
    try connection.setting("search_version") == version
  }

  /// Returns the number of indexed messages.
  private static func rebuild(_ connection: Connection) throws -> Int {
    try connection.execute("insert into search (search) values ('delete-all')")
    var count = 0
    try eachEntry(connection) { entry in
      try add(entry, connection)
      count += 1
    }
    try eachTitle(connection) { entry in try add(entry, connection) }
    return count
  }

  /// Expected entries of the titles of topics.
  static func eachTitle(
    from first: Int = 0, through last: Int = .max, _ connection: Connection, _ body: (SearchEntry) throws -> Void
  ) throws {
    try connection.each(
      """
      select id, title, forum_id, created_by
      from conversation
      where id between $1 and $2 and kind = 'topic' and title is not null
      order by id
      """, first, last
    ) { row in
      try body(
        SearchEntry(
          titleOf: ID(try row.int(0)), try row.text(1), forum: ID(try row.int(2)), author: ID(try row.int(3))))
    }
  }

  /// Expected entries of messages, in their order, without tombstones, machine-only messages and reposts.
  static func eachEntry(
    from first: Int = 0, through last: Int = .max, _ connection: Connection, _ body: (SearchEntry) throws -> Void
  ) throws {
    try connection.each(
      """
      select m.id, m.text, l.name, m.conversation_id, c.forum_id, m.author_id, l.latitude, l.longitude,
        m.entities is not null as has_entities, m.annotations is not null as has_annotations,
        exists (select 1 from attachment a where a.message_id = m.id) as has_files, m.has_poll is not null as has_poll
      from message m
      join conversation c on c.id = m.conversation_id
      left join location l on l.message_id = m.id
      where m.id between $1 and $2 and m.deletion is null and m.machine_only = 0 and m.repost_of is null
      order by m.id
      """, first, last
    ) { row in
      let id = ID<Message>(try row.int(0))
      let locationName = try row.optionalText(2)
      var features = [SearchFeature.author(ID(try row.int(5)))]
      if !row.isNull(6) {
        let location = Location(name: locationName, latitude: try row.double(6), longitude: try row.double(7))
        features += GeoCell.cells(of: location).map { .cell($0) }
      }
      if try row.bool("has_entities") { features += try textFeatures(of: id, connection) }
      if try row.bool("has_annotations") { features += try annotations(of: id, connection) }
      let hasFiles = try row.bool("has_files")
      if hasFiles { features += try files(of: id, connection) }
      let options = try row.bool("has_poll") ? try options(of: id, connection) : []
      try body(
        SearchEntry(
          id, text: try row.text(1), options: options, locationName: locationName,
          fileNames: hasFiles ? try fileNames(of: id, connection) : [], conversation: ID(try row.int(3)),
          forum: try row.optionalInt(4).map { ID($0) }, features: features))
    }
  }

  /// Features found in the text.
  private static func textFeatures(of message: ID<Message>, _ connection: Connection) throws -> [SearchFeature] {
    var features: [SearchFeature] = try connection.all(
      "select tag from hashtag where message_id = $1", message.number
    ) { row in .hashtag(try row.text(0)) }
    features += try connection.all("select user_id from mention where message_id = $1", message.number) { row in
      .mention(ID(try row.int(0)))
    }
    let link = try connection.first("select 1 from hyperlink where message_id = $1 limit 1", message.number) { _ in
      SearchFeature.link
    }
    return features + (link.map { [$0] } ?? [])
  }

  private static func annotations(of message: ID<Message>, _ connection: Connection) throws -> [SearchFeature] {
    try connection.all("select type from annotation where message_id = $1", message.number) { row in
      .annotation(try row.text(0))
    }
  }

  private static func options(of message: ID<Message>, _ connection: Connection) throws -> [String] {
    try connection.all(
      "select text from poll_option where message_id = $1 order by position", message.number
    ) { row in try row.text(0) }
  }

  /// For a message with files.
  static func files(of message: ID<Message>, _ connection: Connection) throws -> [SearchFeature] {
    let image = try connection.first(
      """
      select 1
      from attachment a
      join file f on f.id = a.file_id
      where a.message_id = $1 and f.kind = 'image'
      limit 1
      """, message.number
    ) { _ in SearchFeature.image }
    return [.file] + (image.map { [$0] } ?? [])
  }

  /// In the order of the message. The name of a file never changes.
  static func fileNames(of message: ID<Message>, _ connection: Connection) throws -> [String] {
    try connection.all(
      """
      select f.name
      from attachment a
      join file f on f.id = a.file_id
      where a.message_id = $1
      order by a.position
      """, message.number
    ) { row in try row.text(0) }
  }
}

extension ReadTransaction {
  /// Expected index entry of a message in its current state.
  func searchEntry(of message: ID<Message>) throws(Refusal) -> SearchEntry? {
    try run { connection in
      var found: SearchEntry?
      try SearchIndex.eachEntry(from: message.number, through: message.number, connection) { found = $0 }
      return found
    }
  }
}

extension ReadTransaction {
  /// Expected index entry of the title of a topic in its current state.
  func titleEntry(of topic: ID<Conversation>) throws(Refusal) -> SearchEntry? {
    try run { connection in
      var found: SearchEntry?
      try SearchIndex.eachTitle(from: topic.number, through: topic.number, connection) { found = $0 }
      return found
    }
  }
}

extension WriteTransaction {
  /// Runs `change`, which may change the title of a topic, and updates the index.
  func indexingTitle(
    of topic: ID<Conversation>, _ change: () throws(Refusal) -> Void
  ) throws(Refusal) {
    let before = try titleEntry(of: topic)
    try change()
    let after = try titleEntry(of: topic)
    guard before != after else { return }
    if let before { searchChanges.append(.remove(before)) }
    if let after { searchChanges.append(.add(after)) }
  }
}
