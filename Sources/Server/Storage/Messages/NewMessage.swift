import ParleyJSON
public import ParleyModel

/// The input for storing a message, already validated by the rules.
public struct NewMessage: Sendable {
  public enum Kind: String, Sendable {
    case message, system
  }

  public var conversation: ID<Conversation>
  public var author: ID<User>
  public var clientID: String?
  public var kind = Kind.message
  public var text: MessageText
  public var replyTo: ID<Message>?
  public var isMachineOnly = false
  public var sentAt: Int64?
  public var annotations: MessageAnnotations?
  public var attachments: [ID<File>] = []
  /// Descriptions of the attachments, in their order; later ones have none.
  public var descriptions: [String] = []
  public var poll: Poll?
  public var buttons: [MessageButton] = []
  /// The post of a feed that the message reposts.
  public var repostOf: ID<Message>?

  public init(conversation: ID<Conversation>, author: ID<User>, clientID: String? = nil, text: MessageText) {
    self.conversation = conversation
    self.author = author
    self.clientID = clientID
    self.text = text
  }

  /// A message without entities.
  public init(conversation: ID<Conversation>, author: ID<User>, clientID: String? = nil, text: String) {
    self.init(conversation: conversation, author: author, clientID: clientID, text: MessageText(text))
  }
}

/// A text with its entities. Storage does not parse it.
public struct MessageText: Sendable, Hashable {
  /// The text as the client has sent it.
  public var markdown: String
  /// JSON: mentions, hashtags and links with their ranges in the text.
  public var entities: String?
  /// In normalized form.
  public var hashtags: [String] = []
  public var mentions: [ID<User>] = []
  public var links: [String] = []
  /// Whether the text has a room mention. It only notifies and is not stored.
  public var callsRoom = false
  /// The mentioned groups. They only notify and are not stored beside the entities.
  public var groups: [ID<UserGroup>] = []

  public init(_ markdown: String) {
    self.markdown = markdown
  }
}

/// Annotations of a message, set by programs. They never change.
public struct MessageAnnotations: Sendable, Hashable {
  /// The bytes as received.
  public var json: String
  public var types: [String]
  public var location: Location?

  public init(json: String, types: [String], location: Location? = nil) {
    self.json = json
    self.types = types
    self.location = location
  }
}

extension NewMessage {
  /// The message as its readers see it right after it was stored at `time`.
  public func posted(_ stored: StoredMessage, at time: Int64) -> Message {
    Message(
      id: stored.id, conversation: conversation, author: author, clientID: clientID,
      kind: kind == .system ? .system : .message, seq: stored.seq, previous: stored.previous, replyTo: replyTo,
      isMachineOnly: isMachineOnly, createdAt: time,
      state: .live(
        Message.Content(
          text: text.markdown, entities: text.entities.map { JSONRaw(trusted: Array($0.utf8)) },
          annotations: annotations.map { JSONRaw(trusted: Array($0.json.utf8)) }, attachments: attachments,
          descriptions: AttachedFiles(attachments, descriptions).descriptions, sentAt: sentAt, poll: poll,
          buttons: buttons, repostOf: repostOf)))
  }

  /// The digest by which a repeated send is compared with the first.
  func fingerprint() throws(Refusal) -> [UInt8] {
    let files = attachments.map(\.description).joined(separator: ",")
    var parts = [
      conversation.description, text.markdown, replyTo?.description ?? "", files, annotations?.json ?? "",
    ]
    if let poll {
      var json = JSONWriter()
      json.value(poll)
      parts.append(String(decoding: json.bytes, as: UTF8.self))
    }
    if let buttons = buttons.stored { parts.append(buttons) }
    parts += AttachedFiles(attachments, descriptions).descriptions
    return try Creation.fingerprint(of: parts)
  }
}
