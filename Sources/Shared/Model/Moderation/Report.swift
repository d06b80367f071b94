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
  /// Nil for a rule, and for a visitor.
  public var reporter: ID<User>?
  /// The rule that made the report. It may be deleted.
  public var rule: ID<ModerationRule>?
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
  /// The post that waits for a moderator. Dismissing the report publishes it; acting on the report rejects it.
  public var held: HeldPost?
  public var state = State.open
  /// Moderator assigned to the report.
  public var assignee: ID<User>?
  /// Note about the action.
  public var outcome: String?
  public var handledBy: ID<User>?
  public var handledAt: Int64?
  public var createdAt: Int64
  public var revision = 1
  /// All open reports about the user, in a list that is grouped by users.
  public var group: ReportGroup?
}

extension Report: Record {
  public static let blank = Report(id: ID(0), user: ID(0), reason: "", createdAt: 0)

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
  /// The approximate size of the JSON in bytes, without a group.
  public var size: Int {
    512 + reason.utf8.count + (copy?.bytes.count ?? 0) + (surroundings?.bytes.count ?? 0) + (held?.text.utf8.count ?? 0)
      + (held?.annotations?.bytes.count ?? 0)
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

  /// The grouping of a list of reports.
  public enum Grouping: String, Sendable, Hashable, CaseIterable {
    case user
  }

  public init() {}
}

/// The open reports about one user.
public struct ReportGroup: Sendable, Hashable {
  public var reportCount: Int
  public var reporterCount: Int
  /// Reported messages; the user counts as one if reported without a message.
  public var subjectCount: Int
  /// The subjects with the newest reports.
  public var subjects: [Subject]

  public struct Subject: Sendable, Hashable {
    /// The newest report, with the surroundings of the message.
    public var report: Report
    public var reportCount: Int

    public init(report: Report, reportCount: Int) {
      self.report = report
      self.reportCount = reportCount
    }
  }

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
  public var user: UserReference
  /// Nil for the whole site.
  public var forum: ID<Forum>?
  public var state: Report.State
  public var outcome: String?
  /// The time at which the reports to reopen were closed; nil to close open reports.
  public var handledAt: Int64?

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
  public var reportCount: Int
  /// The time by which they are reopened; nil if there are none, or if they are open now.
  public var handledAt: Int64?

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
