public import ParleyJSON

/// Report of a message or a user, with its outcome.
public struct Report: Sendable, Hashable {
  /// State of a report, set by moderators.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// No moderator has resolved it.
    case open
    /// Closed without action.
    case dismissed
    /// Closed with action.
    case acted
  }

  /// The id of the report.
  public var id: ID<Report>
  /// Nil for a rule, and for a visitor.
  public var reporter: ID<User>?
  /// The rule that made the report. It may be deleted.
  public var rule: ID<ModerationRule>?
  /// The reported user; for a message, its author.
  public var user: ID<User>
  /// The reported message; nil for a report of a user, and for a held post.
  public var message: ID<Message>?
  /// The conversation of the reported message; nil for a report of a user, and for a held topic.
  public var conversation: ID<Conversation>?
  /// Nil for a user, and for messages outside of forums.
  public var forum: ID<Forum>?
  /// The reporter's reason, or the name of the rule; 1 to 1,000 Unicode scalars.
  public var reason: String
  /// Copy of the reported message; nil for a user, and after its retention time.
  public var copy: JSONRaw?
  /// Copies of the surrounding messages: an array. In the single report only, while it is open.
  public var surroundings: JSONRaw?
  /// The post that waits for a moderator. Dismissing the report publishes it; acting on the report rejects it.
  public var held: HeldPost?
  /// The decision of the moderators; `open` until then.
  public var state = State.open
  /// Moderator assigned to the report.
  public var assignee: ID<User>?
  /// Note about the action.
  public var outcome: String?
  /// The moderator that closed the report; nil while it is open.
  public var handledBy: ID<User>?
  /// The time of the decision, in milliseconds since 1970; nil while the report is open.
  public var handledAt: Int64?
  /// The time of the report, in milliseconds since 1970.
  public var createdAt: Int64
  /// The revision of the report, from 1; each change increases it.
  public var revision = 1
  /// All open reports about the user, in a list that is grouped by users.
  public var group: ReportGroup?
}

extension Report: Record {
  /// Report with default values, into which fields are read.
  public static let blank = Report(id: ID(0), user: ID(0), reason: "", createdAt: 0)

  /// Visits the fields of the JSON and of the columns, without the surroundings and the group.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<Report>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitReported(&visitor)
    try visitor.field("rule_id", &rule, \.rule)
    try visitor.field("held", &held, \.held)
    try visitor.field("message", &copy, \.copy, column: "copy")
    try visitor.field("state", &state, \.state)
    try visitor.field("assignee_id", &assignee, \.assignee)
    try visitor.field("outcome", &outcome, \.outcome)
    try visitor.field("handled_by", &handledBy, \.handledBy)
    try visitor.field("handled_at", &handledAt, \.handledAt)
    try visitor.field("revision", &revision, \.revision)
  }

  /// Visits the fields that the reporter may see.
  @inlinable
  mutating func visitReported<Visitor: FieldVisitor<Report>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("id", &id, \.id)
    try visitor.field("reporter_id", &reporter, \.reporter)
    try visitor.field("user_id", &user, \.user)
    try visitor.field("message_id", &message, \.message)
    try visitor.field("conversation_id", &conversation, \.conversation)
    try visitor.field("forum_id", &forum, \.forum)
    try visitor.field("reason", &reason, \.reason)
    try visitor.field("created_at", &createdAt, \.createdAt)
  }
}

extension Report {
  /// A bound of the JSON in bytes, without a group.
  public var size: Int {
    768 + JSONWriter.size(of: reason) + (outcome.map(JSONWriter.size) ?? 0) + (copy?.bytes.count ?? 0)
      + (surroundings?.bytes.count ?? 0) + (held?.storedText.utf8.count ?? 0)
  }
}

extension Report: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      writeFields(to: &json)
      if let surroundings { json.field("surroundings", surroundings) }
      if let group { json.field("group", group) }
    }
  }

  /// Writes the members that the reporter may see.
  public func writeReported(to json: inout JSONWriter) {
    var writer = FieldWriter<Report>(json: consume json)
    var report = self
    report.visitReported(&writer)
    json = writer.json
  }
}

extension Report: JSONReadable {
  /// The reporter gets no state, outcome or revision: the report appears open, at revision 1.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self = .blank
    try readFields(from: &object, keepsAbsent: object.member("state") == nil)
    surroundings = try object.optional("surroundings")
    group = try object.optional("group")
  }
}

/// Request to report a message or a user.
public struct ReportDraft: Sendable {
  /// The message to report; exactly one of `message` and `user` is set.
  public var message: ID<Message>?
  /// The user to report.
  public var user: UserReference?
  /// The reason for the moderators: 1 to 1,000 Unicode scalars.
  public var reason: String
  /// Idempotency key of at most 64 bytes, unique per user: a repeated request creates no second report.
  public var clientID: String?

