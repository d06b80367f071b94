// A site without a server, for previews of views and for tests of an app. Its cache is filled before the first view reads it,
// and no request leaves the device.

import ParleyJSON
public import ParleyModel

/// The data of `Parley.preview`. `garden` has users, forums, topics, a direct conversation and notifications; an app changes
/// a copy, or begins with `PreviewSite(name:)`.
public struct PreviewSite: Sendable {
  /// The signed-in user.
  public private(set) var me: User
  /// The other users.
  public private(set) var users: [User] = []
  /// The forums of the user.
  public private(set) var forums: [ForumView] = []
  /// The conversations of the user.
  public private(set) var conversations: [OwnConversation] = []
  /// The messages of all conversations.
  public private(set) var messages: [Message] = []
  /// The topics of all forums, as the server lists them.
  public private(set) var topics: [ListedTopic] = []
  /// The inbox of the user.
  public private(set) var notifications: [NotificationView] = []
  /// The time of the next message, in milliseconds since 1970. A message moves it by a minute.
  public var now: Int64
  private var lastID = 0

  /// A site with its signed-in user alone.
  public init(name: String, displayName: String? = nil, now: Int64 = 1_767_268_800_000) {
    self.now = now
    lastID = 1
    me = Self.user(1, name, displayName, now)
    me.own = User.Own()
  }

  private static func user(_ id: Int, _ name: String, _ displayName: String?, _ now: Int64) -> User {
    User(
      UserSummary(id: ID(id), name: name, displayName: displayName, role: .member, createdAt: now),
      standing: User.Standing(state: .active))
  }

  private mutating func nextID() -> Int {
    lastID += 1
    return lastID
  }

  /// Adds a user.
  public mutating func addUser(_ name: String, displayName: String? = nil) -> ID<User> {
    let user = Self.user(nextID(), name, displayName, now)
    users.append(user)
    return user.summary.id
  }

  /// Adds a forum, of which the user is a member. Returns it with its room.
  public mutating func addForum(
    _ title: String, visibility: Visibility = .members
  ) -> (forum: ID<Forum>, room: ID<Conversation>) {
    let (id, room) = (ID<Forum>(nextID()), ID<Conversation>(nextID()))
    let forum = Forum(
      id: id, title: title, visibility: visibility, room: room, createdBy: me.summary.id, createdAt: now)
    forums.append(ForumView(forum, role: .member, memberCount: users.count + 1))
    add(Conversation(id: room, kind: .room, forum: id, createdBy: me.summary.id, createdAt: now))
    return (id, room)
  }

  /// Adds a topic with its first message.
  @discardableResult
  public mutating func addTopic(
    _ title: String, _ text: String, by author: ID<User>, in forum: ID<Forum>
  ) -> ID<Conversation> {
    let id = ID<Conversation>(nextID())
    add(Conversation(id: id, kind: .topic, forum: forum, title: title, createdBy: author, createdAt: now))
    let first = addMessage(text, by: author, in: id)
    let topic = Topic(
      id: id, forum: forum, title: title, createdBy: author, createdAt: now, lastMessage: first, lastSeq: 1)
    topics.insert(
      ListedTopic(topic, isNew: false, excerpt: text, authors: [author], lastActivityAt: now), at: 0)
    return id
  }

  /// Adds the direct conversation with a user.
  public mutating func addDirect(with user: ID<User>) -> ID<Conversation> {
    let id = ID<Conversation>(nextID())
    let participants = [me.summary.id, user].map { Participant($0) }
    add(
      Conversation(
        id: id, kind: .direct, isDistinct: true, createdBy: me.summary.id, createdAt: now, participantCount: 2,
        participants: participants))
    return id
  }

  private mutating func add(_ conversation: Conversation) {
    conversations.append(
      OwnConversation(
        conversation, lastMessage: nil, unread: 0, readSeq: 0, deliveredSeq: 0, lastOffset: 1, level: .everything,
        participation: OwnConversation.Participation(
          role: .member, fromSeq: 1, fromOffset: 1, joinedSeq: 0, isRequest: false)))
  }

  /// Adds a message. One by another user is unread and, with `notifies`, in the inbox.
  ///
  /// - Precondition: the conversation was added before.
  @discardableResult
  public mutating func addMessage(
    _ text: String, by author: ID<User>, in conversation: ID<Conversation>, replyTo: ID<Message>? = nil,
    likes: Int = 0, notifies kind: Notification.Kind? = nil
  ) -> ID<Message> {
    let id = ID<Message>(nextID())
    guard let index = conversations.firstIndex(where: { $0.conversation.id == conversation }) else { return id }
    now += 60_000
    var own = conversations[index]
    let seq = own.conversation.lastSeq + 1
    let actions = likes > 0 ? [Message.ActionCount(type: "like", count: likes)] : []
    let message = Message(
      id: id, conversation: conversation, author: author, seq: seq, previous: own.conversation.lastMessage,
      replyTo: replyTo, createdAt: now, state: .live(Message.Content(text: text, sentAt: now, actions: actions)))
    messages.append(message)
    own.conversation.lastSeq = seq
    own.conversation.lastMessage = id
    own.lastMessage = MessageView(message)
    if author == me.summary.id { (own.readSeq, own.unread) = (seq, 0) } else { own.unread += 1 }
    own.deliveredSeq = seq
    conversations[index] = own
    if let kind {
      let entry = Notification(
        id: ID(nextID()), kind: kind, conversation: conversation, message: id, actor: author, createdAt: now)
      notifications.insert(NotificationView(entry, MessageView(message)), at: 0)
    }
    return id
  }

