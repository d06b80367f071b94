/// An event as it reaches those who follow its stream: what happened, and what it is about as it is now. The same for
/// everyone to whom it is open; the few others get it `reduced`.
public struct DeliveredEvent: Sendable, Hashable {
  public var event: Event
  public var content: Content
  /// Where the message stands in its conversation that this is about.
  public var seq: Int?

  public init(_ event: Event, _ content: Content, seq: Int? = nil) {
    self.event = event
    self.content = content
    self.seq = seq
  }

  public enum Content: Sendable, Hashable {
    case message(Message)
    /// The public actions on a message.
    case actions(ID<Message>, [Message.ActionCount])
    /// One's own stars, in one's own stream.
    case star(ID<Message>, isSet: Bool)
    /// How far somebody has come in a conversation of a few, as the others may know it.
    case receipt(ID<Conversation>, ID<User>, ReadPosition)
    /// How far one has come oneself.
    case readPosition(ID<Conversation>, ReadPosition)
    case conversation(Conversation)
    /// A conversation that one takes part in from now on, in one's own stream.
    case gained(GainedConversation)
    /// The role is nil for who takes part no longer.
    case participant(ID<Conversation>, ID<User>, ParticipantRole?)
    /// The same of a forum.
    case member(ID<Forum>, ID<User>, ForumRole?)
    case forum(Forum)
    /// As everyone sees them, or oneself in one's own stream.
    case user(User)
    case settings(SiteSettings)
    case level(LevelScope, SetLevel)
    case relations(UserRelations)
    /// What waits for the user.
    case inbox(Notification)
    /// What is not there any more, or must be asked for by whoever may see it: its id.
    case thing(Int)
    /// Only its place is told, so that offsets stay whole.
    case hidden
  }
}

// MARK: Who gets all of it

/// Somebody who follows a stream.
public struct StreamReader: Sendable, Hashable {
  /// Nil for nobody.
  public var role: Role?
  /// Where their history begins, in a conversation.
  public var fromSeq: Int

  public init(_ role: Role?, fromSeq: Int = 1) {
    self.role = role
    self.fromSeq = fromSeq
  }

  /// To whom only that is open which is open to everyone.
  public static let least = StreamReader(nil, fromSeq: .max)
}

extension DeliveredEvent {
  /// Whether a reader of the stream gets it as it is. Nobody sees what was said before their history; visitors, who takes
  /// part in a conversation; guests, the users and forums of the place, which they ask for one by one.
  public func isOpen(to reader: StreamReader) -> Bool {
    switch content {
    case .message, .actions: (seq ?? .max) >= reader.fromSeq
    case .participant: reader.role != nil
    case .forum(let forum): event.stream != .site || forum.visibility == .public || reader.isOfSite
    case .user: event.stream != .site || reader.isOfSite
    case .star, .receipt, .readPosition, .conversation, .gained, .member, .settings, .level, .relations, .inbox, .thing,
      .hidden:
      true
    }
  }

  /// What those get to whom it is not open.
  public var reduced: DeliveredEvent {
    switch content {
    case .forum, .user: DeliveredEvent(event, .thing(event.subject))
    case .message, .actions, .star, .receipt, .readPosition, .conversation, .gained, .participant, .member, .settings, .level,
      .relations, .inbox, .thing, .hidden:
      DeliveredEvent(event, .hidden)
    }
  }

  public func seen(by reader: StreamReader) -> DeliveredEvent { isOpen(to: reader) ? self : reduced }
}

extension StreamReader {
  fileprivate var isOfSite: Bool { role != nil && role != .guest }
}
