// Requests to post or change a message.

public import ParleyJSON

/// Request to post a message: a text with attachments, annotations, a poll and buttons.
public struct MessageDraft: Sendable {
  /// Markdown of at most 16,000 Unicode scalars; it may be empty with an attachment.
  public var text: String
  /// Idempotency key of at most 64 bytes, unique per author: a repeated request creates no second message.
  public var clientID: String?
  /// The message of the same conversation that the new one answers; nil if it is no reply.
  public var replyTo: ID<Message>?
  /// The ids of the attached files of the author, each once; at most 20.
  public var attachments: [ID<File>]
  /// Descriptions of the attachments, in their order; later ones have none.
  public var descriptions: [String] = []
  /// Data of programs, at most 8,192 bytes of JSON; nil without any.
  public var annotations: Annotations?
  /// The poll of the message; nil without a poll. The text is its question.
  public var poll: PollDraft?
  /// The buttons under the message, for bots only; at most 10.
  public var buttons: [MessageButton] = []
  /// Whether the message is for programs: clients do not show it, and it never counts as unread.
  public var isMachineOnly: Bool
  /// Milliseconds since 1970, by the sender's clock.
  public var sentAt: Int64?
  /// The sender's last known message: the response includes later messages.
  public var catchUpAfter: ID<Message>?

  /// A draft of a message with a text alone; the other members may be set afterwards.
  public init(text: String, clientID: String?) {
    self.text = text
    self.clientID = clientID
    attachments = []
    isMachineOnly = false
  }

  /// Reads a new message from the body of a request; absent members have their defaults.
  public init(_ object: inout JSONObject) throws(JSONError) {
    text = try object.optional("text") ?? ""
    clientID = try object.optional("client_id")
    replyTo = try object.optional("reply_to")
    attachments = try object.optional("attachments") ?? []
    descriptions = try object.optional("descriptions") ?? []
    annotations = try object.optional("annotations")
    if annotations?.isEmpty == true { annotations = nil }
    poll = try object.optional("poll")
    let buttons: ButtonDrafts? = try object.optional("buttons")
    self.buttons = buttons?.buttons ?? []
    isMachineOnly = try object.optional("machine_only") ?? false
    let sentAt: Timestamp? = try object.optional("sent_at")
    self.sentAt = sentAt.map { Int64($0.milliseconds) }
    catchUpAfter = try object.optional("catch_up_after")
  }
}

/// PATCH of a message. Absent members stay unchanged.
public struct MessageChange: Sendable {
  /// The new text in Markdown; nil to keep the text.
  public var text: String?
  /// The complete new list of attached files; nil to keep the attachments.
  public var attachments: [ID<File>]?
  /// Replaces all descriptions. Without it, each remaining attachment keeps its own.
  public var descriptions: [String]?
  /// Replaces all buttons.
  public var buttons: [MessageButton]?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// Reads a change of a message from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    text = try object.optional("text")
    attachments = try object.optional("attachments")
    descriptions = try object.optional("descriptions")
    let buttons: ButtonDrafts? = try object.optional("buttons")
    self.buttons = buttons?.buttons
    ifRevision = try object.optional("if_revision")
  }
}