  /// Ada's gardening club: two forums, a topic, a direct conversation and a mention.
  public static var garden: PreviewSite {
    var site = PreviewSite(name: "ada", displayName: "Ada Lovelace")
    let ada = site.me.summary.id
    let grace = site.addUser("grace", displayName: "Grace Hopper")
    let linus = site.addUser("linus")
    let (garden, room) = site.addForum("Garden", visibility: .public)
    let question = site.addMessage("Who waters the tomatoes this week?", by: grace, in: room)
    site.addMessage("I do, until Thursday.", by: ada, in: room, replyTo: question, likes: 2)
    site.addMessage("@ada the hose **leaks**: see #tools", by: linus, in: room, notifies: .mention)
    site.addTopic("When to plant garlic?", "October, or is November early enough?", by: linus, in: garden)
    _ = site.addForum("Kitchen")
    let direct = site.addDirect(with: grace)
    site.addMessage("Seeds have arrived 🌱", by: grace, in: direct, notifies: .direct)
    return site
  }
}

// MARK: Content of the cache and of responses

extension PreviewSite {
  private static let cursor = EventCursor(epoch: "0", start: "0", event: 1)

  /// The rows that a synchronized cache has stored.
  func changes(_ indexing: MessageIndexing) -> CacheChanges {
    var snapshot = Snapshot(Self.cursor, me: me, settings: .blank)
    (snapshot.users, snapshot.forums, snapshot.conversations) = (users + [me], forums, conversations)
    for view in notifications { snapshot.inbox.add(view.entry.kind) }
    var changes = CacheChanges()
    changes.rows = Replica(snapshot).rows(changedSince: Replica()).map {
      CacheRow(CacheTable($0.name.table), $0.name.key, $0.value)
    }
    changes.rows.append(Cache.indexRow(indexing))
    for own in conversations where own.conversation.lastSeq > 0 {
      var history = CachedHistory()
      history.cached.add(1...own.conversation.lastSeq)
      history.update(to: .complete, lastSeq: own.conversation.lastSeq)
      changes.rows.append(CacheRow(.history, own.conversation.id.description, writing: history))
    }
    changes.messages = messages.map {
      CachedMessage(ReplicaMessage(MessageView($0), asOf: 1), generation: 1, indexing.index($0))
    }
    return changes
  }

  /// The answer to a request of a list that comes from the server; nil for any other.
  func answer(to target: String) -> [UInt8]? {
    let path = target.split(separator: "?")[0].dropFirst("/api/v1".count)
    var json = JSONWriter()
    if path == "/inbox" {
      json.object { json in
        json.field("data", notifications)
        json.null("next")
        json.null("previous")
        var counts = InboxCounts()
        for view in notifications { counts.add(view.entry.kind) }
        json.field("unread", counts)
      }
      return json.bytes
    }
    guard let forum = forums.map(\.forum.id).first(where: { path == "/forums/\($0)/conversations" }) else { return nil }
    json.object { json in
      json.field("data", topics.filter { $0.topic.forum == forum })
      json.null("next")
      json.null("previous")
    }
    return json.bytes
  }
}

/// Answers the lists that models request from the server. The server of a preview is unreachable otherwise.
struct PreviewTransport: Transport {
  let site: PreviewSite

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    guard exchange.method == "GET", let body = site.answer(to: exchange.target) else {
      throw .unreachable("a preview has no server")
    }
    let rest = PreviewBody(body)
    let type = TransportRequest.Field("Content-Type", "application/json")
    return TransportResponse(status: 200, fields: [type]) { () throws(TransportFailure) in await rest.take() }
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    throw .unreachable("a preview has no server")
  }
}

/// A body of one chunk.
private actor PreviewBody {
  private var bytes: [UInt8]?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func take() -> [UInt8]? {
    defer { bytes = nil }
    return bytes
  }
}

extension Parley {
  /// A user's replica with the data of a preview, without a server. What a view sends stays unsent.
  public static func preview(_ site: PreviewSite = .garden) throws(CacheFault) -> Parley {
    let indexing = MessageIndexing()
    let changes = site.changes(indexing)
    let client = Client(.preview, over: PreviewTransport(site: site), token: "preview")
    return try Parley(
      client, clock: Outbox.Clock(now: { [now = site.now] in now }), indexing,
      open: { FileSource(name: $0.name, bytes: []) }
    ) {
      let store = MemoryStore()
      store.save(changes)
      return store
    }
  }
}
