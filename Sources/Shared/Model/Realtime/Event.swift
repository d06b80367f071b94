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
    case messageCreated = 1
    case messageEdited = 2
    case messageDeleted = 3
    case messageRestored = 4
    case actionAdded = 5
    case actionRemoved = 6
    case receiptUpdated = 7
    case conversationCreated = 8
    case conversationUpdated = 9
    case conversationRemoved = 10
    case participantJoined = 11
    case participantLeft = 12
    case participantChanged = 13
    case forumCreated = 14
    case forumUpdated = 15
    case forumDeleted = 16
    case userUpdated = 17
    case notificationCreated = 18
    case notificationRead = 19
    case readPositionUpdated = 20
    case levelChanged = 21
    case relationChanged = 22
    case preferencesUpdated = 23
    case settingsUpdated = 24
    case pollUpdated = 25
    case laterChanged = 26
    case buttonPressed = 27
    case commandReplied = 28
    case timelineRead = 29

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
      }
    }
  }
}

/// Stream of events. Every user with read access to a stream gets every event of it.
public enum EventStream: Sendable, Hashable {
  case site
  case user(ID<User>)
  case forum(ID<Forum>)
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
