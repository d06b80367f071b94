// What a client holds of a place, and how an event changes it: local state is a function of the events. The server proves by
// it that what it tells and what it would answer are the same.
//
// - A stream is applied in order, by its offsets. What was applied already changes nothing; a hole is said, and changes
//   nothing either: the client pulls what is missing.
// - A thing with a `revision` that is not newer than what is held changes nothing. What has none comes whole, and the newest
//   event wins. An answer says up to where it has all: what is older changes nothing of it, and an answer that is older than
//   what was applied is not taken. So slow answers and quick events may come in any order.
// - What an event does not say must be asked for: `needs` lists it. Answers are given to `hold`, and what is not found, to
//   `drop`.

/// What a client holds.
public struct Replica: Sendable, Hashable {
  public internal(set) var me: User?
  public internal(set) var settings: SiteSettings?
  public internal(set) var users: [ID<User>: User] = [:]
  public internal(set) var forums: [ID<Forum>: HeldForum] = [:]
  public internal(set) var conversations: [ID<Conversation>: HeldConversation] = [:]
  /// Where one has said what one wants to hear.
  public internal(set) var levels: [LevelScope: Level] = [:]
  public internal(set) var relations: [ID<User>: Set<Relation>] = [:]
  /// How much waits for oneself.
  public internal(set) var inbox = InboxCounts()
  public internal(set) var positions: [EventStream: Position] = [:]
  /// Up to this event all is applied of what was followed from the beginning.
  public internal(set) var cursor: EventCursor?
  public internal(set) var needs: Set<Need> = []

  /// What was told of oneself alone is as new as this event.
  var ownAsOf = 0

  public init() {}

  /// How far a stream was applied.
  public struct Position: Sendable, Hashable {
    public var offset: Int
    public var event: Int
  }

  /// What no event has told, and an answer will.
  public enum Need: Sendable, Hashable {
    case user(ID<User>)
    case forum(ID<Forum>)
    /// With its last message, how many are unread, and its messages.
    case conversation(ID<Conversation>)
    /// Which actions on it are one's own.
    case message(ID<Message>)
    /// How much waits: an entry counts for who may read what it is about.
    case inbox
    /// One's role is another, and with it what one may see: a snapshot to begin anew with.
    case everything
  }

  public enum Step: Sendable, Hashable {
    case applied
    /// It was applied before.
    case known
    /// The events after this offset, up to this one, have not come. Nothing was changed.
    case missing(after: Int)
  }
}

/// A forum, and what one is in it.
public struct HeldForum: Sendable, Hashable {
  public internal(set) var forum: Forum
  public internal(set) var role: ForumRole?
  var asOf: Int
}

extension Replica {
  /// Applies what has happened; an event of a stream that is new here begins it.
  public mutating func apply(_ event: ReceivedEvent) -> Step {
    if let position = positions[event.stream] {
      guard event.offset > position.offset else { return .known }
      guard event.offset == position.offset + 1 else { return .missing(after: position.offset) }
    }
    positions[event.stream] = Position(offset: event.offset, event: event.id)
    if let cursor, event.id > cursor.event { self.cursor?.event = event.id }
    if let kind = event.kind {
      take(event, kind)
      if kind.mayChangeNotifications(in: event.stream) { needs.insert(.inbox) }
    }
    return .applied
  }

  private mutating func take(_ event: ReceivedEvent, _ kind: Event.Kind) {
    switch event.content {
    case .message(let message): take(message, kind, event)
    case .actions(let message, let actions): take(actions, on: message, event)
    case .star(let message, let isSet):
      for id in conversations.keys { conversations[id]?.setStar(isSet, on: message, event.id) }
    case .receipt(let conversation, let user, let readPosition):
      change(conversation, event) { $0.receipts[user] = readPosition }
    case .readPosition(let conversation, let readPosition):
      change(conversation, event) { [listener] in $0.move(to: readPosition, for: listener) }
    case .conversation(let conversation): take(conversation, event)
    case .gained(let gained): take(gained, event.id)
    case .participant(let conversation, let user, let role):
      change(conversation, event) { [me] in $0.set(role, of: user, me: me?.summary.id) }
      if role != nil { know(user) }
    case .member(let forum, let user, let role): take(role, of: user, in: forum, event.id)
    case .forum(let forum): take(forum, event.id)
    case .user(let user): take(user, in: event.stream)
    case .settings(let new): if new.revision > settings?.revision ?? 0 { settings = new }
    case .level(let place, let level): if event.id > ownAsOf { levels[place] = level.isOwn ? level.level : nil }
    case .relations(let all): take(all, event.id)
    case .thing(let id): take(id, kind, event.id)
    case .inbox, .hidden: break
    }
    settle(event.stream)
  }

