public import ParleyJSON

/// Post that waits for a moderator: a message, or a topic with its first message.
public struct HeldPost: Sendable, Hashable {
  /// The title of a topic.
  public var title: String?
  /// The text in Markdown, as sent; of a topic, that of its first message.
  public var text: String
  /// Idempotency key from the author: a repeated request creates no second post.
  public var clientID: String?
  /// The message of the same conversation that the post answers; nil for a topic, and if it is no reply.
  public var replyTo: ID<Message>?
  /// The ids of the attached files, in the author's order. Moderators can read the files.
  public var attachments: [ID<File>]
  public var descriptions: [String] = []
  /// Data of programs: a JSON array, nil without any.
  public var annotations: JSONRaw?
  /// The poll of the post; nil without a poll.
  public var poll: PollDraft?
  /// The buttons of a bot's message.
  public var buttons: [MessageButton] = []
  /// Whether the message is for programs: clients do not show it, and it never counts as unread.
  public var isMachineOnly = false
  /// The sender's clock, in milliseconds since 1970. For display, never for order.
  public var sentAt: Int64?

  /// A held message.
  public init(_ draft: MessageDraft) {
    text = draft.text
    clientID = draft.clientID
    replyTo = draft.replyTo
    attachments = draft.attachments
    descriptions = draft.descriptions
    annotations = draft.annotations?.json
    poll = draft.poll
    buttons = draft.buttons
    isMachineOnly = draft.isMachineOnly
    sentAt = draft.sentAt
  }

  /// A held topic with its first message.
  public init(_ draft: TopicDraft) {
    title = draft.title
    text = draft.text ?? ""
    clientID = draft.clientID
    attachments = draft.attachments
    descriptions = draft.descriptions
    poll = draft.poll
  }
}

extension HeldPost: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    title = try object.optional("title")
    text = try object.string("text")
    clientID = try object.optional("client_id")
    replyTo = try object.optional("reply_to")
    attachments = try object.read("attachments")
    descriptions = try object.optional("descriptions") ?? []
    annotations = try object.optional("annotations")
    poll = try object.optional("poll")
    buttons = try object.optional("buttons") ?? []
    isMachineOnly = try object.bool("machine_only")
    let sentAt: Timestamp? = try object.optional("sent_at")
    self.sentAt = sentAt.map { Int64($0.milliseconds) }
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("title", title)
      json.field("text", text)
      json.field("client_id", clientID)
      json.field("reply_to", replyTo)
      json.field("attachments", attachments)
      if !descriptions.isEmpty { json.field("descriptions", descriptions) }
      if let annotations { json.field("annotations", annotations) } else { json.null("annotations") }
      if let poll { json.field("poll", poll) }
      if !buttons.isEmpty { json.field("buttons", buttons) }
      json.field("machine_only", isMachineOnly)
      json.field("sent_at", sentAt.map { Timestamp($0) })
    }
  }
}

/// Stored as JSON.
extension HeldPost: FieldValue {
  /// Reads a held post from a column of the database; nil if the JSON is not valid.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    do throws(JSONError) { try self.init(json: JSONValue(parsing: Array(text.utf8))) } catch { return nil }
  }

  /// The JSON of the post for a column of the database.
  @inlinable public var stored: StoredValue { .text(storedText) }

  /// The JSON of the post as text.
  public var storedText: String {
    var json = JSONWriter()
    write(to: &json)
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
