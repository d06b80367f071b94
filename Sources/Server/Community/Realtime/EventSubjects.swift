import ParleyModel
import Storage

/// The rows to read for a list of events.
struct EventSubjects {
  var messages: Set<ID<Message>> = []
  var conversations: Set<ID<Conversation>> = []
  var forums: Set<ID<Forum>> = []
  var users: Set<ID<User>> = []
  var hasSettings = false
  var participants: Set<UserSubject<Conversation>> = []
  var members: Set<UserSubject<Forum>> = []
  var newAccess: Set<UserSubject<Conversation>> = []
  var readPositions: Set<UserSubject<Conversation>> = []
  var receipts: Set<UserSubject<Conversation>> = []
  var stars: Set<UserSubject<Message>> = []
  var votes: Set<UserSubject<Message>> = []
  var levels: Set<UserSubject<LevelScope>> = []
  var later: Set<UserSubject<Conversation>> = []
  var timelines: Set<ID<User>> = []
  var relations: Set<UserSubject<User>> = []
  var inbox: Set<ID<Notification>> = []
  var presses: Set<ID<ButtonPress>> = []
  var replies: Set<ID<CommandReply>> = []
  var hasMoreThanMessages = false

  init(of events: [Event]) {
    for event in events {
      let subject = event.subject
      if !event.concernsMessageOfConversation { hasMoreThanMessages = true }
      switch event.stream {
      case .conversation(let conversation): add(event, in: conversation)
      case .user(let user): add(event, of: user)
      case .site, .forum:
        switch event.kind {
        case .forumCreated, .forumUpdated: forums.insert(ID(subject))
        case .conversationCreated, .conversationUpdated: conversations.insert(ID(subject))
        case .participantJoined, .participantChanged:
          if case .forum(let forum) = event.stream { members.insert(UserSubject(ID(subject), forum)) }
        case .userUpdated: users.insert(ID(subject))
        case .settingsUpdated: hasSettings = true
        case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved,
          .receiptUpdated, .conversationRemoved, .participantLeft, .forumDeleted, .notificationCreated,
          .notificationRead, .readPositionUpdated,
          .levelChanged, .laterChanged, .relationChanged, .preferencesUpdated, .pollUpdated, .buttonPressed,
          .commandReplied, .timelineRead, .timelineFiltersChanged:
          break
        }
      }
    }
  }

  private mutating func add(_ event: Event, in conversation: ID<Conversation>) {
    switch event.kind {
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .actionAdded, .actionRemoved, .pollUpdated:
      messages.insert(ID(event.subject))
    case .conversationCreated, .conversationUpdated: conversations.insert(ID(event.subject))
    case .participantJoined, .participantChanged: participants.insert(UserSubject(ID(event.subject), conversation))
    case .receiptUpdated: receipts.insert(UserSubject(ID(event.subject), conversation))
    case .conversationRemoved, .participantLeft, .forumCreated, .forumUpdated, .forumDeleted, .userUpdated,
      .notificationCreated, .notificationRead, .readPositionUpdated, .levelChanged, .laterChanged, .relationChanged,
      .preferencesUpdated, .settingsUpdated, .buttonPressed, .commandReplied, .timelineRead, .timelineFiltersChanged:
      break
    }
  }

  private mutating func add(_ event: Event, of user: ID<User>) {
    switch event.kind {
    case .actionAdded, .actionRemoved: stars.insert(UserSubject(user, ID(event.subject)))
    case .pollUpdated: votes.insert(UserSubject(user, ID(event.subject)))
    case .conversationCreated, .conversationUpdated:
      newAccess.insert(UserSubject(user, ID(event.subject)))
      readPositions.insert(UserSubject(user, ID(event.subject)))
      conversations.insert(ID(event.subject))
    case .participantJoined, .participantChanged: members.insert(UserSubject(user, ID(event.subject)))
    case .readPositionUpdated: readPositions.insert(UserSubject(user, ID(event.subject)))
    case .levelChanged: levels.insert(UserSubject(user, ID(event.subject)))
    case .laterChanged: later.insert(UserSubject(user, ID(event.subject)))
    case .timelineRead: timelines.insert(user)
    case .relationChanged: relations.insert(UserSubject(user, ID(event.subject)))
    case .userUpdated, .preferencesUpdated: users.insert(user)
    case .notificationCreated: inbox.insert(ID(event.subject))
    case .buttonPressed: presses.insert(ID(event.subject))
    case .commandReplied: replies.insert(ID(event.subject))
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored, .receiptUpdated, .conversationRemoved,
      .participantLeft, .forumCreated, .forumUpdated, .forumDeleted, .notificationRead, .settingsUpdated,
      .timelineFiltersChanged:
      break
    }
  }
}
