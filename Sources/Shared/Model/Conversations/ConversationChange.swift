public import ParleyJSON

/// PATCH of a conversation. Absent members stay unchanged.
public struct ConversationChange: Sendable, Equatable {
  /// New values of the title, annotations, history, slow mode and lock.
  public var fields: Patch<Conversation>
  /// A new audience for reading; nil leaves it unchanged.
  public var readers: Patch<Conversation.Openness>?
  /// A new audience for writing; nil leaves it unchanged.
  public var writers: Patch<Conversation.Openness>?
  /// With a wider audience: start of the history that is open to new readers.
  public var from: ForumChange.HistoryStart?
  /// The reason for slow mode or a lock, for the audit log; at most 1,000 characters.
  public var reason: String?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// A change of the given fields; absent parameters change no field.
  public init(
    _ fields: Patch<Conversation> = [], readers: Patch<Conversation.Openness>? = nil,
    writers: Patch<Conversation.Openness>? = nil, from: ForumChange.HistoryStart? = nil, reason: String? = nil,
    ifRevision: Int? = nil
  ) {
    self.fields = fields
    self.readers = readers
    self.writers = writers
    self.from = from
    self.reason = reason
    self.ifRevision = ifRevision
  }

  /// Whether the change concerns the conversation itself and not only its moderation.
  public var changesConversation: Bool {
    fields.changesFields(except: \.slowSeconds, \.isLocked) || readers != nil || writers != nil
  }

  /// The conversation after the change, without the checks of the server.
  public func applied(to conversation: Conversation) -> Conversation {
    var conversation = fields.applied(to: conversation)
    if let readers { conversation.readers = readers.applied(to: conversation.readers) }
    if let writers { conversation.writers = writers.applied(to: conversation.writers) }
    return conversation
  }
}

extension ConversationChange: JSONWritable {
  /// Decodes the body of a PATCH of a conversation.
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    try object.checkAnnotations()
    readers = try object.optional("readers") { value throws(JSONError) in try Patch(strict: value) }
    writers = try object.optional("writers") { value throws(JSONError) in try Patch(strict: value) }
    from = try object.optionalWord("from")
    reason = try object.optional("reason")
    ifRevision = try object.optional("if_revision")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if let readers { json.object("readers", readers.writeMembers) }
      if let writers { json.object("writers", writers.writeMembers) }
      if let from { json.field("from", from.rawValue) }
      if let reason { json.field("reason", reason) }
      if let ifRevision { json.field("if_revision", ifRevision) }
    }
  }
}
