public import ParleyJSON

/// That something is not in order, as somebody said it, and what became of it.
public struct Report: Sendable, Hashable {
  public enum State: String, Sendable, Hashable, CaseIterable {
    case open
    /// There was nothing to do.
    case dismissed
    /// Something was done about it.
    case acted
  }

  public var id: ID<Report>
  public var reporter: ID<User>
  /// Who is reported: of a message, who wrote it.
  public var user: ID<User>
  public var message: ID<Message>?
  public var conversation: ID<Conversation>?
  /// Nil for a user, and for what was said apart from forums.
  public var forum: ID<Forum>?
  public var reason: String
  /// The message as it was; nil for a user, and when its time is over.
  public var copy: JSONRaw?
  /// The messages around it, as they were: an array. In the single report only, and as long as it is open.
  public var surroundings: JSONRaw?
  public var state: State
  /// Who looks after it.
  public var assignee: ID<User>?
  /// What was done about it.
  public var outcome: String?
  public var handledBy: ID<User>?
  public var handledAt: Int64?
  public var createdAt: Int64
  public var revision: Int

  public init(
    id: ID<Report>, reporter: ID<User>, user: ID<User>, message: ID<Message>?,
    conversation: ID<Conversation>?, forum: ID<Forum>?, reason: String, createdAt: Int64
  ) {
    self.id = id
    self.reporter = reporter
    self.user = user
    self.message = message
    self.conversation = conversation
    self.forum = forum
    self.reason = reason
    state = .open
    self.createdAt = createdAt
    revision = 1
  }
}

extension Report: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      writeReported(to: &json)
      json.field("message", copy)
      if let surroundings { json.field("surroundings", surroundings) }
      json.field("state", state.rawValue)
      json.field("assignee_id", assignee)
      json.field("outcome", outcome)
      json.field("handled_by", handledBy)
      json.field("handled_at", handledAt.map { Timestamp($0) })
      json.field("revision", revision)
    }
  }

  /// What who reported it has said.
  public func writeReported(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("reporter_id", reporter)
    json.field("user_id", user)
    json.field("message_id", message)
    json.field("conversation_id", conversation)
    json.field("forum_id", forum)
    json.field("reason", reason)
    json.field("created_at", Timestamp(createdAt))
  }
}

/// A report, as the request says it.
public struct ReportDraft: Sendable {
  public var message: ID<Message>?
  public var user: UserReference?
  public var reason: String
  public var clientID: String?

  public init(_ object: inout JSONObject) throws(JSONError) {
    message = try object.optional("message_id")
    user = try object.optional("user")
    reason = try object.string("reason")
    clientID = try object.optional("client_id")
  }
}

/// What a PATCH of a report says. What is absent stays.
public struct ReportChange: Sendable {
  public var state: Report.State?
  public var assignee: Change<UserReference>
  public var outcome: Change<String>
  /// Refused unless it is the present one.
  public var ifRevision: Int?

  public init(_ object: inout JSONObject) throws(JSONError) {
    state = try object.optionalWord("state")
    assignee = try object.change("assignee")
    outcome = try object.change("outcome")
    ifRevision = try object.optional("if_revision")
  }
}

/// Which reports are asked for.
public struct ReportFilter: Sendable {
  public var state = Report.State.open
  public var forum: ID<Forum>?
  /// Who is reported.
  public var user: ID<User>?
  public var assignee: ID<User>?

  public init() {}
}
