// Adds the current content to events. Live publications and log reads share this code, so both carry the same content.
// An event whose subject is gone says so, as a fetch would.

public import ParleyModel
public import Storage

extension ReadTransaction {
  /// Events of any streams, in the same order. Apply `seen(by:)` for a reader with fewer rights.
  public func delivered(_ events: [Event]) throws(Refusal) -> [DeliveredEvent] {
    let about = EventSubjects(of: events)
    var messages: [ID<Message>: Message] = [:]
    let ids = about.messages.sorted()
    for start in stride(from: 0, to: ids.count, by: MessageQuery.maxMessages) {
      for message in try self.messages(Array(ids[start...].prefix(MessageQuery.maxMessages))) {
        messages[message.id] = message
      }
    }
    var current = CurrentState(messages: messages)
    // Nearly all events are about messages alone.
    if about.hasMoreThanMessages { try read(about, into: &current) }
    return events.map { current.delivered($0) }
  }

  private func read(_ about: EventSubjects, into current: inout CurrentState) throws(Refusal) {
    current.conversations = try conversations(about.conversations)
    current.forums = try forums(about.forums)
    current.users = try users(about.users)
    current.settings = about.hasSettings ? try settings() : nil
    current.participants = try roles(of: about.participants)
    current.members = try roles(of: about.members)
    current.newAccess = try newAccess(about.newAccess)
    current.readPositions = try readPositions(of: about.readPositions)
    current.receipts = try receipts(of: about.receipts)
    current.stars = try stars(of: about.stars)
    current.votes = try votes(of: about.votes)
    current.levels = try levels(of: about.levels)
    current.later = try later(of: about.later)
    for user in about.timelines { current.timelines[user] = try timelinePosition(of: user)?.position }
    current.now = now
    current.relations = try relations(of: about.relations)
    current.presses = try presses(about.presses)
    current.replies = try replies(about.replies)
    for entry in try inbox(about.inbox.sorted()) { current.inbox[entry.id] = entry }
  }
}

/// The rows that were read.
private struct CurrentState {
  let messages: [ID<Message>: Message]
  var conversations: [ID<Conversation>: Conversation] = [:]
  var forums: [ID<Forum>: Forum] = [:]
  var users: [ID<User>: User] = [:]
  var settings: SiteSettings?
  var participants: [UserSubject<Conversation>: ParticipantRole] = [:]
  var members: [UserSubject<Forum>: ForumRole] = [:]
  var newAccess: [UserSubject<Conversation>: NewAccess] = [:]
  var readPositions: [UserSubject<Conversation>: ReadPosition] = [:]
  var receipts: [UserSubject<Conversation>: ReadPosition] = [:]
  var stars: Set<UserSubject<Message>> = []
  var votes: [UserSubject<Message>: [Int]] = [:]
  var levels: [UserSubject<LevelScope>: (scope: LevelScope, level: SetLevel)] = [:]
  var later: [UserSubject<Conversation>: Int64] = [:]
  var timelines: [ID<User>: TimelinePosition] = [:]
  var now: Int64 = 0
  var relations: [UserSubject<User>: UserRelations] = [:]
  var inbox: [ID<Notification>: Notification] = [:]
  var presses: [ID<ButtonPress>: ButtonPress] = [:]
  var replies: [ID<CommandReply>: CommandReply] = [:]

  init(messages: [ID<Message>: Message]) { self.messages = messages }

  func delivered(_ event: Event) -> DeliveredEvent {
    let subject = event.subject
    let content: DeliveredEvent.Content? =
      switch event.kind {
      case .messageCreated, .messageEdited, .messageDeleted, .messageRestored:
        messages[ID(subject)].map { .message($0) }
      case .actionAdded, .actionRemoved: actions(event)
      case .pollUpdated: poll(event)
      case .receiptUpdated: receipt(event)
      case .conversationCreated, .conversationUpdated: conversation(event) ?? .thing(subject)
      case .participantJoined, .participantLeft, .participantChanged: participant(event)
      case .forumCreated, .forumUpdated: forum(event) ?? .thing(subject)
      case .userUpdated: user(event) ?? .thing(subject)
      case .preferencesUpdated: users[ID(subject)].map { .user($0) }
      case .readPositionUpdated, .levelChanged, .laterChanged, .relationChanged: own(event)
      case .timelineRead: timelines[ID(subject)].map { .timelinePosition($0) }
      case .settingsUpdated: settings.map { .settings($0) }
      case .notificationCreated: inbox[ID(subject)].map { .inbox($0) } ?? .thing(subject)
      case .buttonPressed: presses[ID(subject)].map { .press($0) } ?? .thing(subject)
      case .commandReplied: replies[ID(subject)].map { .commandReply($0) } ?? .thing(subject)
      case .conversationRemoved, .forumDeleted, .notificationRead, .timelineFiltersChanged: .thing(subject)
      }
    return DeliveredEvent(event, content ?? .hidden, seq: event.concernsMessage ? messages[ID(subject)]?.seq : nil)
  }

