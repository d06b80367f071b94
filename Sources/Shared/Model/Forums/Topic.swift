public import ParleyJSON

/// Titled conversation of a forum. The forum's policies decide about reading and writing.
public struct Topic: Sendable, Hashable {
  public let id: ID<Conversation>
  public let forum: ID<Forum>
  public var title: String
  /// Listed before the other topics.
  public var isPinned: Bool
  public var isLocked: Bool
  /// Minimum seconds between two messages of a user; 0 for no limit.
  public var slowSeconds: Int
  /// The message marked as the solution.
  public var solvedBy: ID<Message>?
  public let createdBy: ID<User>
  public let createdAt: Int64
  public var lastMessage: ID<Message>?
  public var lastSeq: Int
  public var revision: Int

  /// Sort key for "newest activity first".
  public var activity: Int { max(lastMessage?.number ?? 0, id.number) }

  public init(
    id: ID<Conversation>, forum: ID<Forum>, title: String, isPinned: Bool = false, isLocked: Bool = false,
    slowSeconds: Int = 0, solvedBy: ID<Message>? = nil, createdBy: ID<User>, createdAt: Int64,
    lastMessage: ID<Message>? = nil, lastSeq: Int = 0, revision: Int = 1
  ) {
    self.id = id
    self.forum = forum
    self.title = title
    self.isPinned = isPinned
    self.isLocked = isLocked
    self.slowSeconds = slowSeconds
    self.solvedBy = solvedBy
    self.createdBy = createdBy
    self.createdAt = createdAt
    self.lastMessage = lastMessage
    self.lastSeq = lastSeq
    self.revision = revision
  }
}

extension Topic: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("kind", Conversation.Kind.topic.rawValue)
      json.field("forum_id", forum)
      json.field("title", title)
      json.field("pinned", isPinned)
      json.field("locked", isLocked)
      json.field("slow_seconds", slowSeconds)
      json.field("solved_by", solvedBy)
      json.field("created_by", createdBy)
      json.field("created_at", Timestamp(createdAt))
      json.field("last_message_id", lastMessage)
      json.field("last_seq", lastSeq)
      json.field("revision", revision)
    }
  }
}

extension Topic: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), forum: try object.read("forum_id"), title: try object.string("title"),
      isPinned: try object.bool("pinned"), isLocked: try object.bool("locked"),
      slowSeconds: try object.int("slow_seconds"), solvedBy: try object.optional("solved_by"),
      createdBy: try object.read("created_by"), createdAt: Int64(createdAt.milliseconds),
      lastMessage: try object.optional("last_message_id"), lastSeq: try object.int("last_seq", in: 0...Int.max - 1),
      revision: try object.int("revision", in: 1...Int.max))
  }
}

/// Request to start a topic.
public struct TopicDraft: Sendable {
  public var title: String
  /// Text of the first message.
  public var text: String?
  public var clientID: String?

  public init(_ object: inout JSONObject) throws(JSONError) {
    title = try object.string("title")
    text = try object.optional("text")
    clientID = try object.optional("client_id")
  }
}

/// PATCH of a topic. Absent members stay unchanged.
public struct TopicChange: Sendable, Hashable {
  public var title: String?
  /// The message marked as the solution; `null` removes it.
  public var solvedBy = Change<ID<Message>>.unchanged
  // Set by moderators.
  public var isPinned: Bool?
  public var isLocked: Bool?
  public var slowSeconds: Int?
  public var reason: String?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// An empty change.
  public init() {}

  public init(_ object: inout JSONObject) throws(JSONError) {
    title = try object.optional("title")
    solvedBy = try object.change("solved_by")
    isPinned = try object.optional("pinned")
    isLocked = try object.optional("locked")
    slowSeconds = try object.optional("slow_seconds") { value throws(JSONError) in try value.int(in: Forum.slowness) }
    reason = try object.optional("reason")
    ifRevision = try object.optional("if_revision")
  }

  /// Whether the change needs a moderator.
  public var isModerator: Bool { isPinned != nil || isLocked != nil || slowSeconds != nil }

  public func applied(to topic: Topic) -> Topic {
    var topic = topic
    topic.title = title ?? topic.title
    topic.solvedBy = solvedBy.applied(to: topic.solvedBy)
    topic.isPinned = isPinned ?? topic.isPinned
    topic.isLocked = isLocked ?? topic.isLocked
    topic.slowSeconds = slowSeconds ?? topic.slowSeconds
    return topic
  }
}
