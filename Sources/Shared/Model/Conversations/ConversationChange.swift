public import ParleyJSON

/// PATCH of a conversation. Absent members stay unchanged.
public struct ConversationChange: Sendable, Hashable {
  public var title = Change<String>.unchanged
  public var annotations: JSONRaw?
  public var readers: OpennessChange?
  public var writers: OpennessChange?
  /// With a wider audience: start of the history that is open to new readers.
  public var from: ForumChange.HistoryStart?
  public var isHistoryVisible: Bool?
  public var slowSeconds: Int?
  public var isLocked: Bool?
  public var reason: String?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  public struct OpennessChange: Sendable, Hashable {
    public var audience: Audience?
    public var isImmutable: Bool?

    public init(_ audience: Audience? = nil, isImmutable: Bool? = nil) {
      self.audience = audience
      self.isImmutable = isImmutable
    }
  }

  /// A day.
  public static let maxSlowSeconds = 86_400

  /// An empty change.
  public init() {}

  public init(_ object: inout JSONObject) throws(JSONError) {
    title = try object.change("title")
    annotations = try object.optional("annotations") { value throws(JSONError) in try value.annotations() }
    readers = try object.optional("readers") { value throws(JSONError) in try OpennessChange(json: value) }
    writers = try object.optional("writers") { value throws(JSONError) in try OpennessChange(json: value) }
    from = try object.optionalWord("from")
    isHistoryVisible = try object.optional("history_visible")
    slowSeconds = try object.optional("slow_seconds") { value throws(JSONError) in
      try value.int(in: 0...Self.maxSlowSeconds)
    }
    isLocked = try object.optional("locked")
    reason = try object.optional("reason")
    ifRevision = try object.optional("if_revision")
  }
}

extension ConversationChange.OpennessChange {
  fileprivate init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    audience = try object.optionalWord("open_to")
    isImmutable = try object.optional("immutable")
    try object.finish()
  }

  public func applied(to openness: Conversation.Openness) -> Conversation.Openness {
    Conversation.Openness(audience ?? openness.audience, isImmutable: isImmutable ?? openness.isImmutable)
  }
}
