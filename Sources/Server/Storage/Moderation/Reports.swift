// Reports with a copy of the reported message. The copy expires (`Expiry.swift`); the context is deleted when the
// report is closed.

import ParleyJSON
public import ParleyModel
import ParleySQLite

/// A new report, validated by the Community layer.
public struct NewReport: Sendable {
  /// Nil for a rule, and for a visitor.
  public let reporter: ID<User>?
  public let rule: ID<ModerationRule>?
  public let user: ID<User>
  public let reason: String
  public var message: ID<Message>?
  public var conversation: ID<Conversation>?
  public var forum: ID<Forum>?
  /// JSON: the message, and an array of adjacent messages.
  private(set) var copy: String?
  private(set) var surroundings: String?
  fileprivate var held: HeldPost?

  public init(by reporter: ID<User>?, of user: ID<User>, reason: String) {
    self.reporter = reporter
    rule = nil
    self.user = user
    self.reason = reason
  }

  /// The report of a rule, about a message or a held post.
  public init(by rule: ModerationRule, of user: ID<User>, holding held: HeldPost? = nil) {
    reporter = nil
    self.rule = rule.id
    self.user = user
    reason = rule.name
    self.held = held
  }

  /// Stores the message and as many adjacent messages as fit into `maxBytes`.
  public mutating func attach(_ message: Message, context others: [Message], maxBytes: Int) {
    copy = message.jsonText
    var around: [String] = []
    var left = maxBytes
    for text in others.filter({ $0.id != message.id }).map(\.jsonText) {
      left -= text.utf8.count
      if left >= 0 { around.append(text) }
    }
    surroundings = "[\(around.joined(separator: ","))]"
  }
}

extension ReadTransaction {
  /// The report with its context, if still stored.
  public func report(_ id: ID<Report>) throws(Refusal) -> Report? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Report.columns), surroundings
          from report
          where id = $1 and user_id is not null
          """), id.number
      ) { row in
        var report = try Report(row)
        report.surroundings = try row.optionalText("surroundings").map { JSONRaw(trusted: Array($0.utf8)) }
        return report
      }
    }
  }

  /// Reports, newest first, without those about `viewer`.
  public func reports(
    _ wanted: ReportFilter, _ slice: ListSlice, viewer: ID<User>
  ) throws(Refusal) -> [Report] {
    let page = Keyset(slice, .descending)
    var filter = Filter()
    filter.add(wanted.state.rawValue) { "state = \($0)" }
    filter.add(page.number()) { "id \(page.comparison) \($0)" }
    filter.add(viewer.number) { "user_id <> \($0)" }
    filter.add(wanted.forum?.number) { "forum_id = \($0)" }
    filter.add(wanted.user?.number) { "user_id = \($0)" }
    filter.add(wanted.assignee?.number) { "assignee_id = \($0)" }
    return try run { connection in
      try filter.all(limit: slice.limit, connection) { conditions, limit in
        """
        select \(Report.columns)
        from report
        where \(conditions)
        order by id \(page.order)
        limit \(limit)
        """
      } _: { row in
        try Report(row)
      }
    }
  }

  /// The open report of a user about the same message or user.
  public func openReport(
    by reporter: ID<User>, of user: ID<User>, _ message: ID<Message>?
  ) throws(Refusal) -> ID<Report>? {
    try run { connection in
      try connection.first(
        """
        select id
        from report
        where reporter_id = $1 and state = 'open' and message_id is $2 and user_id = $3
        """, reporter.number, message?.number, user.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Other open reports about the same message, or about the same user without a message.
  public func openReports(like report: Report, limit: Int) throws(Refusal) -> [ID<Report>] {
    try run { connection in
      guard let message = report.message else {
        return try connection.all(
          """
          select id
          from report
          where user_id = $1 and state = 'open' and message_id is null and held is null and id <> $2
          order by id
          limit $3
          """, report.user.number, report.id.number, limit
        ) { row in ID(try row.int(0)) }
      }
      return try connection.all(
        """
        select id
        from report
        where message_id = $1 and state = 'open' and id <> $2
        order by id
        limit $3
        """, message.number, report.id.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Moderators of the site and of a forum, up to `limit` each.
  public func moderators(in forum: ID<Forum>?, limit: Int) throws(Refusal) -> [ID<User>] {
    try run { connection in
      let everywhere = try connection.all(
        """
        select id
        from account
        where role in ('owner', 'admin', 'moderator') and state = 'active' and imported = 0
        limit $1
        """, limit
      ) { row in ID<User>(try row.int(0)) }
      guard let forum else { return everywhere.sorted() }
      let here = try connection.all(
        """
        select m.user_id
        from forum_member m
        join account a on a.id = m.user_id
        where m.forum_id = $1 and m.role in ('moderator', 'admin') and a.state = 'active'
        limit $2
        """, forum.number, limit
      ) { row in ID<User>(try row.int(0)) }
      return Set(everywhere + here).sorted()
    }
  }

  /// The number of open reports by visitors, counted up to `limit`.
  ///
  /// - Parameter message: nil for all messages.
  public func visitorReportCount(of message: ID<Message>?, upTo limit: Int) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from (
          select 1
          from report
          where reporter_id is null and state = 'open' and rule_id is null and ($1 is null or message_id = $1)
          limit $2
        ) found
        """, message?.number, limit
      ) { row in try row.int(0) } ?? 0
    }
  }

  public func openReportCount(by reporter: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from report
        where reporter_id = $1 and state = 'open'
        """, reporter.number
      ) { row in try row.int(0) } ?? 0
    }
  }
}

extension WriteTransaction {
  /// Retention of the copy of a reported message, in milliseconds.
  public static let reportCopyTime: Int64 = 90 * 86_400_000

  public func add(_ report: NewReport) throws(Refusal) -> ID<Report> {
    let id = nextID()
    let held = report.held?.storedText
    let until = report.copy == nil && held == nil ? nil : Int(now + Self.reportCopyTime)
    try run { connection in
      try connection.execute(
        """
        insert into report (
          id, reporter_id, user_id, message_id, conversation_id, forum_id, reason, copy, surroundings, copy_until,
          created_at, rule_id, held)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        """, id, report.reporter?.number, report.user.number, report.message?.number, report.conversation?.number,
        report.forum?.number, report.reason, report.copy, report.surroundings, until, Int(now),
        report.rule?.number, held)
    }
    if let held = report.held { try keep(held.attachments, for: ID(id)) }
    return ID(id)
  }

  /// Stores the changed fields of a report. Closing it deletes the context.
  public func change(_ before: Report, to report: Report) throws(Refusal) -> Report {
    guard report != before else { return before }
    var report = report
    report.revision = before.revision + 1
    let dropsContext = report.state != .open && before.surroundings != nil
    if dropsContext { report.surroundings = nil }
    var others: [StoredColumn] = dropsContext ? [("surroundings", .null)] : []
    let releases = report.held == nil && before.held != nil
    if releases, report.copy == nil { others.append(("copy_until", .null)) }
    try update("report", report.id.number, set: report.columns(since: before) + others)
    if releases { try releaseFiles(heldBy: report.id) }
    if dropsContext || releases { try recordDestruction() }
    return report
  }
}

extension Report {
  fileprivate static let columns = columns()

  fileprivate init(_ row: borrowing Row) throws {
    self = .blank
    try readFields(row, from: 0)
  }
}