  /// What is said by an id alone has gone, or is to be asked for.
  private mutating func take(_ id: Int, _ kind: Event.Kind, _ event: Int) {
    switch kind {
    case .conversationRemoved, .conversationCreated, .conversationUpdated:
      // It may have come back since.
      if event > conversations[ID(id)]?.asOf ?? 0 { drop(ID<Conversation>(id)) }
    case .forumDeleted: drop(ID<Forum>(id))
    case .forumCreated, .forumUpdated: needs.insert(.forum(ID(id)))
    case .userUpdated:
      if users[ID(id)] != nil || me?.summary.id.number == id { needs.insert(.user(ID(id))) }
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved,
      .receiptUpdated, .participantJoined, .participantLeft, .participantChanged, .notificationCreated, .notificationRead, .readPositionUpdated,
      .levelChanged, .relationChanged, .preferencesUpdated, .settingsUpdated:
      break
    }
  }

  /// An event that was not about a conversation's metadata still moves its last offset.
  private mutating func settle(_ stream: EventStream) {
    guard case .conversation(let id) = stream, conversations[id] == nil else { return }
    positions[stream] = nil
  }

  /// Whom one hears of, one wants to know.
  mutating func know(_ user: ID<User>) {
    if users[user] == nil, user != me?.summary.id { needs.insert(.user(user)) }
  }

  private mutating func change(
    _ id: ID<Conversation>, _ event: ReceivedEvent, _ body: (inout HeldConversation) -> Void
  ) {
    guard var held = conversations.removeValue(forKey: id) else { return }
    if held.isOlder(than: event) { body(&held) }
    if held.unread == nil { needs.insert(.conversation(id)) }
    conversations[id] = held
  }
}

// MARK: People, relations and the place

extension Replica {
  private mutating func take(_ user: User, in stream: EventStream) {
    let summary = user.summary
    if let old = me?.summary, summary.id == old.id {
      guard summary.revision >= old.revision else { return }
      if summary.role != old.role { needs.insert(.everything) }
      if case .user = stream {
        me = user
      } else {
        me?.summary = summary
      }
      return
    }
    guard let held = users[summary.id], summary.revision > held.summary.revision else { return }
    users[summary.id] = user
  }

  private mutating func take(_ all: UserRelations, _ event: Int) {
    guard event > ownAsOf else { return }
    let wasSilent = relations[all.other]?.isSilencing ?? false
    relations[all.other] = all.kinds.isEmpty ? nil : all.kinds
    if all.kinds.isSilencing != wasSilent { recount(event) }
    for (id, held) in conversations where held.conversation.createdBy == all.other && held.asOf < event {
      guard held.participation != nil else { continue }
      conversations[id]?.participation?.isRequest = all.requests.contains(id)
    }
  }

  /// What somebody has written who is heard no longer, or again, counts otherwise.
  private mutating func recount(_ event: Int) {
    let listener = listener
    for id in conversations.keys where conversations[id]?.asOf ?? .max < event {
      conversations[id]?.recount(for: listener)
      if let held = conversations[id], held.unread == nil { needs.insert(.conversation(id)) }
    }
  }

  /// Whose unread messages are counted.
  private var listener: HeldConversation.Listener {
    HeldConversation.Listener(user: me?.summary.id, silenced: silenced)
  }

  private mutating func take(_ role: ForumRole?, of user: ID<User>, in forum: ID<Forum>, _ event: Int) {
    guard user == me?.summary.id else { return }
    guard let held = forums[forum] else {
      if role != nil { needs.insert(.forum(forum)) }
      return
    }
    if event > held.asOf { forums[forum]?.role = role }
    // Of a private one nobody but its members may know.
    if role == nil, held.forum.visibility != .public { needs.insert(.forum(forum)) }
  }

