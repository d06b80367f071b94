import ParleyJSON
import ParleyKit
import ParleyModel
import ParleyNetworking

/// A client cache with one long conversation, and its benchmarks without a network.
struct ClientCache {
  let cache: Cache

  private static let long = ID<Conversation>(9)
  private static let users = [ID<User>(7), ID<User>(8)]
  private static let start: Int64 = 1_800_000_000_000
  /// The page size of the server.
  private static let page = 200
  /// The first messages that an app shows.
  private static let window = 50

  init(_ file: String) throws {
    cache = try Cache { try DiskStore(file) }
  }

  // MARK: Planting

  static func plant(_ file: String, messages: Int) async throws {
    let client = try ClientCache(file)
    try await client.begin(messages)
    var phrases = Phrases(seed: 1)
    for first in stride(from: 1, through: messages, by: page) {
      let seen = (first...min(messages, first + page - 1)).map { MessageView(message($0, &phrases)) }
      try await client.cache.merge(seen, asOf: 1)
    }
  }

  private func begin(_ messages: Int) async throws {
    let me = UserSummary(id: Self.users[0], name: "ada", role: .owner, createdAt: Self.start)
    let other = UserSummary(id: Self.users[1], name: "grace", role: .member, createdAt: Self.start)
    var snapshot = Snapshot(EventCursor(epoch: "bench", start: "s", event: 1), me: User(me), settings: SiteSettings())
    snapshot.users = [User(other)]
    let conversation = Conversation(
      id: Self.long, kind: .group, title: "garden", lastSeq: messages, lastMessage: Self.id(messages),
      createdBy: me.id, createdAt: Self.start)
    snapshot.conversations = [
      OwnConversation(
        conversation, lastMessage: nil, unread: 0, readSeq: messages, deliveredSeq: messages, lastOffset: messages,
        level: .everything,
        participation: .init(role: .member, fromSeq: 1, fromOffset: 1, joinedSeq: 0, isRequest: false))
    ]
    try await cache.begin(snapshot)
  }

  private static func id(_ seq: Int) -> ID<Message> { ID(1_000 + seq) }

  private static func message(_ seq: Int, _ phrases: inout Phrases) -> Message {
    Message(
      id: id(seq), conversation: long, author: users[seq % users.count], clientID: phrases.clientID(), seq: seq,
      previous: seq > 1 ? id(seq - 1) : nil, createdAt: start + Int64(seq) * 1_000,
      state: .live(.init(text: phrases.text())))
  }

  // MARK: Measuring

  /// Opens a cache and reads the first messages.
  static func open(_ file: String, seconds: Double) async throws -> Histogram {
    try await repeated(seconds) {
      let client = try ClientCache(file)
      let shown = try await MessageWindow(long, client.cache, size: window).newest().messages
      guard shown.count == window else { throw LoadError(description: "The window is not full.") }
    }
  }

  /// Fifty hits, newest first, every second search from a random position.
  func search(_ text: String, seconds: Double) async throws -> Histogram {
    var phrases = Phrases(seed: 1)
    let newest = try await cache.messages(.range(1...Int.max, of: Self.long, .descending, limit: 1)).first
    let latest = Int((newest?.index.shownAt ?? Self.start) - Self.start)
    var isEarlier = false
    return try await Self.repeated(seconds) {
      let before = isEarlier ? Self.start + Int64(phrases.number(below: latest)) : nil
      isEarlier.toggle()
      let found = try await cache.search(text, before: before, limit: Self.window).messages
      if before == nil, found.isEmpty { throw LoadError(description: "No messages found.") }
    }
  }

  /// Applies and stores events of new messages by pages, like a catch-up. Each time is that of a page.
  static func apply(
    _ file: String, seconds: Double
  ) async throws -> (times: Histogram, events: Int, seconds: Double) {
    let client = try ClientCache(file)
    try await client.begin(0)
    var phrases = Phrases(seed: 2)
    var (times, next) = (Histogram(), 1)
    var spent: Int64 = 0
    while Double(spent) < seconds * 1e9 {
      let events = try (next..<next + page).map { try event($0, &phrases) }
      let start = Clock.monotonic()
      let applied = try await client.cache.apply(events)
      let time = Clock.monotonic() - start
      guard applied.count == page else { throw LoadError(description: "An event was not applied.") }
      times.record(time)
      spent += time
      next += page
    }
    return (times, next - 1, Double(spent) / 1e9)
  }

  private static func event(_ seq: Int, _ phrases: inout Phrases) throws -> ReceivedEvent {
    let message = message(seq, &phrases)
    var json = JSONWriter()
    json.object { json in
      json.field("event", "message.created")
      json.field("id", String(1 + seq))
      json.field("stream", "conversation:\(long)")
      json.field("offset", seq)
      json.field("at", Timestamp(message.createdAt))
      json.field("actor_id", message.author)
      json.field("data", message)
    }
    return try ReceivedEvent(json: JSONValue(parsing: json.bytes))
  }

  private static func repeated(_ seconds: Double, _ body: () async throws -> Void) async throws -> Histogram {
    let end = Clock.monotonic() + Int64(seconds * 1e9)
    var times = Histogram()
    repeat {
      let start = Clock.monotonic()
      try await body()
      times.record(Clock.monotonic() - start)
    } while Clock.monotonic() < end
    return times
  }
}
