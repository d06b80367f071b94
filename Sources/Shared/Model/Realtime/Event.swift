/// One durable change: kind and subject, without any text. The text is read at delivery.
public struct Event: Sendable, Hashable {
  /// Global position in the event log, from 1, without gaps.
  public let id: Int
  /// The stream of the event: the site, a user, a forum or a conversation.
  public let stream: EventStream
  /// Position in the stream, from 1, without gaps.
  public let offset: Int
  /// The kind of the change.
  public let kind: Kind
  /// Id of the changed object.
  public let subject: Int
  /// The object's revision after the change; 0 for objects without one.
  public let revision: Int
  /// The acting user; 0 for the server.
  public let actor: Int
  /// Milliseconds since 1970.
  public let at: Int64

  /// An entry of the event log; `at` is in milliseconds since 1970.
  public init(
    id: Int, stream: EventStream, offset: Int, kind: Kind, subject: Int, revision: Int, actor: Int, at: Int64
  ) {
    self.id = id
    self.stream = stream
    self.offset = offset
    self.kind = kind
    self.subject = subject
    self.revision = revision
    self.actor = actor
    self.at = at
  }

  /// Kind of change. The numbers are stored: they are never changed nor reused.
  public enum Kind: Int, Sendable, CaseIterable {
    /// A message was posted.
    case messageCreated = 1
    /// The text or the attachments of a message were changed.
    case messageEdited = 2
    /// A message was deleted, removed or erased.
    case messageDeleted = 3
    /// A removed message was restored.
    case messageRestored = 4
    /// An action was set.
    case actionAdded = 5
    /// An action was removed.
    case actionRemoved = 6
    /// The read position of another participant has moved.
    case receiptUpdated = 7
    /// A conversation was created, or the user may read it now.
    case conversationCreated = 8
    /// A conversation was changed.
    case conversationUpdated = 9
    /// A conversation was deleted, or the user may no longer read it.
    case conversationRemoved = 10
    /// A user has joined a conversation or forum.
    case participantJoined = 11
    /// A user has left a conversation or forum.
    case participantLeft = 12
    /// A user has another role in a conversation or forum.
    case participantChanged = 13
    /// A forum was created.
    case forumCreated = 14
    /// A forum, or the access to it, was changed.
    case forumUpdated = 15
    /// A forum was deleted.
    case forumDeleted = 16
    /// A user was changed.
    case userUpdated = 17
    /// The user has a new notification.
    case notificationCreated = 18
    /// Notifications were read or removed.
    case notificationRead = 19
    /// The user's own read position has moved.
    case readPositionUpdated = 20
    /// A notification level was changed.
    case levelChanged = 21
    /// A follow, mute or block was changed.
    case relationChanged = 22
    /// Private settings of the user were changed.
    case preferencesUpdated = 23
    /// The settings of the site were changed.
    case settingsUpdated = 24
    /// A vote was cast, or the poll was closed.
    case pollUpdated = 25
    /// A conversation was put off, or is listed again.
    case laterChanged = 26
    /// A user has pressed a button of a bot's message.
    case buttonPressed = 27
    /// A slash command has answered its user alone.
    case commandReplied = 28
    /// The read position of the timeline has moved.
    case timelineRead = 29
    /// A timeline filter was added, changed or deleted.
    case timelineFiltersChanged = 30

    /// The name in the API.
    public var name: String {
      switch self {
      case .messageCreated: "message.created"
      case .messageEdited: "message.edited"
      case .messageDeleted: "message.deleted"
      case .messageRestored: "message.restored"
      case .actionAdded: "action.added"
      case .actionRemoved: "action.removed"
      case .receiptUpdated: "receipt.updated"
      case .conversationCreated: "conversation.created"
      case .conversationUpdated: "conversation.updated"
      case .conversationRemoved: "conversation.removed"
      case .participantJoined: "participant.joined"
      case .participantLeft: "participant.left"
      case .participantChanged: "participant.changed"
      case .forumCreated: "forum.created"
      case .forumUpdated: "forum.updated"
      case .forumDeleted: "forum.deleted"
      case .userUpdated: "user.updated"
      case .notificationCreated: "notification.created"
      case .notificationRead: "notification.read"
      case .readPositionUpdated: "read_position.updated"
      case .levelChanged: "level.changed"
      case .relationChanged: "relation.changed"
      case .preferencesUpdated: "preferences.updated"
      case .settingsUpdated: "settings.updated"
      case .pollUpdated: "poll.updated"
      case .laterChanged: "later.changed"
      case .buttonPressed: "button.pressed"
      case .commandReplied: "command.replied"
      case .timelineRead: "timeline.read"
      case .timelineFiltersChanged: "timeline_filters.changed"
      }
    }
  }
}

/// Stream of events. Every user with read access to a stream gets every event of it.
public enum EventStream: Sendable, Hashable {
  /// Events of the site: settings, users and forums.
  case site
  /// Private events of a user.
  case user(ID<User>)
  /// Events of a forum: its topics and members.
  case forum(ID<Forum>)
  /// Events of a conversation.
  case conversation(ID<Conversation>)

  /// Stored form: four times the id, plus the kind.
  public var number: Int {
    switch self {
    case .site: 0
    case .user(let id): id.number << 2 | 1
    case .forum(let id): id.number << 2 | 2
    case .conversation(let id): id.number << 2 | 3
    }
  }

  /// The stream with a stored number; nil if the number is not valid.
  public init?(number: Int) {
    switch number & 3 {
    case 1: self = .user(ID(number >> 2))
    case 2: self = .forum(ID(number >> 2))
    case 3: self = .conversation(ID(number >> 2))
    default:
      guard number == 0 else { return nil }
      self = .site
    }
  }
}

extension EventStream: CustomStringConvertible {
  public var description: String {
    switch self {
    case .site: "site"
    case .user(let id): "user:\(id)"
    case .forum(let id): "forum:\(id)"
    case .conversation(let id): "conversation:\(id)"
    }
  }
}

extension EventStream: LosslessStringConvertible {
  /// `site`, `user:7`, `forum:3` or `conversation:9`.
  public init?(_ text: String) {
    if text == "site" {
      self = .site
      return
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return nil }
    switch parts[0] {
    case "user":
      guard let id = ID<User>(parts[1]) else { return nil }
      self = .user(id)
    case "forum":
      guard let id = ID<Forum>(parts[1]) else { return nil }
      self = .forum(id)
    case "conversation":
      guard let id = ID<Conversation>(parts[1]) else { return nil }
      self = .conversation(id)
    default: return nil
    }
  }
}

/// End of a stream.
public struct StreamHead: Sendable, Hashable {
  /// The stream that ends at `offset`.
  public var stream: EventStream
  /// The offset of its last event.
  public var offset: Int
  /// The id of its last event.
  public var event: Int

  /// The last offset and event id of a stream.
  public init(stream: EventStream, offset: Int, event: Int) {
    self.stream = stream
    self.offset = offset
    self.event = event
  }
}
