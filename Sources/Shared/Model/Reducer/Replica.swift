// A client's copy of a site, and how an event changes it: local state is a function of the events. The server's tests
// use it to prove that events and responses agree.
//
// - Events of a stream are applied in order of their offsets. A known event changes nothing. After a gap, nothing is
//   applied, and the client fetches the missing events.
// - An object with a `revision` changes only to a newer one. A value without a revision is sent whole, and the newest
//   event wins. A response includes all events up to its cursor: older events do not change it, and a response older
//   than the applied events is dropped. So responses and events may arrive in any order.
// - `needs` lists the data that no event contained. Responses are passed to `hold`, and not-found responses to `drop`.

/// A client's copy of a site.
public struct Replica: Sendable, Hashable {
  /// The user of the replica; nil before the first snapshot.
  public internal(set) var me: User?
  /// The settings of the site; nil before the first snapshot.
  public internal(set) var settings: SiteSettings?
  /// The known users by id.
  public internal(set) var users: [ID<User>: User] = [:]
  /// The known forums by id, with the user's roles.
  public internal(set) var forums: [ID<Forum>: ReplicaForum] = [:]
  /// The known conversations by id: the user's own, and others that the user reads.
  public internal(set) var conversations: [ID<Conversation>: ReplicaConversation] = [:]
  /// Notification levels that the user has set.
  public internal(set) var levels: [LevelScope: Level] = [:]
  /// The user's follows, mutes and blocks, by the other user.
  public internal(set) var relations: [ID<User>: Set<Relation>] = [:]
  /// Unread notifications by kind.
  public internal(set) var inbox = InboxCounts()
  /// The last applied event of each followed stream.
  public internal(set) var positions: [EventStream: Position] = [:]
  /// All events of the subscribed streams up to this one are applied.
  public internal(set) var cursor: EventCursor?
  /// Data to request from the server.
  public internal(set) var needs: Set<Need> = []

  /// The event up to which levels and relations are current.
  var ownAsOf = 0

  /// An empty replica, before the first snapshot.
  public init() {}

  /// The last applied event of a stream.
  public struct Position: Sendable, Hashable {
    /// Position in the stream, from 1, without gaps; 0 before the first event.
    public var offset: Int
    /// The id of the event in the event log.
    public var event: Int
  }

  /// Data that no event contained and a response must provide.
  public enum Need: Sendable, Hashable {
    /// The profile of a user.
    case user(ID<User>)
    /// A forum.
    case forum(ID<Forum>)
    /// With its last message, unread count and messages.
    case conversation(ID<Conversation>)
    /// The user's own actions on it.
    case message(ID<Message>)
    /// Unread counts of notifications. An entry counts only if the user may read its subject.
    case inbox
    /// The user's role has changed, and with it the permissions: a new snapshot.
    case everything
  }

  /// The result of applying an event.
  public enum Step: Sendable, Hashable {
    /// The event has changed the replica.
    case applied
    /// The replica already has the event.
    case known
    /// The events after this offset, up to this one, are missing. The replica is unchanged.
    case missing(after: Int)
  }
}

/// A forum and the user's role in it.
public struct ReplicaForum: Sendable, Hashable {
  /// The forum as all its readers see it.
  public internal(set) var forum: Forum
  /// The user's role; nil for non-members.
  public internal(set) var role: ForumRole?
  /// The user's access by groups, independent of the role; nil without one.
  public internal(set) var groupAccess: GroupAccess?
  var asOf: Int
}

extension Replica {
  /// Applies an event. The first event of an unknown stream begins it.
  public mutating func apply(_ event: ReceivedEvent) -> Step {
    if let position = positions[event.stream] {
      guard event.offset > position.offset else { return .known }
      guard event.offset == position.offset + 1 else { return .missing(after: position.offset) }
    }
    positions[event.stream] = Position(offset: event.offset, event: event.id)
    if let cursor, event.id > cursor.event { self.cursor?.event = event.id }
    if let kind = event.kind {
      apply(event, kind)
      if kind.mayChangeNotifications(in: event.stream) { needs.insert(.inbox) }
    }
    return .applied
  }

