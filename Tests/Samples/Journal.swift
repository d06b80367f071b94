// A journal: an entry has a date, an optional location, and hashtags in its text. All of them can be searched offline.

import ParleyKit

struct Journal {
  let cache: Cache
  let outbox: Outbox
  let sync: Sync
  let channel: ID<Conversation>

  private static let type = "com.example.journal"
  private static let dated = "net.app.ohai.displaydate"

  /// Index the messages in the cache by the date of the entry.
  static var indexing: MessageIndexing {
    var indexing = MessageIndexing()
    indexing.displayDate = MessageIndexing.date(inAnnotation: dated)
    return indexing
  }

  init(_ parley: Parley) async throws {
    (cache, outbox, sync) = (parley.cache, parley.outbox, parley.sync)
    try await sync.begin()
    channel = try await sync.privateChannel(ConversationSpec(Self.type, title: "Journal"))
  }

  /// - Parameter day: such as `2026-11-22`.
  func write(_ text: String, about day: String, at location: Location? = nil) async throws {
    var draft = Draft(text)
    draft.annotations = [Draft.Annotation(Self.dated) { json in json.field("date", "\(day)T12:00:00.000Z") }]
    if let location, let name = location.name {
      draft.annotations.append(.location(name, latitude: location.latitude, longitude: location.longitude))
    }
    try await outbox.send(draft, in: channel)
  }

  /// Entries, newest date first.
  func entries(before day: String? = nil) async throws -> [String] {
    let before = day.flatMap { Timestamp.parse("\($0)T00:00:00.000Z") }
    return try await cache.messagesByDate(in: channel, before: before.map { Int64($0) }).messages.map(\.text)
  }

  func tagged(_ hashtag: String) async throws -> [String] {
    try await cache.find([.hashtag(hashtag)], in: channel).messages.map(\.text)
  }

  func written(near location: Location) async throws -> [String] {
    try await cache.find([.location(location, .quarter)], in: channel).messages.map(\.text)
  }

  func search(_ words: String) async throws -> [String] {
    try await cache.search(words, in: channel).messages.map(\.text)
  }
}
