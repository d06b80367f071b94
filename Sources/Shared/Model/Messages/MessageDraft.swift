// What a user asks to be said, as the request says it.

public import ParleyJSON

public struct MessageDraft: Sendable {
  public var text: String
  public var clientID: String?
  public var replyTo: ID<Message>?
  public var attachments: [ID<File>]
  public var annotations: Annotations?
  public var isMachineOnly: Bool
  /// Milliseconds since 1970, by the sender's clock.
  public var sentAt: Int64?
  /// The last message that the sender has: the answer brings what came after it.
  public var catchUpAfter: ID<Message>?

  public init(_ object: inout JSONObject) throws(JSONError) {
    text = try object.optional("text") ?? ""
    clientID = try object.optional("client_id")
    replyTo = try object.optional("reply_to")
    attachments = try object.optional("attachments") ?? []
    annotations = try object.optional("annotations")
    if annotations?.isEmpty == true { annotations = nil }
    isMachineOnly = try object.optional("machine_only") ?? false
    let sentAt: Timestamp? = try object.optional("sent_at")
    self.sentAt = sentAt.map { Int64($0.milliseconds) }
    catchUpAfter = try object.optional("catch_up_after")
  }
}

/// What a PATCH of a message may change; what is absent stays.
public struct MessageChange: Sendable {
  public var text: String?
  public var attachments: [ID<File>]?
  /// Refused unless it is the present one.
  public var ifRevision: Int?

  public init(_ object: inout JSONObject) throws(JSONError) {
    text = try object.optional("text")
    attachments = try object.optional("attachments")
    ifRevision = try object.optional("if_revision")
  }
}
