// Requests to post or change a message.

public import ParleyJSON

public struct MessageDraft: Sendable {
  public var text: String
  public var clientID: String?
  public var replyTo: ID<Message>?
  public var attachments: [ID<File>]
  /// Descriptions of the attachments, in their order; later ones have none.
  public var descriptions: [String] = []
  public var annotations: Annotations?
  public var poll: PollDraft?
  public var buttons: [MessageButton] = []
  public var isMachineOnly: Bool
  /// Milliseconds since 1970, by the sender's clock.
  public var sentAt: Int64?
  /// The sender's last known message: the response includes later messages.
  public var catchUpAfter: ID<Message>?

  public init(text: String, clientID: String?) {
    self.text = text
    self.clientID = clientID
    attachments = []
    isMachineOnly = false
  }

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
  public var text: String?
  public var attachments: [ID<File>]?
  /// Replaces all descriptions. Without it, each remaining attachment keeps its own.
  public var descriptions: [String]?
  /// Replaces all buttons.
  public var buttons: [MessageButton]?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  public init(_ object: inout JSONObject) throws(JSONError) {
    text = try object.optional("text")
    attachments = try object.optional("attachments")
    descriptions = try object.optional("descriptions")
    let buttons: ButtonDrafts? = try object.optional("buttons")
    self.buttons = buttons?.buttons
    ifRevision = try object.optional("if_revision")
  }
}
