import Foundation
import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// A client of a village that holds what it was told, and follows along by its streams.
struct Follower {
  let village: Village
  /// Nil for a visitor.
  let name: String?
  /// Forums that it follows, and conversations that it only reads.
  let forums: [String]
  let reading: [String]
  var replica = Replica()
  /// Whom it mutes or blocks: its pages may leave out their messages.
  private var silenced: Set<ID<User>> = []

  init(_ village: Village, _ name: String?, forums: [String] = [], reading: [String] = []) async throws {
    self.village = village
    self.name = name
    self.forums = forums
    self.reading = reading
    if name != nil {
      replica = Replica(try await village.expect(200, .get, "/snapshot", as: name).read())
    }
    silenced = replica.silenced
    for conversation in replica.conversations.keys.sorted() { try await fetchMessages(of: conversation) }
    for forum in forums { try await begin(forum: forum) }
    for conversation in reading { try await begin(conversation: conversation) }
  }

  private mutating func begin(forum: String) async throws {
    let page = try await village.ask(.get, "/streams/forum:\(forum)/events?limit=1", as: name)
    guard page.status == 200, let id = ID<Forum>(forum) else { return }
    replica.follow(.forum(id), after: page.int("last_offset") ?? 0, asOf: cursor(of: page))
    let seen = try await village.expect(200, .get, "/forums/\(forum)", as: name)
    replica.hold(try seen.read() as ForumView, asOf: cursor(of: page))
    let topics = try await village.expect(200, .get, "/forums/\(forum)/conversations", as: name)
    for topic in topics.texts("data", "id").compactMap(\.self) where !holds(topic) {
      let whole = try await village.expect(200, .get, "/conversations/\(topic)", as: name)
      replica.hold(try whole.read() as Conversation, offset: 0, asOf: cursor(of: page))
    }
  }

  private mutating func begin(conversation: String) async throws {
    let page = try await village.ask(.get, "/streams/conversation:\(conversation)/events?limit=1", as: name)
    guard page.status == 200, let id = ID<Conversation>(conversation) else { return }
    if !holds(conversation) || replica.conversations[id]?.isOwn == false {
      let whole = try await village.expect(200, .get, "/conversations/\(conversation)", as: name)
      replica.hold(
        try whole.read() as Conversation, offset: page.int("last_offset") ?? 0, asOf: cursor(of: page))
      try await fetchMessages(of: id)
    }
  }

  private func holds(_ conversation: String) -> Bool {
    ID<Conversation>(conversation).map { replica.conversations[$0] != nil } ?? false
  }

  private func cursor(of page: Answer) -> Int { page["cursor"].flatMap { EventCursor($0) }?.event ?? 0 }

  private mutating func fetchMessages(of conversation: ID<Conversation>) async throws {
    let path = "/conversations/\(conversation)/messages?limit=200&order=asc"
    let page = try await village.ask(.get, path, as: name)
    guard page.status == 200 else { return }
    replica.hold(try page.read("data") as [MessageView], asOf: cursor(of: page))
  }

  // MARK: Following

  private var streams: [EventStream] {
    var streams: [EventStream] = []
    if let me = replica.me?.summary.id { streams = [.site, .user(me)] }
    streams += forums.compactMap { ID<Forum>($0) }.map { .forum($0) }
    streams += replica.conversations.filter { $0.value.isOwn }.keys.sorted().map { .conversation($0) }
    streams += reading.compactMap { ID<Conversation>($0) }.map { .conversation($0) }
    return Array(Set(streams)).sorted { $0.number < $1.number }
  }

  /// Applies all that it may see, in the order of all events, and asks for what they do not say.
  mutating func follow() async throws {
    for _ in 0..<20 {
      var events: [ReceivedEvent] = []
      for stream in streams {
        // What one has just gained goes on from where it came in.
        let offset = replica.positions[stream]?.offset
        let path = "/streams/\(stream)/events?limit=200&after_offset=\(offset ?? 0)"
        let page = try await village.ask(.get, path, as: name)
        guard page.status == 200 else {
          closed(stream)
          continue
        }
        events += try page.read("data") as [ReceivedEvent]
      }
      events.sort { $0.id < $1.id }
      for event in events {
        let step = replica.apply(event)
        if case .missing = step { Issue.record("\(name ?? "nobody"): a hole before \(event.stream) \(event.offset)") }
      }
      let needs = replica.needs
      for need in needs { try await resolve(need) }
      // What one takes part in no longer may still be read.
      for conversation in reading where !holds(conversation) { try await begin(conversation: conversation) }
      if events.isEmpty, needs.isEmpty { return }
    }
    Issue.record("\(name ?? "nobody") never comes to an end: \(replica.needs)")
  }

  /// Whoever only reads, and whoever is nobody, learns from the refusal that they read no longer.
  private mutating func closed(_ stream: EventStream) {
    switch stream {
    case .forum(let id): if name == nil { replica.drop(id) }
    case .conversation(let id): if replica.conversations[id]?.isOwn == false { replica.drop(id) }
    case .site, .user: break
    }
  }

