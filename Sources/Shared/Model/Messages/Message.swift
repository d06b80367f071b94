public import ParleyJSON

/// A message as all its readers see it, without members that depend on the viewer.
public struct Message: Sendable, Hashable {
  /// The id of the message.
  public var id: ID<Message>
  /// The id of the conversation of the message.
  public var conversation: ID<Conversation>
  /// The user that posted the message.
  public var author: ID<User>
  /// Idempotency key from the sender: a repeated request creates no second message.
  public var clientID: String?
  /// The origin of the message: a user or the server.
  public var kind: Kind
  /// Position in the conversation, from 1, without gaps.
  public var seq: Int
  /// The message with `seq` one less; nil for the first. Never changes.
  public var previous: ID<Message>?
  /// The message of the same conversation that this one answers; nil if it is no reply.
  public var replyTo: ID<Message>?
  /// Whether the message is for programs: clients do not show it, and it never counts as unread.
  public var isMachineOnly: Bool
  /// Milliseconds since 1970, by the server's clock.
  public var createdAt: Int64
  /// Increases with each edit, deletion and restore.
  public var revision: Int
  /// The original of a copy.
  public var movedFrom: ID<Message>?
  /// The content of a live message, or the tombstone of a deleted one.
  public var state: State

  /// A message with its content or tombstone; `createdAt` is in milliseconds since 1970.
  public init(
    id: ID<Message>, conversation: ID<Conversation>, author: ID<User>, clientID: String? = nil,
    kind: Kind = .message, seq: Int, previous: ID<Message>?, replyTo: ID<Message>? = nil, isMachineOnly: Bool = false,
    createdAt: Int64, revision: Int = 1, movedFrom: ID<Message>? = nil, state: State
  ) {
    self.id = id
    self.conversation = conversation
    self.author = author
    self.clientID = clientID
    self.kind = kind
    self.seq = seq
    self.previous = previous
    self.replyTo = replyTo
    self.isMachineOnly = isMachineOnly
    self.createdAt = createdAt
    self.revision = revision
    self.movedFrom = movedFrom
    self.state = state
  }

  /// Content or tombstone: a tombstone has no member for any of the content.
  /// Boxed, so that copying a message copies a reference instead of all fields.
  public indirect enum State: Sendable, Hashable {
    /// A message with its content.
    case live(Content)
    /// A deleted or removed message.
    case deleted(Tombstone)
  }

  /// The origin of a message.
  public enum Kind: String, Sendable, CaseIterable {
    /// A message of a user.
    case message
    /// Written by the server, such as the link to a topic made of a branch.
    case system
  }

  /// Text of a message with its attachments, actions, poll and buttons.
  public struct Content: Sendable, Hashable {
    /// Markdown, as sent; empty in a repost, and in a message of attachments alone.
    public var text: String
    /// Mentions, hashtags and links with their positions in the text: a JSON object, nil if empty.
    public var entities: JSONRaw?
    /// A JSON array, nil if empty.
    public var annotations: JSONRaw?
    /// The ids of the attached files, in the author's order.
    public var attachments: [ID<File>]
    /// A description of each attachment, or empty for one without; no element if no attachment has any.
    public var descriptions: [String]
    /// The sender's clock. For display, never for order.
    public var sentAt: Int64?
    /// The last edit; nil for an unedited message.
    public var edit: Edit?
    /// Count of each public action.
    public var actions: [ActionCount]
    /// The poll with its totals; nil without a poll. The text of the message is its question.
    public var poll: Poll?
    /// The buttons of a bot's message.
    public var buttons: [MessageButton]
    /// The post that this entry of a feed reposts. A repost has no text.
    public var repostOf: ID<Message>?

    /// The content of a live message; `sentAt` is in milliseconds since 1970, by the sender's clock.
    public init(
      text: String, entities: JSONRaw? = nil, annotations: JSONRaw? = nil, attachments: [ID<File>] = [],
      descriptions: [String] = [], sentAt: Int64? = nil, edit: Edit? = nil, actions: [ActionCount] = [],
      poll: Poll? = nil,
      buttons: [MessageButton] = [], repostOf: ID<Message>? = nil
    ) {
      self.text = text
      self.entities = entities
      self.annotations = annotations
      self.attachments = attachments
      self.descriptions = descriptions
      self.sentAt = sentAt
      self.edit = edit
      self.actions = actions
      self.poll = poll
      self.buttons = buttons
      self.repostOf = repostOf
    }
  }

  /// The last edit.
  public struct Edit: Sendable, Hashable {
    /// The time of the edit, in milliseconds since 1970.
    public var at: Int64
    /// The user that edited the message.
    public var by: ID<User>

    /// An edit by a user; `at` is in milliseconds since 1970.
    public init(at: Int64, by: ID<User>) {
      self.at = at
      self.by = by
    }
  }

  /// The number of actions of one type on a message.
  public struct ActionCount: Sendable, Hashable {
    /// The name of the action, such as `like` or `reaction:👍`; see `ActionType`.
    public var type: String
    /// The number of users that have set the action, from 1.
    public var count: Int

    /// The action.
    public var action: ActionType { ActionType(named: type) }

    /// The count of one type of action.
    public init(type: String, count: Int) {
      self.type = type
      self.count = count
    }
  }

  /// The rest of a deleted message: the time, the user and the reason of the deletion.
  public struct Tombstone: Sendable, Hashable {
    /// The time of the deletion, in milliseconds since 1970.
    public var at: Int64
    /// Nil without an acting user, such as a message erased with its author.
    public var by: ID<User>?
    /// The kind of the deletion.
    public var deletion: Deletion
    /// The reason of the deletion, such as that of a moderator; nil without one.
    public var reason: String?
    /// The copy in the topic that was made of the branch.
    public var movedTo: ID<Message>?

    /// The tombstone of a message; `at` is in milliseconds since 1970.
    public init(
      at: Int64, by: ID<User>?, deletion: Deletion, reason: String? = nil, movedTo: ID<Message>? = nil
    ) {
      self.at = at
      self.by = by
      self.deletion = deletion
      self.reason = reason
      self.movedTo = movedTo
    }
  }

  /// The kind of a deletion: by the author, by a moderator, by the move to a topic, or by the erasure of all content.
  public enum Deletion: String, Sendable, CaseIterable {
    /// By its author or a moderator; moved to another conversation; or erased with its author.
    case author, moderator, moved, erased
  }
}

extension Message {
  /// Whether the message is live: it has content and no tombstone.
  public var isLive: Bool {
    switch state {
    case .live: true
    case .deleted: false
    }
  }

  /// Whether the message is live and has a poll.
  public var hasPoll: Bool {
    guard case .live(let content) = state else { return false }
    return content.poll != nil
  }

  /// Nil for a tombstone.
  public var content: Content? {
    switch state {
    case .live(let content): content
    case .deleted: nil
    }
  }

  /// Nil while the message is live.
  public var tombstone: Tombstone? {
    switch state {
    case .live: nil
    case .deleted(let tombstone): tombstone
    }
  }
}

extension Message.Content {
  /// The author's description of an attachment; nil without one.
  public func description(of file: ID<File>) -> String? {
    guard let index = attachments.firstIndex(of: file), descriptions.indices.contains(index) else { return nil }
    return descriptions[index].isEmpty ? nil : descriptions[index]
  }
}