  private func actions(_ event: Event) -> DeliveredEvent.Content? {
    let id = ID<Message>(event.subject)
    // A star belongs to its user and is delivered even if the message is no longer readable.
    if case .user(let user) = event.stream { return .star(id, isSet: stars.contains(UserSubject(user, id))) }
    return messages[id].map { .actions(id, $0.content?.actions ?? []) }
  }

  private func poll(_ event: Event) -> DeliveredEvent.Content? {
    let id = ID<Message>(event.subject)
    if case .user(let user) = event.stream { return .vote(id, votes[UserSubject(user, id)] ?? []) }
    return messages[id]?.content?.poll.map { .poll(id, $0) }
  }

  private func receipt(_ event: Event) -> DeliveredEvent.Content? {
    guard case .conversation(let conversation) = event.stream else { return nil }
    let user = ID<User>(event.subject)
    return .receipt(conversation, user, receipts[UserSubject(user, conversation)] ?? ReadPosition())
  }

  private func conversation(_ event: Event) -> DeliveredEvent.Content? {
    let id = ID<Conversation>(event.subject)
    guard let conversation = conversations[id] else { return nil }
    switch event.stream {
    case .user(let user):
      guard let access = newAccess[UserSubject(user, id)], access.mayRead else { return nil }
      return .gained(
        GainedConversation(conversation, access.participation, readPositions[UserSubject(user, id)] ?? ReadPosition()))
    case .conversation, .forum, .site: return shown(conversation)
    }
  }

  private func participant(_ event: Event) -> DeliveredEvent.Content? {
    switch event.stream {
    case .conversation(let conversation):
      let user = ID<User>(event.subject)
      return .participant(conversation, user, participants[UserSubject(user, conversation)])
    case .forum(let forum):
      let user = ID<User>(event.subject)
      return .member(forum, user, members[UserSubject(user, forum)])
    case .user(let user):
      let forum = ID<Forum>(event.subject)
      return .member(forum, user, members[UserSubject(user, forum)])
    case .site: return nil
    }
  }

  /// Everyone may learn that a private forum exists and can be joined, but not its content. The stream of a user tells
  /// that the user's access may have changed, not how.
  private func forum(_ event: Event) -> DeliveredEvent.Content? {
    guard let forum = forums[ID(event.subject)] else { return nil }
    switch event.stream {
    case .user: return nil
    case .site: return forum.visibility == .private ? nil : .forum(forum)
    case .forum, .conversation: return .forum(forum)
    }
  }

  private func user(_ event: Event) -> DeliveredEvent.Content? {
    guard let user = users[ID(event.subject)], user.standing?.state != .pending else { return nil }
    return .user(user.redacted(for: .see))
  }

  private func own(_ event: Event) -> DeliveredEvent.Content? {
    guard case .user(let user) = event.stream else { return nil }
    let subject = event.subject
    if event.kind == .readPositionUpdated {
      return .readPosition(ID(subject), readPositions[UserSubject(user, ID(subject))] ?? ReadPosition())
    }
    if event.kind == .laterChanged {
      let until = later[UserSubject(user, ID(subject))]
      return .later(Later(ID(subject), until: until.flatMap { $0 > now ? $0 : nil }))
    }
    if event.kind == .levelChanged {
      return levels[UserSubject(user, ID(subject))].map { .level($0.scope, $0.level) }
    }
    return relations[UserSubject(user, ID(subject))].map { .relations($0) }
  }

  /// In a conversation open to anyone only users may see the participants.
  private func shown(_ conversation: Conversation) -> DeliveredEvent.Content {
    var shown = conversation
    if conversation.readers.audience == .anyone { shown.participants = nil }
    return .conversation(shown)
  }
}

extension Event {
  /// Whether only a message has to be read. Events of a user's stream about messages are stars and votes.
  var concernsMessageOfConversation: Bool {
    guard case .conversation = stream else { return false }
    return concernsMessage
  }

  /// Whether the subject is a message, an action on one, or its poll.
  var concernsMessage: Bool {
    switch kind {
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved, .pollUpdated:
      true
    case .receiptUpdated, .conversationCreated, .conversationUpdated, .conversationRemoved, .participantJoined,
      .participantLeft, .participantChanged, .forumCreated, .forumUpdated, .forumDeleted, .userUpdated,
      .notificationCreated,
      .notificationRead, .readPositionUpdated, .levelChanged, .laterChanged, .relationChanged, .preferencesUpdated,
      .settingsUpdated, .buttonPressed, .commandReplied, .timelineRead, .timelineFiltersChanged:
      false
    }
  }
}

extension NewAccess {
  fileprivate var mayRead: Bool {
    guard let forum else { return isOwner || participation != nil }
    return participation != nil && Permissions.rights(of: role, in: forum).contains(.read)
  }
}