  private mutating func resolve(_ need: Replica.Need) async throws {
    let asOf = replica.cursor?.event ?? replica.positions.values.map(\.event).max() ?? 0
    switch need {
    case .user(let id):
      let answer = try await village.ask(.get, "/users/\(id)", as: name)
      if answer.status == 200 { replica.hold(try answer.read() as User) } else { replica.drop(id) }
    case .forum(let id):
      let answer = try await village.ask(.get, "/forums/\(id)", as: name)
      if answer.status == 200 { replica.hold(try answer.read() as ForumView, asOf: asOf) } else { replica.drop(id) }
    case .conversation(let id):
      let answer = try await village.ask(.get, "/conversations/\(id)", as: name)
      guard answer.status == 200 else { return replica.drop(id) }
      if name != nil { replica.hold(try answer.read() as OwnConversation, asOf: asOf) }
      try await fetchMessages(of: id)
    case .inbox:
      replica.hold(try await village.expect(200, .get, "/inbox?limit=1", as: name).read("unread") as InboxCounts)
    case .everything: replica = try await Follower(village, name, forums: forums, reading: reading).replica
    case .message(let id):
      let answer = try await village.ask(.get, "/messages/\(id)", as: name)
      guard answer.status == 200 else { return replica.drop(id) }
      replica.hold([try answer.read() as MessageView], asOf: asOf)
    }
  }
}

extension Answer {
  func read<Value: JSONReadable>() throws -> Value { try Value(json: JSONValue(parsing: body)) }

  func read<Value: JSONReadable>(_ name: String) throws -> Value {
    var object = try JSONValue(parsing: body).object()
    return try object.read(name)
  }
}

// MARK: Comparing

extension Follower {
  /// What is held, line by line, without what no event tells: when somebody was last seen, what a bio names, the newest
  /// message of a forum.
  var held: Set<String> {
    var lines: Set<String> = []
    if let me = replica.me {
      lines.insert("me \(text(me)) \(me.standing?.state.rawValue ?? "") \(String(describing: me.own))")
    }
    if let settings = replica.settings { lines.insert("settings \(settings)") }
    for held in replica.forums.values {
      var forum = held.forum
      forum.lastMessage = nil
      lines.insert("forum \(forum) \(held.role?.rawValue ?? "-")")
    }
    for (id, held) in replica.conversations where held.isOwn || reading.contains(id.description) {
      lines.formUnion(self.lines(of: held))
    }
    for held in replica.conversations.values where !held.isOwn && held.conversation.kind == .topic {
      guard let forum = held.conversation.forum, forums.contains(forum.description) else { continue }
      let (title, revision) = (held.conversation.title ?? "", held.conversation.revision)
      lines.insert("topic \(held.conversation.id) \(title) #\(revision) \(held.conversation.isLocked)")
    }
    lines.insert("inbox \(replica.inbox.counts.map { "\($0.key) \($0.value)" }.sorted())")
    for (place, level) in replica.levels { lines.insert("level \(place) \(level)") }
    for (other, kinds) in replica.relations { lines.insert("relations \(other) \(kinds.map(\.rawValue).sorted())") }
    return lines
  }

  private func text(_ user: User) -> String {
    let summary = user.summary
    let names = "\(summary.name ?? "-") \(summary.displayName ?? "-")"
    return "\(summary.id) \(names) \(summary.bio) \(summary.role) #\(summary.revision)"
  }

  private func lines(of held: HeldConversation) -> Set<String> {
    let id = held.conversation.id
    var conversation = held.conversation
    // A visitor asks how many they are.
    if name == nil { conversation.participantCount = nil }
    var lines: Set = [
      "conversation \(conversation)", "participation \(id) \(String(describing: held.participation))",
    ]
    if held.isOwn {
      lines.insert("mark \(id) \(held.readPosition) unread \(held.unread.map { "\($0)" } ?? "?")")
      lines.insert("hears \(id) \(replica.level(of: held.conversation))")
    }
    for one in held.messages.values where !isSilenced(one.message.author) {
      let mine = one.message.tombstone == nil ? (one.mine ?? []).sorted() : []
      lines.insert("message \(one.message) mine \(mine)")
    }
    return lines
  }

  /// Muting and blocking hide, and hold back no event: what a page leaves out is fetched when it is to be shown.
  private func isSilenced(_ user: ID<User>) -> Bool {
    silenced.contains(user) || replica.silenced.contains(user)
  }

  /// Of those whom it holds, as everyone sees them. Their revision also counts what nobody else sees.
  func users(among ids: some Sequence<ID<User>>) -> Set<String> {
    Set(
      ids.compactMap { id in
        guard var user = replica.users[id] else { return nil }
        user.summary.revision = 0
        return "\(text(user)) \(user.standing?.state.hasGone == true)"
      })
  }

  /// What is held and would not be answered, and what would be and is not held.
  func faults() async throws -> [String] {
    let fresh = try await Follower(village, name, forums: forums, reading: reading)
    let theirs = fresh.held.filter { line in
      !line.hasPrefix("message") || !silenced.contains { line.contains("author: \($0),") }
    }
    let mine = held
    var faults = mine.subtracting(theirs).map { "held: \($0)" } + theirs.subtracting(mine).map { "not held: \($0)" }
    let users = fresh.replica.users.keys
    let (known, told) = (self.users(among: users), fresh.users(among: users))
    faults += known.symmetricDifference(told).map { "person: \($0)" }
    return faults.sorted()
  }
}