  private mutating func apply(_ event: ReceivedEvent, _ kind: Event.Kind) {
    switch event.content {
    case .message(let message): apply(message, kind, event)
    case .actions(let message, let actions): apply(actions, on: message, event)
    case .star(let message, let isSet):
      for id in conversations.keys { conversations[id]?.setStar(isSet, on: message, event.id) }
    case .poll(let message, let poll):
      if case .conversation(let id) = event.stream { conversations[id]?.apply(poll, on: message, event.id) }
    case .vote(let message, let options):
      for id in conversations.keys { conversations[id]?.setVote(options, on: message, event.id) }
    case .receipt(let conversation, let user, let readPosition):
      change(conversation, event) { $0.receipts[user] = readPosition }
    case .readPosition(let conversation, let readPosition):
      change(conversation, event) { [recipient] in $0.move(to: readPosition, for: recipient) }
    case .conversation(let conversation): apply(conversation, event)
    case .gained(let gained): apply(gained, event.id)
    case .participant(let conversation, let user, let role):
      change(conversation, event) { [me] in $0.set(role, of: user, me: me?.summary.id) }
      if role != nil { requireProfile(of: user) }
    case .member(let forum, let user, let role): apply(role, of: user, in: forum, event.id)
    case .forum(let forum): apply(forum, event.id)
    case .user(let user): apply(user, in: event.stream)
    case .settings(let new): if new.revision > settings?.revision ?? 0 { settings = new }
    case .level(let scope, let level): if event.id > ownAsOf { levels[scope] = level.isOwn ? level.level : nil }
    case .relations(let all): apply(all, event.id)
    case .thing(let id): apply(id, kind, event.id)
    case .later, .timelinePosition, .inbox, .press, .commandReply, .hidden: break
    }
    settle(event.stream)
  }

  /// An event that has only an id: the object is dropped or fetched.
  private mutating func apply(_ id: Int, _ kind: Event.Kind, _ event: Int) {
    switch kind {
    case .conversationRemoved, .conversationCreated, .conversationUpdated:
      // The conversation may have been added again by a newer event.
      if event > conversations[ID(id)]?.asOf ?? 0 { drop(ID<Conversation>(id)) }
    case .forumDeleted: drop(ID<Forum>(id))
    case .forumCreated, .forumUpdated: needs.insert(.forum(ID(id)))
    case .userUpdated:
      if users[ID(id)] != nil || me?.summary.id.number == id { needs.insert(.user(ID(id))) }
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved,
      .receiptUpdated, .participantJoined, .participantLeft, .participantChanged, .notificationCreated,
      .notificationRead, .readPositionUpdated, .levelChanged, .laterChanged, .relationChanged, .preferencesUpdated,
      .settingsUpdated,
      .pollUpdated, .buttonPressed, .commandReplied, .timelineRead, .timelineFiltersChanged:
      break
    }
  }

  /// Drops the position of a conversation that is not cached.
  private mutating func settle(_ stream: EventStream) {
    guard case .conversation(let id) = stream, conversations[id] == nil else { return }
    positions[stream] = nil
  }

  /// Requests the profile of an unknown user.
  mutating func requireProfile(of user: ID<User>) {
    if users[user] == nil, user != me?.summary.id { needs.insert(.user(user)) }
  }

  private mutating func change(
    _ id: ID<Conversation>, _ event: ReceivedEvent, _ body: (inout ReplicaConversation) -> Void
  ) {
    guard var known = conversations.removeValue(forKey: id) else { return }
    if known.isOlder(than: event) { body(&known) }
    if known.unread == nil { needs.insert(.conversation(id)) }
    conversations[id] = known
  }
}

// MARK: Users, relations and the site

