// Events with what they are about, as it is now. Live or read again, it is this that says what an event carries. What has
// gone since, an event tells as a fetch would: that it is not there.

public import ParleyModel
public import Storage

extension ReadTransaction {
  /// Of any streams, in the order in which they came. Whoever may not see all of one gets it `seen(by:)` them.
  public func delivered(_ events: [Event]) throws(Refusal) -> [DeliveredEvent] {
    let about = EventSubjects(of: events)
    var messages: [ID<Message>: Message] = [:]
    let ids = about.messages.sorted()
    for start in stride(from: 0, to: ids.count, by: MessageQuery.mostMessages) {
      for message in try self.messages(Array(ids[start...].prefix(MessageQuery.mostMessages))) {
        messages[message.id] = message
      }
    }
    let entries = try inbox(about.inbox.sorted()).map { ($0.id, $0) }
    let present = PresentState(
      messages: messages, conversations: try conversations(about.conversations), forums: try forums(about.forums),
      people: try people(about.people), settings: about.hasSettings ? try settings() : nil,
      participants: try roles(of: about.participants), members: try roles(of: about.members),
      gains: try gains(about.gains), marks: try marks(of: about.marks), receipts: try receipts(of: about.receipts),
      stars: try stars(of: about.stars), levels: try levels(of: about.levels),
      relations: try relations(of: about.relations), inbox: Dictionary(entries, uniquingKeysWith: { one, _ in one }))
    return events.map { present.delivered($0) }
  }
}

/// What has to be read for a list of events.
private struct EventSubjects {
  var messages: Set<ID<Message>> = []
  var conversations: Set<ID<Conversation>> = []
  var forums: Set<ID<Forum>> = []
  var people: Set<ID<Account>> = []
  var hasSettings = false
  var participants: Set<Concern<Conversation>> = []
  var members: Set<Concern<Forum>> = []
  var gains: Set<Concern<Conversation>> = []
  var marks: Set<Concern<Conversation>> = []
  var receipts: Set<Concern<Conversation>> = []
  var stars: Set<Concern<Message>> = []
  var levels: Set<Concern<LevelPlace>> = []
  var relations: Set<Concern<Account>> = []
  var inbox: Set<ID<InboxEntry>> = []

  init(of events: [Event]) {
    for event in events {
      let subject = event.subject
      switch event.stream {
      case .conversation(let conversation): add(event, in: conversation)
      case .user(let account): add(event, of: account)
      case .site, .forum:
        switch event.kind {
        case .forumCreated, .forumUpdated: forums.insert(ID(subject))
        case .conversationCreated, .conversationUpdated: conversations.insert(ID(subject))
        case .participantJoined, .participantChanged:
          if case .forum(let forum) = event.stream { members.insert(Concern(ID(subject), forum)) }
        case .userUpdated: people.insert(ID(subject))
        case .settingsUpdated: hasSettings = true
        case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved,
          .receiptUpdated, .conversationRemoved, .participantLeft, .forumDeleted, .inboxAdded, .inboxRead, .markMoved,
          .levelChanged, .relationChanged, .preferencesUpdated:
          break
        }
      }
    }
  }

  private mutating func add(_ event: Event, in conversation: ID<Conversation>) {
    switch event.kind {
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved:
      messages.insert(ID(event.subject))
    case .conversationCreated, .conversationUpdated: conversations.insert(ID(event.subject))
    case .participantJoined, .participantChanged: participants.insert(Concern(ID(event.subject), conversation))
    case .receiptUpdated: receipts.insert(Concern(ID(event.subject), conversation))
    case .conversationRemoved, .participantLeft, .forumCreated, .forumUpdated, .forumDeleted, .userUpdated,
      .inboxAdded, .inboxRead, .markMoved, .levelChanged, .relationChanged, .preferencesUpdated, .settingsUpdated:
      break
    }
  }

  private mutating func add(_ event: Event, of account: ID<Account>) {
    switch event.kind {
    case .actionAdded, .actionRemoved: stars.insert(Concern(account, ID(event.subject)))
    case .conversationCreated, .conversationUpdated:
      gains.insert(Concern(account, ID(event.subject)))
      marks.insert(Concern(account, ID(event.subject)))
      conversations.insert(ID(event.subject))
    case .participantJoined, .participantChanged: members.insert(Concern(account, ID(event.subject)))
    case .markMoved: marks.insert(Concern(account, ID(event.subject)))
    case .levelChanged: levels.insert(Concern(account, ID(event.subject)))
    case .relationChanged: relations.insert(Concern(account, ID(event.subject)))
    case .userUpdated, .preferencesUpdated: people.insert(account)
    case .inboxAdded: inbox.insert(ID(event.subject))
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .receiptUpdated, .conversationRemoved,
      .participantLeft, .forumCreated, .forumUpdated, .forumDeleted, .inboxRead, .settingsUpdated:
      break
    }
  }
}

/// What was read for them.
private struct PresentState {
  let messages: [ID<Message>: Message]
  let conversations: [ID<Conversation>: Conversation]
  let forums: [ID<Forum>: Forum]
  let people: [ID<Account>: Person]
  let settings: PlaceSettings?
  let participants: [Concern<Conversation>: ParticipantRole]
  let members: [Concern<Forum>: ForumRole]
  let gains: [Concern<Conversation>: Gain]
  let marks: [Concern<Conversation>: Mark]
  let receipts: [Concern<Conversation>: Mark]
  let stars: Set<Concern<Message>>
  let levels: [Concern<LevelPlace>: (place: LevelPlace, level: SetLevel)]
  let relations: [Concern<Account>: PersonalRelations]
  let inbox: [ID<InboxEntry>: InboxEntry]

