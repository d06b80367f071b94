public import ParleyJSON

/// A conversation that somebody asks for.
public struct ConversationDraft: Sendable {
  public var kind: Conversation.Kind
  /// Beside who asks.
  public var participants: [Invited]
  public var title: String?
  public var type: String?
  public var annotations: JSONRaw?
  public var readers: Conversation.Openness?
  public var writers: Conversation.Openness?
  public var isHistoryVisible: Bool
  /// Gives back the one that exists with the same participants.
  public var isDistinct: Bool
  public var clientID: String?

  /// Somebody by an id or a name, to take part as this.
  public struct Invited: Sendable, Hashable {
    public var user: UserReference
    public var role: ParticipantRole

    public init(_ user: UserReference, as role: ParticipantRole = .member) {
      self.user = user
      self.role = role
    }
  }

  public init(_ object: inout JSONObject) throws(JSONError) {
    kind = try object.word("kind")
    participants =
      try object.optional("participants") { list throws(JSONError) in
        try list.array { user throws(JSONError) in try Invited(json: user) }
      } ?? []
    title = try object.optional("title")
    type = try object.optional("type")
    annotations = try object.optional("annotations") { value throws(JSONError) in try value.annotations() }
    readers = try object.optional("readers") { value throws(JSONError) in try .init(strict: value) }
    writers = try object.optional("writers") { value throws(JSONError) in try .init(strict: value) }
    isHistoryVisible = try object.optional("history_visible") ?? true
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
  /// As a request says it: what nobody asked for is refused.
  init(strict value: JSONValue) throws(JSONError) {
    try self.init(json: value)
    var object = try value.object()
    _ = (try object.optional("open_to") as String?, try object.optional("immutable") as Bool?)
    try object.finish()
  }
}

extension JSONValue {
  /// What programs hang on a conversation: `[{"type":"com.example.todo","value":{…}}]`.
  func annotations() throws(JSONError) -> JSONRaw {
    _ = try array { item throws(JSONError) in
      var annotation = try item.object()
      let type = try annotation.value("type")
      guard TypeName.isWellFormed(try type.string()) else { throw type.error(.invalid) }
      _ = try annotation.object("value")
      try annotation.finish()
    }
    return raw.compact
  }
}