  private mutating func take(_ forum: Forum, _ event: Int) {
    guard let held = forums[forum.id] else {
      forums[forum.id] = HeldForum(forum: forum, asOf: event)
      return
    }
    guard forum.revision > held.forum.revision else { return }
    forums[forum.id]?.forum = forum
  }
}

// MARK: Conversations and what is said in them

extension Replica {
  private mutating func take(_ conversation: Conversation, _ event: ReceivedEvent) {
    let id = conversation.id
    guard conversations[id] != nil else {
      // A topic of a forum that is followed; of any other conversation one hears in one's own stream first.
      guard case .forum = event.stream else { return }
      conversations[id] = HeldConversation(conversation, asOf: event.id)
      return
    }
    conversations[id]?.take(conversation, event)
    for participant in conversation.participants ?? [] { know(participant.user) }
  }

  private mutating func take(_ gained: GainedConversation, _ event: Int) {
    let id = gained.conversation.id
    if let held = conversations[id], held.asOf >= event { return }
    var held = HeldConversation(gained.conversation, asOf: event)
    if let before = conversations[id] { held.keepMessages(of: before) }
    held.gain(gained)
    conversations[id] = held
    // What was said before is to be read.
    let fromSeq = gained.participation?.fromSeq ?? 1
    if held.unread == nil || held.conversation.lastSeq >= fromSeq { needs.insert(.conversation(id)) }
    for participant in gained.conversation.participants ?? [] { know(participant.user) }
  }

  private mutating func take(_ message: Message, _ kind: Event.Kind, _ event: ReceivedEvent) {
    let id = message.conversation
    guard var held = conversations.removeValue(forKey: id) else { return }
    // Its neighbour before has not come.
    if message.seq > held.conversation.lastSeq + 1 { needs.insert(.conversation(id)) }
    held.take(message, kind, event, for: listener)
    if held.unread == nil { needs.insert(.conversation(id)) }
    conversations[id] = held
    know(message.author)
  }

  private mutating func take(_ actions: [Message.ActionCount], on message: ID<Message>, _ event: ReceivedEvent) {
    guard case .conversation(let id) = event.stream else { return }
    let isNews = conversations[id]?.take(actions, on: message, event.id) ?? false
    if isNews, event.actor != nil, event.actor == me?.summary.id { needs.insert(.message(message)) }
  }
}

// MARK: Answers

extension Replica {
  /// What is lost, or was never there.
  public mutating func drop(_ conversation: ID<Conversation>) {
    conversations[conversation] = nil
    positions[.conversation(conversation)] = nil
    needs.remove(.conversation(conversation))
  }

  public mutating func drop(_ forum: ID<Forum>) {
    forums[forum] = nil
    positions[.forum(forum)] = nil
    needs.remove(.forum(forum))
    for (id, held) in conversations where held.conversation.forum == forum { drop(id) }
  }

  public mutating func drop(_ user: ID<User>) {
    users[user] = nil
    needs.remove(.user(user))
  }

  public mutating func drop(_ message: ID<Message>) { needs.remove(.message(message)) }

  /// The same of whatever was asked for and is not there.
  public mutating func drop(_ need: Need) {
    switch need {
    case .user(let id): drop(id)
    case .forum(let id): drop(id)
    case .conversation(let id): drop(id)
    case .message(let id): drop(id)
    case .inbox, .everything: break
    }
  }

  public mutating func hold(_ counts: InboxCounts) {
    inbox = counts
    needs.remove(.inbox)
  }

  public mutating func hold(_ user: User) {
    let id = user.summary.id
    needs.remove(.user(id))
    if let old = me?.summary, old.id == id {
      guard user.summary.revision >= old.revision else { return }
      if user.summary.role != old.role { needs.insert(.everything) }
      me = user
      return
    }
    if let held = users[id], held.summary.revision > user.summary.revision { return }
    users[id] = user
  }

