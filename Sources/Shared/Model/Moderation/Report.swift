public import ParleyJSON

/// Report of a message or a user, with its outcome.
public struct Report: Sendable, Hashable {
  public enum State: String, Sendable, Hashable, CaseIterable {
    case open
    /// Closed without action.
    case dismissed
    /// Closed with action.
    case acted
  }

  public var id: ID<Report>
  public var reporter: ID<User>
  /// The reported user; for a message, its author.
  public var user: ID<User>
  public var message: ID<Message>?
  public var conversation: ID<Conversation>?
  /// Nil for a user, and for messages outside of forums.
  public var forum: ID<Forum>?
  public var reason: String
  /// Copy of the reported message; nil for a user, and after its retention time.
  public var copy: JSONRaw?
  /// Copies of the surrounding messages: an array. In the single report only, while it is open.
  public var surroundings: JSONRaw?
  public var state: State
  /// Moderator assigned to the report.
  public var assignee: ID<User>?
  /// Note about the action.
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

  /// Writes the members that the reporter may see.
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

/// Request to report a message or a user.
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

/// PATCH of a report. Absent members stay unchanged.
public struct ReportChange: Sendable {
  public var state: Report.State?
  public var assignee: Change<UserReference>
  public var outcome: Change<String>
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  public init(_ object: inout JSONObject) throws(JSONError) {
    state = try object.optionalWord("state")
    assignee = try object.change("assignee")
    outcome = try object.change("outcome")
    ifRevision = try object.optional("if_revision")
  }
}

/// Filter for reports.
public struct ReportFilter: Sendable {
  public var state = Report.State.open
  public var forum: ID<Forum>?
  /// The reported user.
  public var user: ID<User>?
  public var assignee: ID<User>?

  public init() {}
}
