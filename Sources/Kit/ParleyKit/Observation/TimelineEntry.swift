// The first page of the timeline, as the server last listed it. Its posts are of many feeds, most of which are not cached as
// conversations, so the page is one row of the store.

import ParleyJSON
import ParleyModel

/// An entry of the timeline: a post, or a repost with its post.
struct TimelineEntry: Sendable, Identifiable {
  let entry: Resource<MessageView>
  let post: Resource<MessageView>

  var id: ID<Message> { entry.message.id }
}

extension TimelineEntry: JSONWritable, JSONReadable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("entry", entry)
      json.field("post", post)
    }
  }

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(entry: try object.read("entry"), post: try object.read("post"))
  }
}

extension Cache {
  /// No cursor covers the page: another start of the server may have lost its posts.
  static let timelineNote = "timeline"

  /// The stored page; empty without one, and after an update of the app that reads another form.
  var timeline: [TimelineEntry] {
    guard lockedFor == nil, let raw = notes[Self.timelineNote] else { return [] }
    do throws(JSONError) { return try [TimelineEntry](json: JSONValue(parsing: raw.bytes)) } catch { return [] }
  }

  /// Stores the first page of a response, unless the cache was erased or the server restarted since the request.
  func setTimeline(_ entries: [TimelineEntry], asOf age: ResponseAge) throws(CacheFault) {
    guard isCurrent(age) else { return }
    try save([CacheRow(.note, Self.timelineNote, writing: entries)])
  }

  /// No cursor covers a response with the position.
  static let timelinePositionNote = "timeline position"

  /// The read position of the timeline, with the unread posts of the last response; nil if neither an event nor a response has
  /// named it.
  var timelinePosition: TimelinePosition? {
    guard lockedFor == nil, let raw = notes[Self.timelinePositionNote] else { return nil }
    do throws(JSONError) { return try TimelinePosition(json: JSONValue(parsing: raw.bytes)) } catch { return nil }
  }

  /// Stores the position of a response, as `setTimeline` does its page.
  /// - Returns: false if the response is of another start of the server, or older than an event.
  func setTimelinePosition(_ position: TimelinePosition, asOf age: ResponseAge) throws(CacheFault) -> Bool {
    guard isCurrent(age), timelinePosition?.readAt ?? 0 <= position.readAt ?? 0 else { return false }
    try save([CacheRow(.note, Self.timelinePositionNote, writing: position)])
    return true
  }

  /// The row of the newest position among events; another device has moved it.
  func timelinePositionRows(of events: [ReceivedEvent]) -> [CacheRow] {
    for event in events.reversed() {
      guard case .timelinePosition(let position) = event.content else { continue }
      return [CacheRow(.note, Self.timelinePositionNote, writing: position)]
    }
    return []
  }

  /// The user's own feed; nil before the first post.
  var ownFeed: ID<Conversation>? {
    guard let me = replica.me?.summary.id else { return nil }
    return replica.conversations.values.first { $0.conversation.kind == .feed && $0.conversation.owner == me }?
      .conversation.id
  }

  /// Whether an event may change a timeline: of a feed, which is cached or only in the topic `timeline`; a mention; or of the
  /// filters or the read position.
  func mayChangeTimeline(_ event: ReceivedEvent) -> Bool {
    if [.notificationCreated, .timelineFiltersChanged, .timelineRead].contains(event.kind) { return true }
    guard case .conversation(let id) = event.stream else { return false }
    return replica.conversations[id].map { $0.conversation.kind == .feed } ?? true
  }

  /// Posts that are not cached as messages, with pending changes.
  func shown(_ posts: [MessageView], with operations: [OutboxOperation]) -> [ShownMessage] {
    posts.map { post in
      let cached = CachedMessage(
        ReplicaMessage(post, asOf: 0), generation: generation, indexing.index(post.message, locationName: nil))
      return ShownMessage(cached, operations.filter { $0.target == .message(post.message.id) })
    }
  }
}