  func delivered(_ event: Event) -> DeliveredEvent {
    let subject = event.subject
    let content: DeliveredEvent.Content? =
      switch event.kind {
      case .messageCreated, .messageEdited, .messageDeleted, .messageRestored:
        messages[ID(subject)].map { .message($0) }
      case .actionAdded, .actionRemoved: actions(event)
      case .receiptUpdated: receipt(event)
      case .conversationCreated, .conversationUpdated: conversation(event) ?? .thing(subject)
      case .participantJoined, .participantLeft, .participantChanged: participant(event)
      case .forumCreated, .forumUpdated: forum(event) ?? .thing(subject)
      case .userUpdated: person(event) ?? .thing(subject)
      case .preferencesUpdated: people[ID(subject)].map { .person($0) }
      case .markMoved, .levelChanged, .relationChanged: own(event)
      case .settingsUpdated: settings.map { .settings($0) }
      case .inboxAdded: inbox[ID(subject)].map { .inbox($0) } ?? .thing(subject)
      case .conversationRemoved, .forumDeleted, .inboxRead: .thing(subject)
      }
    return DeliveredEvent(event, content ?? .hidden, seq: event.isOfMessage ? messages[ID(subject)]?.seq : nil)
  }

  private func actions(_ event: Event) -> DeliveredEvent.Content? {
    let id = ID<Message>(event.subject)
    // A star is a mark of one's own, also on what one can no longer read.
    if case .user(let account) = event.stream { return .star(id, isSet: stars.contains(Concern(account, id))) }
    return messages[id].map { .marks(id, $0.content?.actions ?? []) }
  }

  private func receipt(_ event: Event) -> DeliveredEvent.Content? {
    guard case .conversation(let conversation) = event.stream else { return nil }
    let person = ID<Account>(event.subject)
    return .receipt(conversation, person, receipts[Concern(person, conversation)] ?? Mark())
  }

  private func conversation(_ event: Event) -> DeliveredEvent.Content? {
    let id = ID<Conversation>(event.subject)
    guard let conversation = conversations[id] else { return nil }
    switch event.stream {
    case .user(let account):
      guard let gain = gains[Concern(account, id)], gain.mayRead else { return nil }
      return .gained(GainedConversation(conversation, gain.participation, marks[Concern(account, id)] ?? Mark()))
    case .conversation, .forum, .site: return shown(conversation)
    }
  }

  private func participant(_ event: Event) -> DeliveredEvent.Content? {
    switch event.stream {
    case .conversation(let conversation):
      let person = ID<Account>(event.subject)
      return .participant(conversation, person, participants[Concern(person, conversation)])
    case .forum(let forum):
      let person = ID<Account>(event.subject)
      return .member(forum, person, members[Concern(person, forum)])
    case .user(let account):
      let forum = ID<Forum>(event.subject)
      return .member(forum, account, members[Concern(account, forum)])
    case .site: return nil
    }
  }

  /// Of a private one everyone may learn that there is something to ask for, and nothing else.
  private func forum(_ event: Event) -> DeliveredEvent.Content? {
    guard let forum = forums[ID(event.subject)] else { return nil }
    return event.stream == .site && forum.visibility == .private ? nil : .forum(forum)
  }

  private func person(_ event: Event) -> DeliveredEvent.Content? {
    guard let person = people[ID(event.subject)], person.standing?.state != .waiting else { return nil }
    return .person(person.seen(with: .see))
  }

  private func own(_ event: Event) -> DeliveredEvent.Content? {
    guard case .user(let account) = event.stream else { return nil }
    let subject = event.subject
    if event.kind == .markMoved { return .mark(ID(subject), marks[Concern(account, ID(subject))] ?? Mark()) }
    if event.kind == .levelChanged {
      return levels[Concern(account, ID(subject))].map { .level($0.place, $0.level) }
    }
    return relations[Concern(account, ID(subject))].map { .relations($0) }
  }

  /// Where everyone reads, who takes part is for those with an account.
  private func shown(_ conversation: Conversation) -> DeliveredEvent.Content {
    var shown = conversation
    if conversation.readers.audience == .anyone { shown.participants = nil }
    return .conversation(shown)
  }
}

extension Event {
  /// Whether it is about a message, or about the marks on one.
  var isOfMessage: Bool {
    switch kind {
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved: true
    case .receiptUpdated, .conversationCreated, .conversationUpdated, .conversationRemoved, .participantJoined,
      .participantLeft, .participantChanged, .forumCreated, .forumUpdated, .forumDeleted, .userUpdated, .inboxAdded,
      .inboxRead, .markMoved, .levelChanged, .relationChanged, .preferencesUpdated, .settingsUpdated:
      false
    }
  }
}

extension Gain {
  fileprivate var mayRead: Bool {
    guard let forum else { return isOwner || participation != nil }
    return participation != nil && Permissions.rights(of: role, in: forum).contains(.read)
  }
}
