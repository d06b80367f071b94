import Foundation
import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// A client with a replica that it keeps current from its event streams.
struct ReplicaClient {
  let village: Village
  /// Nil for a visitor.
  let name: String?
  /// Subscribed forums, and conversations that it reads without taking part.
  let forums: [String]
  let reading: [String]
  var replica = Replica()
  /// Muted and blocked users: pages may omit their messages.
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
    let page = try await village.request(.get, "/streams/forum:\(forum)/events?limit=1", as: name)
    guard page.status == 200, let id = ID<Forum>(forum) else { return }
    replica.follow(.forum(id), after: page.int("last_offset") ?? 0, asOf: cursor(of: page))
    let seen = try await village.expect(200, .get, "/forums/\(forum)", as: name)
    replica.merge(try seen.read() as ForumView, asOf: cursor(of: page))
    let topics = try await village.expect(200, .get, "/forums/\(forum)/conversations", as: name)
    for topic in topics.texts("data", "id").compactMap(\.self) where !isCached(topic) {
      let whole = try await village.expect(200, .get, "/conversations/\(topic)", as: name)
      replica.merge(try whole.read() as Conversation, offset: 0, asOf: cursor(of: page))
    }
  }

  private mutating func begin(conversation: String) async throws {
    let page = try await village.request(.get, "/streams/conversation:\(conversation)/events?limit=1", as: name)
    guard page.status == 200, let id = ID<Conversation>(conversation) else { return }
    if !isCached(conversation) || replica.conversations[id]?.isOwn == false {
      let whole = try await village.expect(200, .get, "/conversations/\(conversation)", as: name)
      replica.merge(
        try whole.read() as Conversation, offset: page.int("last_offset") ?? 0, asOf: cursor(of: page))
      try await fetchMessages(of: id)
    }
  }

  private func isCached(_ conversation: String) -> Bool {
    ID<Conversation>(conversation).map { replica.conversations[$0] != nil } ?? false
  }

  private func cursor(of page: Answer) -> Int { page["cursor"].flatMap { EventCursor($0) }?.event ?? 0 }

  private mutating func fetchMessages(of conversation: ID<Conversation>) async throws {
    let path = "/conversations/\(conversation)/messages?limit=200&order=asc"
    let page = try await village.request(.get, path, as: name)
    guard page.status == 200 else { return }
    replica.merge(try page.read("data") as [MessageView], asOf: cursor(of: page))
  }

  // MARK: Synchronization

  private var streams: [EventStream] {
    var streams: [EventStream] = []
    if let me = replica.me?.summary.id { streams = [.site, .user(me)] }
    streams += forums.compactMap { ID<Forum>($0) }.map { .forum($0) }
    streams += replica.conversations.filter { $0.value.isOwn }.keys.sorted().map { .conversation($0) }
    streams += reading.compactMap { ID<Conversation>($0) }.map { .conversation($0) }
    return Array(Set(streams)).sorted { $0.number < $1.number }
  }

  /// Applies all readable events in the order of their ids, then fetches the missing data.
  mutating func synchronize() async throws {
    for _ in 0..<20 {
      var events: [ReceivedEvent] = []
      for stream in streams {
        // A new stream resumes at the offset of its first event.
        let offset = replica.positions[stream]?.offset
        let path = "/streams/\(stream)/events?limit=200&after_offset=\(offset ?? 0)"
        let page = try await village.request(.get, path, as: name)
        guard page.status == 200 else {
          closed(stream)
          continue
        }
        events += try page.read("data") as [ReceivedEvent]
      }
      events.sort { $0.id < $1.id }
      for event in events {
        let step = replica.apply(event)
        if case .missing = step {
          Issue.record("\(name ?? "visitor"): missing events before \(event.stream) \(event.offset)")
        }
      }
      let needs = replica.needs
      for need in needs { try await resolve(need) }
      // A conversation may stay readable after the user left it.
      for conversation in reading where !isCached(conversation) { try await begin(conversation: conversation) }
      if events.isEmpty, needs.isEmpty { return }
    }
    Issue.record("\(name ?? "visitor") does not converge: \(replica.needs)")
  }

  /// Clients that only read, and visitors, learn of lost access by the refusal.
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
      let answer = try await village.request(.get, "/users/\(id)", as: name)
      if answer.status == 200 { replica.merge(try answer.read() as User) } else { replica.drop(id) }
    case .forum(let id):
      let answer = try await village.request(.get, "/forums/\(id)", as: name)
      if answer.status == 200 { replica.merge(try answer.read() as ForumView, asOf: asOf) } else { replica.drop(id) }
    case .conversation(let id):
      let answer = try await village.request(.get, "/conversations/\(id)", as: name)
      guard answer.status == 200 else { return replica.drop(id) }
      if name != nil { replica.merge(try answer.read() as OwnConversation, asOf: asOf) }
      try await fetchMessages(of: id)
    case .inbox:
      replica.merge(try await village.expect(200, .get, "/inbox?limit=1", as: name).read("unread") as InboxCounts)
    case .everything: replica = try await ReplicaClient(village, name, forums: forums, reading: reading).replica
    case .message(let id):
      let answer = try await village.request(.get, "/messages/\(id)", as: name)
      guard answer.status == 200 else { return replica.drop(id) }
      replica.merge([try answer.read() as MessageView], asOf: asOf)
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

