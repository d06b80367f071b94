public import ParleyJSON

/// Request to create a conversation.
public struct ConversationDraft: Sendable {
  /// The kind: direct, group, channel or feed. The server makes rooms with their forums, and topics in them.
  public var kind: Conversation.Kind
  /// Without the caller.
  public var participants: [Invited]
  /// The title, the annotations and the history setting.
  public var fields: Patch<Conversation>
  /// The type of a channel, such as `com.example.todo`; required for a channel.
  public var type: String?
  /// The readers of a channel or a feed; nil for the default of the kind.
  public var readers: Conversation.Openness?
  /// The writers of a channel; nil for participants only.
  public var writers: Conversation.Openness?
  /// Returns an existing conversation with the same participants.
  public var isDistinct: Bool
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second conversation.
  public var clientID: String?

  /// User to add, by id or name, with a role.
  public struct Invited: Sendable, Hashable {
    /// The user to add, by id or name.
    public var user: UserReference
    /// The role of the new participant.
    public var role: ParticipantRole

    /// A user to add to a new conversation, as a member unless a role is given.
    public init(_ user: UserReference, as role: ParticipantRole = .member) {
      self.user = user
      self.role = role
    }
  }

  /// Decodes the body of a request to create a conversation.
  public init(_ object: inout JSONObject) throws(JSONError) {
    kind = try object.word("kind")
    participants =
      try object.optional("participants") { list throws(JSONError) in
        try list.array { user throws(JSONError) in try Invited(json: user) }
      } ?? []
    fields = try Patch(&object, only: [\.title, \.annotations, \.isHistoryVisible])
    try object.checkAnnotations()
    type = try object.optional("type")
    readers = try object.optional("readers") { value throws(JSONError) in try .init(strict: value) }
    writers = try object.optional("writers") { value throws(JSONError) in try .init(strict: value) }
    isDistinct = try object.optional("distinct") ?? false
    clientID = try object.optional("client_id")
  }
}

extension ConversationDraft.Invited {
  /// `"7"`, `"@ada"`, or `{"user_id":"7","role":"reader"}`.
  fileprivate init(json value: JSONValue) throws(JSONError) {
    guard value.kind == .object else {
      self.init(try UserReference(json: value))
      return
    }
    var object = try value.object()
    self.init(try object.read("user_id"), as: try object.optionalWord("role") ?? .member)
    try object.finish()
  }
}

extension Conversation.Openness {
  fileprivate init(strict value: JSONValue) throws(JSONError) {
    self = try Patch<Conversation.Openness>(strict: value).applied(to: .blank)
  }
}

extension JSONObject {
  /// Annotations of a conversation: `[{"type":"com.example.todo","value":{…}}]`.
  mutating func checkAnnotations() throws(JSONError) {
    guard let annotations = member("annotations"), !annotations.isNull else { return }
    _ = try annotations.array { item throws(JSONError) in
      var annotation = try item.object()
      let type = try annotation.value("type")
      guard TypeName.isWellFormed(try type.string()) else { throw type.error(.invalid) }
      _ = try annotation.object("value")
      try annotation.finish()
    }
  }
}