extension Replica {
  private mutating func apply(_ user: User, in stream: EventStream) {
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
    guard let known = users[summary.id], summary.revision > known.summary.revision else { return }
    users[summary.id] = user
  }

  private mutating func apply(_ all: UserRelations, _ event: Int) {
    guard event > ownAsOf else { return }
    let wasSilencing = relations[all.other]?.isSilencing ?? false
    relations[all.other] = all.kinds.isEmpty ? nil : all.kinds
    if all.kinds.isSilencing != wasSilencing { recount(event) }
    for (id, known) in conversations where known.conversation.createdBy == all.other && known.asOf < event {
      guard known.participation != nil else { continue }
      conversations[id]?.participation?.isRequest = all.requests.contains(id)
    }
  }

  /// Recounts unread messages after a mute or block has changed.
  private mutating func recount(_ event: Int) {
    let recipient = recipient
    for id in conversations.keys where conversations[id]?.asOf ?? .max < event {
      conversations[id]?.recount(for: recipient)
      if let known = conversations[id], known.unread == nil { needs.insert(.conversation(id)) }
    }
  }

  private var recipient: ReplicaConversation.Recipient {
    ReplicaConversation.Recipient(user: me?.summary.id, silenced: silenced)
  }

  private mutating func apply(_ role: ForumRole?, of user: ID<User>, in forum: ID<Forum>, _ event: Int) {
    guard user == me?.summary.id else { return }
    guard let known = forums[forum] else {
      if role != nil { needs.insert(.forum(forum)) }
      return
    }
    if event > known.asOf { forums[forum]?.role = role }
    // Only its members and groups may see a private forum.
    if role == nil, known.forum.visibility != .public { needs.insert(.forum(forum)) }
  }

  private mutating func apply(_ forum: Forum, _ event: Int) {
    guard let known = forums[forum.id] else {
      forums[forum.id] = ReplicaForum(forum: forum, asOf: event)
      return
    }
    guard forum.revision > known.forum.revision else { return }
    forums[forum.id]?.forum = forum
  }
}

// MARK: Conversations and messages

extension Replica {
  private mutating func apply(_ conversation: Conversation, _ event: ReceivedEvent) {
    let id = conversation.id
    guard conversations[id] != nil else {
      // A topic of a subscribed forum. The user's own stream announces any other conversation first.
      guard case .forum = event.stream else { return }
      conversations[id] = ReplicaConversation(conversation, asOf: event.id)
      return
    }
    conversations[id]?.apply(conversation, event)
    for participant in conversation.participants ?? [] { requireProfile(of: participant.user) }
  }

  private mutating func apply(_ gained: GainedConversation, _ event: Int) {
    let id = gained.conversation.id
    if let known = conversations[id], known.asOf >= event { return }
    var known = ReplicaConversation(gained.conversation, asOf: event)
    if let before = conversations[id] { known.keepMessages(of: before) }
    known.gain(gained)
    conversations[id] = known
    // Earlier messages must be fetched.
    let fromSeq = gained.participation?.fromSeq ?? 1
    if known.unread == nil || known.conversation.lastSeq >= fromSeq { needs.insert(.conversation(id)) }
    for participant in gained.conversation.participants ?? [] { requireProfile(of: participant.user) }
  }

  private mutating func apply(_ message: Message, _ kind: Event.Kind, _ event: ReceivedEvent) {
    let id = message.conversation
    guard var known = conversations.removeValue(forKey: id) else { return }
    // The message before it is missing.
    if message.seq > known.conversation.lastSeq + 1 { needs.insert(.conversation(id)) }
    if kind == .messageCreated, message.mayHaveOwnActions, known.messages[message.seq]?.message.id != message.id {
      needs.insert(.message(message.id))
    }
    known.apply(message, kind, event, for: recipient)
    if known.unread == nil { needs.insert(.conversation(id)) }
    conversations[id] = known
    requireProfile(of: message.author)
  }

