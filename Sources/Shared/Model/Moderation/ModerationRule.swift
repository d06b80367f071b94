public import ParleyJSON

/// Rule of the staff about new messages. A message matches if all conditions of the rule hold.
public struct ModerationRule: Sendable, Hashable {
  /// The effect on a matching message.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    /// A moderator approves or rejects it before others see it.
    case hold
    /// The message is refused.
    case refuse
    /// The post is published and reported.
    case report
  }

  /// The id of the rule.
  public var id: ID<ModerationRule>
  /// The name of the rule, of 1 to 100 Unicode scalars. A report by the rule has it as its reason.
  public var name = ""
  /// Words and phrases, compared without case and accents. The message has one of them.
  public var words: [String] = []
  /// Domains, with their subdomains. The message links to one of them.
  public var domains: [String] = []
  /// 0 without this condition.
  public var minMentions = 0
  /// Whether only messages with a picture match.
  public var hasPicture = false
  /// The message is among so many first posts of its author; 0 without this condition.
  public var firstPosts = 0
  /// The effect on a matching message; of several matching rules, `refuse` goes before `hold` before `report`.
  public var action = Action.hold
  /// Whether the rule applies to new messages.
  public var isEnabled = false
  /// The user that created the rule.
  public var createdBy: ID<User>
  /// The time of the creation, in milliseconds since 1970.
  public var createdAt: Int64
  /// The revision of the rule, from 1; each change increases it.
  public var revision = 1

  /// The maximum value of `minMentions`.
  public static let maxMentions = 50
  /// The maximum value of `firstPosts`.
  public static let maxFirstPosts = 100

  /// A rule without conditions, which is not enabled; `createdAt` is in milliseconds since 1970.
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
  /// Rule with the defaults of a new one, into which fields are read.
  public static let blank = ModerationRule(id: ID(0), createdBy: ID(0), createdAt: 0)

  /// Visits the fields that a PATCH may change, for JSON, patches and columns.
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
  /// A message that the rule would have matched.
  public struct Match: Sendable, Hashable {
    /// The id of the message.
    public var message: ID<Message>
    /// The author of the message.
    public var author: ID<User>
    /// The conversation of the message.
    public var conversation: ID<Conversation>
    /// The text on one line, shortened.
    public var excerpt: String
    /// The time of the message, in milliseconds since 1970.
    public var createdAt: Int64

    /// A match of a trial; `createdAt` is in milliseconds since 1970.
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

  /// The number of newest messages that the rule was tried on: those to which rules apply; at most 1,000.
  public var examined = 0
  /// The number of these messages that match the rule; `matches` has at most 20 of them.
  public var matched = 0
  /// The newest.
  public var matches: [Match] = []

  /// A trial without messages.
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