// MARK: Comparison

extension ReplicaClient {
  /// The replica, line by line, without the values that no event carries: last seen times, mentions in a bio, the
  /// newest message of a forum.
  var contents: Set<String> {
    var lines: Set<String> = []
    if let me = replica.me {
      lines.insert("me \(text(me)) \(me.standing?.state.rawValue ?? "") \(String(describing: me.own))")
    }
    if let settings = replica.settings { lines.insert("settings \(settings)") }
    for cached in replica.forums.values {
      var forum = cached.forum
      forum.lastMessage = nil
      lines.insert("forum \(forum) \(cached.role?.rawValue ?? "-")")
    }
    for (id, cached) in replica.conversations where cached.isOwn || reading.contains(id.description) {
      lines.formUnion(self.lines(of: cached))
    }
    for cached in replica.conversations.values where !cached.isOwn && cached.conversation.kind == .topic {
      guard let forum = cached.conversation.forum, forums.contains(forum.description) else { continue }
      let (title, revision) = (cached.conversation.title ?? "", cached.conversation.revision)
      lines.insert("topic \(cached.conversation.id) \(title) #\(revision) \(cached.conversation.isLocked)")
    }
    lines.insert("inbox \(replica.inbox.counts.map { "\($0.key) \($0.value)" }.sorted())")
    for (scope, level) in replica.levels { lines.insert("level \(scope) \(level)") }
    for (other, kinds) in replica.relations { lines.insert("relations \(other) \(kinds.map(\.rawValue).sorted())") }
    return lines
  }

  private func text(_ user: User) -> String {
    let summary = user.summary
    let names = "\(summary.name ?? "-") \(summary.displayName ?? "-")"
    let status = "\(summary.statusText ?? "") \(summary.statusEmoji ?? "") \(summary.statusExpiresAt ?? 0)"
    return "\(summary.id) \(names) \(summary.bio) \(status) \(summary.role) #\(summary.revision)"
  }

  private func lines(of cached: ReplicaConversation) -> Set<String> {
    let id = cached.conversation.id
    var conversation = cached.conversation
    // A visitor requests the participant count.
    if name == nil { conversation.participantCount = nil }
    var lines: Set = [
      "conversation \(conversation)", "participation \(id) \(String(describing: cached.participation))",
    ]
    if cached.isOwn {
      lines.insert("mark \(id) \(cached.readPosition) unread \(cached.unread.map { "\($0)" } ?? "?")")
      lines.insert("hears \(id) \(replica.level(of: cached.conversation))")
    }
    for one in cached.messages.values where !isSilenced(one.message.author) {
      let mine = one.message.tombstone == nil ? (one.mine ?? []).sorted() : []
      lines.insert("message \(one.message) mine \(mine)")
    }
    return lines
  }

  /// Mutes and blocks hide messages but withhold no events. A message omitted from a page is fetched for display.
  private func isSilenced(_ user: ID<User>) -> Bool {
    silenced.contains(user) || replica.silenced.contains(user)
  }

  /// The cached users as everyone sees them. Their revision also counts private changes.
  func users(among ids: some Sequence<ID<User>>) -> Set<String> {
    Set(
      ids.compactMap { id in
        guard var user = replica.users[id] else { return nil }
        user.summary.revision = 0
        return "\(text(user)) \(user.standing?.state.hasGone == true)"
      })
  }

  /// Differences between the replica and fresh answers of the server.
  func faults() async throws -> [String] {
    let fresh = try await ReplicaClient(village, name, forums: forums, reading: reading)
    let theirs = fresh.contents.filter { line in
      !line.hasPrefix("message") || !silenced.contains { line.contains("author: \($0),") }
    }
    let mine = contents
    var faults = mine.subtracting(theirs).map { "stale: \($0)" } + theirs.subtracting(mine).map { "missing: \($0)" }
    let users = fresh.replica.users.keys
    let (known, expected) = (self.users(among: users), fresh.users(among: users))
    faults += known.symmetricDifference(expected).map { "user: \($0)" }
    return faults.sorted()
  }
}