  /// Reads a report from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    message = try object.optional("message_id")
    user = try object.optional("user")
    reason = try object.string("reason")
    clientID = try object.optional("client_id")
  }
}

/// PATCH of a report. Absent members stay unchanged.
public struct ReportChange: Sendable {
  /// The new state; nil to keep the state. The server sets the moderator and the time of a decision.
  public var state: Report.State?
  /// The moderator to assign the report to, or its removal.
  public var assignee: Change<UserReference>
  /// The note about the action, of at most 1,000 Unicode scalars, or its removal.
  public var outcome: Change<String>
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// Reads a change of a report from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    state = try object.optionalWord("state")
    assignee = try object.change("assignee")
    outcome = try object.change("outcome")
    ifRevision = try object.optional("if_revision")
  }
}

/// Filter for reports.
public struct ReportFilter: Sendable {
  /// The state of the listed reports.
  public var state = Report.State.open
  /// The forum of the reported messages; nil for the whole site.
  public var forum: ID<Forum>?
  /// The reported user.
  public var user: ID<User>?
  /// The moderator that the reports are assigned to; nil for all reports.
  public var assignee: ID<User>?

  /// The grouping of a list of reports.
  public enum Grouping: String, Sendable, Hashable, CaseIterable {
    /// One entry for each reported user.
    case user
  }

  /// A filter for all open reports.
  public init() {}
}

/// The open reports about one user.
public struct ReportGroup: Sendable, Hashable {
  /// The number of open reports about the user, from 1.
  public var reportCount: Int
  /// The number of users that reported; rules and visitors do not count.
  public var reporterCount: Int
  /// Reported messages; the user counts as one if reported without a message.
  public var subjectCount: Int
  /// The subjects with the newest reports.
  public var subjects: [Subject]

  /// A reported message or the user, and its reports.
  public struct Subject: Sendable, Hashable {
    /// The newest report, with the surroundings of the message.
    public var report: Report
    /// The number of open reports about this message or user, from 1.
    public var reportCount: Int

    /// A subject with its newest report.
    public init(report: Report, reportCount: Int) {
      self.report = report
      self.reportCount = reportCount
    }
  }

  /// The open reports about a user, with their counts.
  public init(reportCount: Int, reporterCount: Int, subjectCount: Int, subjects: [Subject]) {
    self.reportCount = reportCount
    self.reporterCount = reporterCount
    self.subjectCount = subjectCount
    self.subjects = subjects
  }
}

extension ReportGroup: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    reportCount = try object.int("report_count")
    reporterCount = try object.int("reporter_count")
    subjectCount = try object.int("subject_count")
    subjects = try object.read("subjects")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("report_count", reportCount)
      json.field("reporter_count", reporterCount)
      json.field("subject_count", subjectCount)
      json.field("subjects", subjects)
    }
  }
}

extension ReportGroup.Subject: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    report = try object.read("report")
    reportCount = try object.int("report_count")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("report", report)
      json.field("report_count", reportCount)
    }
  }
}

/// PATCH of all reports about a user.
public struct ReportsChange: Sendable {
  /// The reported user.
  public var user: UserReference
  /// Nil for the whole site.
  public var forum: ID<Forum>?
  /// The new state: `acted` or `dismissed` closes the open reports, `open` reopens those closed at `handledAt`.
  public var state: Report.State
  /// The note about the action, of at most 1,000 Unicode scalars; nil without one.
  public var outcome: String?
  /// The time at which the reports to reopen were closed; nil to close open reports.
  public var handledAt: Int64?

  /// Reads a decision about reports from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    user = try object.read("user")
    forum = try object.optional("forum_id")
    state = try object.word("state")
    outcome = try object.optional("outcome")
    let handledAt: Timestamp? = try object.optional("handled_at")
    self.handledAt = handledAt.map { Int64($0.milliseconds) }
  }
}

/// The result of a `ReportsChange`.
public struct ReportsChanged: Sendable, Hashable, JSONReadable, JSONWritable {
  /// The number of changed reports.
  public var reportCount: Int
  /// The time by which they are reopened; nil if there are none, or if they are open now.
  public var handledAt: Int64?

  /// The number of changed reports; `handledAt` is in milliseconds since 1970.
  public init(reportCount: Int, handledAt: Int64?) {
    self.reportCount = reportCount
    self.handledAt = handledAt
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    reportCount = try object.int("report_count")
    let handledAt: Timestamp? = try object.optional("handled_at")
    self.handledAt = handledAt.map { Int64($0.milliseconds) }
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("report_count", reportCount)
      json.field("handled_at", handledAt.map { Timestamp($0) })
    }
  }
}
