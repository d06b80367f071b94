public import ParleyJSON

/// Titled conversation of a forum. The forum's policies decide about reading and writing.
public struct Topic: Sendable, Hashable {
  /// The id of the topic, a conversation.
  public let id: ID<Conversation>
  /// The id of the forum.
  public let forum: ID<Forum>
  /// The title, at most 120 characters.
  public var title: String
  /// Listed before the other topics.
  public var isPinned = false
  /// Whether only moderators may write and react.
  public var isLocked = false
  /// Minimum seconds between two messages of a user; 0 for no limit.
  public var slowSeconds = 0
  /// The message marked as the solution.
  public var solvedBy: ID<Message>?
  /// The first hashtags of the first message, in lower case, as all readers of the forum may know them.
  public package(set) var tags: [String] = []
  /// The id of the creator.
  public let createdBy: ID<User>
  /// The time of the creation, in milliseconds since 1970.
  public let createdAt: Int64
  /// The id of the newest message; nil without messages.
  public package(set) var lastMessage: ID<Message>?
  /// The `seq` of the newest message; 0 without messages.
  public package(set) var lastSeq: Int
  /// Increases with each change of the topic; 1 at first.
  public package(set) var revision: Int

  /// Upper bound of the number of tags.
  public static let maxTags = 5

  /// Sort key for "newest activity first".
  public var activity: Int { max(lastMessage?.number ?? 0, id.number) }

  /// A topic that is neither pinned, locked nor solved.
  public init(
    id: ID<Conversation>, forum: ID<Forum>, title: String = "", createdBy: ID<User>, createdAt: Int64,
    lastMessage: ID<Message>? = nil, lastSeq: Int = 0, revision: Int = 1
  ) {
    self.id = id
    self.forum = forum
    self.title = title
    self.createdBy = createdBy
    self.createdAt = createdAt
    self.lastMessage = lastMessage
    self.lastSeq = lastSeq
    self.revision = revision
  }
}

extension Topic: Record {
  /// Default values: the base of a `Patch`.
  public static let blank = Topic(id: ID(0), forum: ID(0), createdBy: ID(0), createdAt: 0)

  /// Passes each field that a PATCH may change to a visitor, by the name of its JSON member.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<Topic>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("title", &title, \.title)
    try visitor.field("pinned", &isPinned, \.isPinned)
    try visitor.field("locked", &isLocked, \.isLocked)
    try visitor.field("slow_seconds", &slowSeconds, \.slowSeconds, in: Forum.slowness)
    try visitor.field("solved_by", &solvedBy, \.solvedBy)
  }
}

extension Topic {
  /// The tags of a topic whose first message has these hashtags.
  public static func tags(from hashtags: [String]) -> [String] {
    var tags: [String] = []
    for hashtag in hashtags where tags.count < maxTags {
      let tag = hashtag.lowercased()
      // Byte by byte, as the database compares them.
      if !tags.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) { tags.append(tag) }
    }
    return tags
  }
}

extension Topic: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeMembers(to: &json) }
  }

  fileprivate func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("kind", Conversation.Kind.topic.rawValue)
    json.field("forum_id", forum)
    writeFields(to: &json)
    json.field("tags", tags)
    json.field("created_by", createdBy)
    json.field("created_at", Timestamp(createdAt))
    json.field("last_message_id", lastMessage)
    json.field("last_seq", lastSeq)
    json.field("revision", revision)
  }
}

/// A topic in a list, as the caller sees it.
public struct ListedTopic: Sendable, Hashable {
  /// The members that all readers see.
  public let topic: Topic
  /// Whether it counts among the caller's new topics; nil for visitors.
  public let isNew: Bool?
  /// The first message without markup, on one line; at most `maxExcerpt` scalars.
  public let excerpt: String
  /// The creator, then the authors of the newest messages; at most `maxAuthors`.
  public let authors: [ParleyModel.ID<User>]
  /// The time of the newest message, or of the creation.
  /// In milliseconds since 1970.
  public let lastActivityAt: Int64

  /// Upper bound of `excerpt`, in Unicode scalars.
  public static let maxExcerpt = 140
  /// Upper bound of the number of `authors`.
  public static let maxAuthors = 3

  /// A topic in a list, with the members for one caller.
  public init(_ topic: Topic, isNew: Bool?, excerpt: String, authors: [ParleyModel.ID<User>], lastActivityAt: Int64) {
    self.topic = topic
    self.isNew = isNew
    self.excerpt = excerpt
    self.authors = authors
    self.lastActivityAt = lastActivityAt
  }
}

extension ListedTopic: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      topic.writeMembers(to: &json)
      if let isNew { json.field("is_new", isNew) }
      json.field("excerpt", excerpt)
      json.field("authors", authors)
      json.field("last_activity_at", Timestamp(lastActivityAt))
    }
  }
}

extension ListedTopic: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let lastActivityAt: Timestamp = try object.read("last_activity_at")
    self.init(
      try Topic(json: value), isNew: try object.optional("is_new"), excerpt: try object.string("excerpt"),
      authors: try object.read("authors"), lastActivityAt: Int64(lastActivityAt.milliseconds))
  }
}

extension Topic: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), forum: try object.read("forum_id"), createdBy: try object.read("created_by"),
      createdAt: Int64(createdAt.milliseconds), lastMessage: try object.optional("last_message_id"),
      lastSeq: try object.int("last_seq", in: 0...Int.max - 1), revision: try object.int("revision", in: 1...Int.max))
    tags = try object.optional("tags") ?? []
    try readFields(from: &object)
  }
}

/// Request to start a topic.
public struct TopicDraft: Sendable {
  /// The title, at most 120 characters.
  public var title: String
  /// Text of the first message.
  public var text: String?
  /// Files of the first message.
  public var attachments: [ID<File>]
  /// Descriptions of the files, in their order.
  public var descriptions: [String] = []
  /// Poll of the first message.
  public var poll: PollDraft?
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second topic.
  public var clientID: String?

  /// Decodes the body of a request to start a topic.
  public init(_ object: inout JSONObject) throws(JSONError) {
    title = try object.string("title")
    text = try object.optional("text")
    attachments = try object.optional("attachments") ?? []
    descriptions = try object.optional("descriptions") ?? []
    poll = try object.optional("poll")
    clientID = try object.optional("client_id")
  }
}

/// PATCH of a topic. Absent members stay unchanged.
public struct TopicChange: Sendable, Equatable {
  /// New values of the title, the pin, the lock, slow mode and the solution.
  public var fields: Patch<Topic>
  /// The reason in the audit log, at most 1,000 characters.
  public var reason: String?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// A change of the given fields; absent parameters change no field.
  public init(_ fields: Patch<Topic> = [], reason: String? = nil, ifRevision: Int? = nil) {
    self.fields = fields
    self.reason = reason
    self.ifRevision = ifRevision
  }

  /// Whether the change needs a moderator.
  public var isModerator: Bool { fields.changesFields(except: \.title, \.solvedBy) }
}

extension TopicChange: JSONWritable {
  /// Decodes the body of a PATCH of a topic.
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    reason = try object.optional("reason")
    ifRevision = try object.optional("if_revision")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if let reason { json.field("reason", reason) }
      if let ifRevision { json.field("if_revision", ifRevision) }
    }
  }
}