  /// As it was at `event` or later.
  public mutating func hold(_ forum: ForumView, asOf event: Int) {
    needs.remove(.forum(forum.forum.id))
    // Staff may ask for what they do not read; it is not held.
    guard forum.forum.visibility != .private || forum.role != nil else { return drop(forum.forum.id) }
    if let held = forums[forum.forum.id], held.asOf > event { return }
    var new = HeldForum(forum: forum.forum, role: forum.role, asOf: event)
    if let held = forums[forum.forum.id], held.forum.revision > new.forum.revision { new.forum = held.forum }
    forums[forum.forum.id] = new
  }

  /// As it was at `event` or later; its last offset says exactly when.
  public mutating func hold(_ own: OwnConversation, asOf event: Int) {
    let id = own.conversation.id
    let stream = EventStream.conversation(id)
    var held = conversations[id] ?? HeldConversation(own.conversation, asOf: 0)
    guard own.lastOffset >= max(held.asOfOffset, positions[stream]?.offset ?? 0) else { return }
    needs.remove(.conversation(id))
    held.hold(own, asOf: event, me: me?.summary.id)
    conversations[id] = held
    // Where messages are held, they still want the events up to here.
    if positions[stream] == nil { positions[stream] = Position(offset: own.lastOffset, event: event) }
    for participant in own.conversation.participants ?? [] { know(participant.user) }
  }

  /// What is only read: one takes no part in it.
  public mutating func hold(_ conversation: Conversation, offset: Int, asOf event: Int) {
    conversations[conversation.id] = HeldConversation(conversation, asOf: event)
    positions[.conversation(conversation.id)] = Position(offset: offset, event: event)
  }

  public mutating func hold(_ messages: [MessageView], asOf event: Int) {
    for seen in messages {
      // One that is older than what was applied answers nothing.
      if conversations[seen.message.conversation]?.hold(seen, asOf: event) ?? true {
        needs.remove(.message(seen.message.id))
      }
      know(seen.message.author)
    }
  }

  /// All that a first screen needs.
  public init(_ snapshot: Snapshot) {
    let event = snapshot.cursor.event
    me = snapshot.me
    settings = snapshot.settings
    cursor = snapshot.cursor
    ownAsOf = event
    levels = snapshot.levels
    relations = snapshot.relations
    inbox = snapshot.inbox
    for user in snapshot.users { users[user.summary.id] = user }
    for forum in snapshot.forums { hold(forum, asOf: event) }
    for own in snapshot.conversations {
      hold(own, asOf: event)
      if let last = own.lastMessage { _ = conversations[own.conversation.id]?.hold(last, asOf: event) }
    }
    for (stream, offset) in snapshot.offsets { positions[stream] = Position(offset: offset, event: event) }
    needs = []
  }
}

extension Replica {
  /// A stream that is followed from here on.
  public mutating func follow(_ stream: EventStream, after offset: Int, asOf event: Int) {
    if positions[stream] == nil { positions[stream] = Position(offset: offset, event: event) }
  }

  /// Whom one mutes or blocks: pages leave out what they write, and it is not counted.
  public var silenced: Set<ID<User>> { Set(relations.filter { $0.value.isSilencing }.keys) }

  /// What one hears of a conversation, as one has said or as is usual there.
  public func level(of conversation: Conversation) -> Level {
    if let own = levels[.conversation(conversation.id)] { return own }
    if conversation.kind == .room, let forum = conversation.forum, let own = levels[.forum(forum)] { return own }
    return .usual(in: conversation.kind)
  }
}

extension Event.Kind {
  /// What is read or gone is told by what it was for, and what one may not read does not count: then it is asked for how much
  /// is left.
  fileprivate func mayChangeNotifications(in stream: EventStream) -> Bool {
    switch self {
    case .notificationCreated, .notificationRead: true
    case .conversationCreated, .conversationRemoved, .participantJoined, .participantLeft, .participantChanged:
      if case .user = stream { true } else { false }
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved,
      .receiptUpdated, .conversationUpdated, .forumCreated, .forumUpdated, .forumDeleted, .userUpdated, .readPositionUpdated,
      .levelChanged, .relationChanged, .preferencesUpdated, .settingsUpdated:
      false
    }
  }
}

extension Set<Relation> {
  /// Whether what the other writes waits to be read by nobody.
  fileprivate var isSilencing: Bool { contains(.mute) || contains(.block) }
}