  private mutating func apply(_ actions: [Message.ActionCount], on message: ID<Message>, _ event: ReceivedEvent) {
    guard case .conversation(let id) = event.stream else { return }
    let hasChanged = conversations[id]?.apply(actions, on: message, event.id) ?? false
    if hasChanged, event.actor != nil, event.actor == me?.summary.id { needs.insert(.message(message)) }
  }
}

// MARK: Responses

extension Replica {
  /// Drops a conversation that the user can no longer read.
  public mutating func drop(_ conversation: ID<Conversation>) {
    conversations[conversation] = nil
    positions[.conversation(conversation)] = nil
    needs.remove(.conversation(conversation))
  }

  /// Drops a forum that the user can no longer read, with its conversations.
  public mutating func drop(_ forum: ID<Forum>) {
    forums[forum] = nil
    positions[.forum(forum)] = nil
    needs.remove(.forum(forum))
    for (id, known) in conversations where known.conversation.forum == forum { drop(id) }
  }

  /// Drops a user that was requested and not found.
  public mutating func drop(_ user: ID<User>) {
    users[user] = nil
    needs.remove(.user(user))
  }

  /// Drops the need of a message that was not found; a cached copy stays.
  public mutating func drop(_ message: ID<Message>) { needs.remove(.message(message)) }

  /// Drops an object that was requested and not found.
  public mutating func drop(_ need: Need) {
    switch need {
    case .user(let id): drop(id)
    case .forum(let id): drop(id)
    case .conversation(let id): drop(id)
    case .message(let id): drop(id)
    case .inbox, .everything: break
    }
  }

  /// Stores the unread counts of notifications from a response.
  public mutating func merge(_ counts: InboxCounts) {
    inbox = counts
    needs.remove(.inbox)
  }

  /// Stores a user of a response; an older revision changes no data.
  public mutating func merge(_ user: User) {
    let id = user.summary.id
    needs.remove(.user(id))
    if let old = me?.summary, old.id == id {
      guard user.summary.revision >= old.revision else { return }
      if user.summary.role != old.role { needs.insert(.everything) }
      me = user
      return
    }
    if let known = users[id], known.summary.revision > user.summary.revision { return }
    users[id] = user
  }

  /// Replaces a user whose state may be of a lost history.
  public mutating func replace(_ user: User) {
    if var known = me, known.summary.id == user.summary.id {
      known.summary.revision = 0
      me = known
    } else {
      users[user.summary.id] = nil
    }
    merge(user)
  }

  /// Replaces a forum whose state may be of a lost history.
  public mutating func replace(_ forum: ForumView, asOf event: Int) {
    forums[forum.forum.id] = nil
    merge(forum, asOf: event)
  }

  /// - Parameter event: the response includes at least the events up to this one.
  public mutating func merge(_ forum: ForumView, asOf event: Int) {
    needs.remove(.forum(forum.forum.id))
    // Staff may fetch forums that they do not read; those are not cached.
    guard forum.forum.visibility != .private || forum.role != nil || forum.groupAccess != nil else {
      return drop(forum.forum.id)
    }
    if let known = forums[forum.forum.id], known.asOf > event { return }
    var new = ReplicaForum(forum: forum.forum, role: forum.role, groupAccess: forum.groupAccess, asOf: event)
    if let known = forums[forum.forum.id], known.forum.revision > new.forum.revision { new.forum = known.forum }
    forums[forum.forum.id] = new
  }

  /// Stores a response that includes at least the events up to `event`; its last offset says exactly which.
  public mutating func merge(_ own: OwnConversation, asOf event: Int) {
    let id = own.conversation.id
    let stream = EventStream.conversation(id)
    let isNew = conversations[id] == nil
    var known = conversations[id] ?? ReplicaConversation(own.conversation, asOf: 0)
    guard own.lastOffset >= max(known.asOfOffset, positions[stream]?.offset ?? 0) else { return }
    needs.remove(.conversation(id))
    known.merge(own, asOf: event, me: me?.summary.id)
    conversations[id] = known
    // Cached messages still need the events up to here.
    if isNew, positions[stream] == nil { positions[stream] = Position(offset: own.lastOffset, event: event) }
    for participant in own.conversation.participants ?? [] { requireProfile(of: participant.user) }
  }

