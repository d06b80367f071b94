public import ParleyJSON

/// Rule of the staff about new messages. A message matches if all conditions of the rule hold.
public struct ModerationRule: Sendable, Hashable {
  /// The effect on a matching message.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    /// A moderator approves or rejects it before others see it.
    case hold
    case refuse
    /// The post is published and reported.
    case report
  }

  public var id: ID<ModerationRule>
  public var name = ""
  /// Words and phrases, compared without case and accents. The message has one of them.
  public var words: [String] = []
  /// Domains, with their subdomains. The message links to one of them.
  public var domains: [String] = []
  /// 0 without this condition.
  public var minMentions = 0
  public var hasPicture = false
  /// The message is among so many first posts of its author; 0 without this condition.
  public var firstPosts = 0
  public var action = Action.hold
  public var isEnabled = false
  public var createdBy: ID<User>
  public var createdAt: Int64
  public var revision = 1

  public static let maxMentions = 50
  public static let maxFirstPosts = 100

  public init(id: ID<ModerationRule>, createdBy: ID<User>, createdAt: Int64) {
    self.id = id
    self.createdBy = createdBy
    self.createdAt = createdAt
  }

  /// Whether it has a condition. A rule without any would match every message.
  public var hasCondition: Bool {
    !words.isEmpty || !domains.isEmpty || minMentions > 0 || hasPicture || firstPosts > 0
  }
}

extension ModerationRule: Record {
  public static let blank = ModerationRule(id: ID(0), createdBy: ID(0), createdAt: 0)

  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<ModerationRule>>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.field("name", &name, \.name)
    try visitor.field("words", &words, \.words)
    try visitor.field("domains", &domains, \.domains)
    try visitor.field("min_mentions", &minMentions, \.minMentions, in: 0...Self.maxMentions)
    try visitor.field("has_picture", &hasPicture, \.hasPicture)
    try visitor.field("first_posts", &firstPosts, \.firstPosts, in: 0...Self.maxFirstPosts)
    try visitor.field("action", &action, \.action)
    try visitor.field("enabled", &isEnabled, \.isEnabled)
  }
}

extension ModerationRule: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self = .blank
    id = try object.read("id")
    try readFields(from: &object)
    createdBy = try object.read("created_by")
    let createdAt: Timestamp = try object.read("created_at")
    self.createdAt = Int64(createdAt.milliseconds)
    revision = try object.int("revision")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      writeFields(to: &json)
      json.field("created_by", createdBy)
      json.field("created_at", Timestamp(createdAt))
      json.field("revision", revision)
    }
  }
}

/// Request to create a rule, or to try one on earlier messages. Absent members have their defaults.
public typealias ModerationRuleDraft = RecordDraft<ModerationRule>

/// PATCH of a rule.
public typealias ModerationRuleChange = RecordChange<ModerationRule>

/// The messages that a rule would have matched.
public struct ModerationRuleTrial: Sendable, Hashable {
  public struct Match: Sendable, Hashable {
    public var message: ID<Message>
    public var author: ID<User>
    public var conversation: ID<Conversation>
    /// The text on one line, shortened.
    public var excerpt: String
    public var createdAt: Int64

    public init(
      message: ID<Message>, author: ID<User>, conversation: ID<Conversation>, excerpt: String, createdAt: Int64
    ) {
      self.message = message
      self.author = author
      self.conversation = conversation
      self.excerpt = excerpt
      self.createdAt = createdAt
    }
  }

  public var examined = 0
  public var matched = 0
  /// The newest.
  public var matches: [Match] = []

  public init() {}
}

extension ModerationRuleTrial: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    examined = try object.int("examined")
    matched = try object.int("matched")
    matches = try object.read("matches")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("examined", examined)
      json.field("matched", matched)
      json.field("matches", matches)
    }
  }
}

extension ModerationRuleTrial.Match: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    message = try object.read("message_id")
    author = try object.read("author_id")
    conversation = try object.read("conversation_id")
    excerpt = try object.string("excerpt")
    let createdAt: Timestamp = try object.read("created_at")
    self.createdAt = Int64(createdAt.milliseconds)
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("message_id", message)
      json.field("author_id", author)
      json.field("conversation_id", conversation)
      json.field("excerpt", excerpt)
      json.field("created_at", Timestamp(createdAt))
    }
  }
}
