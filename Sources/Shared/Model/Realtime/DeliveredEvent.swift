/// Event as delivered to subscribers of its stream: the kind, and the object in its current state. Identical for all
/// subscribers with access; others receive it `reduced`.
public struct DeliveredEvent: Sendable, Hashable {
  /// The entry of the event log.
  public var event: Event
  /// The object in its current state, or its id alone.
  public var content: Content
  /// `seq` of the message in its conversation.
  public var seq: Int?

  /// An event with the object that it concerns.
  public init(_ event: Event, _ content: Content, seq: Int? = nil) {
    self.event = event
    self.content = content
    self.seq = seq
  }

  /// The approximate size of the JSON in bytes. Only messages are large.
  public var size: Int {
    let envelope = 256
    guard case .message(let message) = content else { return envelope }
    return envelope + message.size
  }

  /// The object that an event concerns; it decides the `data` of the JSON.
  public enum Content: Sendable, Hashable {
    /// The message as it is now.
    case message(Message)
    /// Public actions on a message.
    case actions(ID<Message>, [Message.ActionCount])
    /// Stars of the user, in the user's own stream.
    case star(ID<Message>, isSet: Bool)
    /// Totals of a poll.
    case poll(ID<Message>, Poll)
    /// Options that the user has chosen in a poll, in the user's own stream.
    case vote(ID<Message>, [Int])
    /// Press of a button, in the streams of the bot and of its owner.
    case press(ButtonPress)
    /// Reply of a slash command to its user alone, in the user's own stream.
    case commandReply(CommandReply)
    /// Read position of a user in a small conversation, visible to the other participants.
    case receipt(ID<Conversation>, ID<User>, ReadPosition)
    /// Read position of the user.
    case readPosition(ID<Conversation>, ReadPosition)
    /// The conversation as it is now.
    case conversation(Conversation)
    /// Conversation that the user has joined, in the user's own stream.
    case gained(GainedConversation)
    /// The role is nil after the participant has left.
    case participant(ID<Conversation>, ID<User>, ParticipantRole?)
    /// The same for a forum.
    case member(ID<Forum>, ID<User>, ForumRole?)
    /// The forum as it is now.
    case forum(Forum)
    /// Public members; all members in the user's own stream.
    case user(User)
    /// The settings of the site.
    case settings(SiteSettings)
    /// The notification level of a conversation or forum.
    case level(LevelScope, SetLevel)
    /// The time until which a conversation is put off.
    case later(Later)
    /// The read position of the timeline.
    case timelinePosition(TimelinePosition)
    /// The user's relations to another user.
    case relations(UserRelations)
    /// Notification for the user.
    case inbox(Notification)
    /// Id of an object that was deleted or that each reader must fetch.
    case thing(Int)
    /// Only id and offset are sent, so that offsets have no gap.
    case hidden
  }
}

// MARK: Access to the full event

/// Subscriber of a stream.
public struct StreamReader: Sendable, Hashable {
  /// Nil for a visitor.
  public var role: Role?
  /// Start of the reader's history in a conversation.
  public var fromSeq: Int
  /// Whether only the audience of a conversation admits the reader, who is no participant.
  public var isOfAudience: Bool

  /// A subscriber with a role on the site; by default with the whole history.
  public init(_ role: Role?, fromSeq: Int = 1, isOfAudience: Bool = false) {
    self.role = role
    self.fromSeq = fromSeq
    self.isOfAudience = isOfAudience
  }

  /// Reader without rights: receives only events that are open to everyone.
  public static let least = StreamReader(nil, fromSeq: .max, isOfAudience: true)
}

extension DeliveredEvent {
  /// Whether the reader gets the event unreduced. Hidden are messages before the reader's history, participants from
  /// visitors. A conversation without the reader in its audience, and users and forums of the site for guests, are ids
  /// alone, which clients fetch.
  public func isOpen(to reader: StreamReader) -> Bool {
    switch content {
    case .message, .actions, .poll: (seq ?? .max) >= reader.fromSeq
    case .participant: reader.role != nil
    case .conversation(let conversation):
      !reader.isOfAudience || conversation.kind.isInForum || reader.belongs(to: conversation.readers.audience)
    case .forum(let forum): event.stream != .site || forum.visibility == .public || reader.isOfSite
    case .user: event.stream != .site || reader.isOfSite
    case .star, .vote, .press, .commandReply, .receipt, .readPosition, .gained, .member, .settings, .level, .later,
      .timelinePosition, .relations, .inbox, .thing, .hidden:
      true
    }
  }

  /// The event for readers without access.
  public var reduced: DeliveredEvent {
    switch content {
    case .forum, .user, .conversation: DeliveredEvent(event, .thing(event.subject))
    case .message, .actions, .star, .poll, .vote, .press, .commandReply, .receipt, .readPosition, .gained, .participant,
      .member, .settings, .level, .later, .timelinePosition, .relations, .inbox, .thing, .hidden:
      DeliveredEvent(event, .hidden)
    }
  }

  /// The event as one reader receives it: whole or reduced.
  public func seen(by reader: StreamReader) -> DeliveredEvent { isOpen(to: reader) ? self : reduced }
}

extension StreamReader {
  fileprivate var isOfSite: Bool { role != nil && role != .guest }

  fileprivate func belongs(to audience: Audience) -> Bool {
    switch audience {
    case .anyone: true
    case .users: isOfSite
    case .listed: false
    }
  }
}