  /// Replaces a conversation whose state may be of a lost history. Its messages still need the events after the position of
  /// the stream, or all further ones without a position: those may change actions, which no digest covers.
  public mutating func replace(_ own: OwnConversation, asOf event: Int) {
    let stream = EventStream.conversation(own.conversation.id)
    let before = positions[stream]
    drop(own.conversation.id)
    merge(own, asOf: event)
    if before.map({ $0.offset < own.lastOffset }) ?? true { positions[stream] = before }
  }

  /// Stores a conversation that the user reads without being a participant.
  public mutating func merge(_ conversation: Conversation, offset: Int, asOf event: Int) {
    conversations[conversation.id] = ReplicaConversation(conversation, asOf: event)
    positions[.conversation(conversation.id)] = Position(offset: offset, event: event)
  }

  /// Stores messages of a response that includes at least the events up to `event`.
  public mutating func merge(_ messages: [MessageView], asOf event: Int) {
    for view in messages {
      // A response that is older than the applied actions does not satisfy the need.
      if conversations[view.message.conversation]?.merge(view, asOf: event) ?? true {
        needs.remove(.message(view.message.id))
      }
      requireProfile(of: view.message.author)
    }
  }

  /// A replica with the data of a snapshot, and its cursor to resume from.
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
    for forum in snapshot.forums { merge(forum, asOf: event) }
    for own in snapshot.conversations {
      merge(own, asOf: event)
      if let last = own.lastMessage { _ = conversations[own.conversation.id]?.merge(last, asOf: event) }
    }
    for (stream, offset) in snapshot.offsets { positions[stream] = Position(offset: offset, event: event) }
    needs = []
  }
}

extension Replica {
  /// Begins a stream after `offset`, unless it has a position.
  public mutating func follow(_ stream: EventStream, after offset: Int, asOf event: Int) {
    if positions[stream] == nil { positions[stream] = Position(offset: offset, event: event) }
  }

  /// Muted and blocked users: pages leave out their messages, and unread counts do too.
  public var silenced: Set<ID<User>> { Set(relations.filter { $0.value.isSilencing }.keys) }

  /// The level that the user has set for a conversation, or the default.
  public func level(of conversation: Conversation) -> Level {
    if let own = levels[.conversation(conversation.id)] { return own }
    if conversation.kind == .room, let forum = conversation.forum, let own = levels[.forum(forum)] { return own }
    return .usual(in: conversation.kind)
  }
}

extension Event.Kind {
  /// Whether an event may change the unread counts of notifications, so that they are fetched again. Events that read
  /// or remove notifications name only their subject, and unreadable subjects do not count.
  fileprivate func mayChangeNotifications(in stream: EventStream) -> Bool {
    switch self {
    case .notificationCreated, .notificationRead: true
    case .conversationCreated, .conversationRemoved, .participantJoined, .participantLeft, .participantChanged,
      .forumUpdated:
      if case .user = stream { true } else { false }
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved,
      .receiptUpdated, .conversationUpdated, .forumCreated, .forumDeleted, .userUpdated,
      .readPositionUpdated, .levelChanged, .laterChanged, .relationChanged, .preferencesUpdated, .settingsUpdated,
      .pollUpdated, .buttonPressed, .commandReplied, .timelineRead, .timelineFiltersChanged:
      false
    }
  }
}

extension Set<Relation> {
  /// Whether the other user's messages never count as unread.
  fileprivate var isSilencing: Bool { contains(.mute) || contains(.block) }
}
