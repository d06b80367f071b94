// Reports. A moderator sees the message as it was when reported, with its context: the reporter discloses them, even in
// conversations that the moderator cannot read.

public import ParleyModel
import Storage

extension Community {
  /// Reports a readable message or a user. Returns the existing report if the caller has an open one.
  public func createReport(
    _ draft: ReportDraft, by caller: Caller
  ) async throws(Refusal) -> (report: Report, isNew: Bool) {
    let reporter = try caller.requireUser(.write)
    let reason = try draft.checked(bounds).reason
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if let clientID = draft.clientID, let previous = try tx.remembered(.report, by: reporter, clientID) {
        guard let earlier = try tx.report(ID(previous.subject)) else { throw .gone }
        guard earlier.message == draft.message, earlier.reason == reason else { throw .clientIDReused }
        return (earlier, false)
      }
      let new = try tx.newReport(draft, reason, by: caller, bounds)
      guard new.user != reporter else { throw .invalid(new.message == nil ? "user" : "message_id", .mismatch) }
      if let id = try tx.openReport(by: reporter, of: new.user, new.message), let earlier = try tx.report(id) {
        return (earlier, false)
      }
      guard try tx.openReportCount(by: reporter) < bounds.openReports else {
        throw .tooMany(limit: bounds.openReports)
      }
      let id = try tx.add(new)
      try tx.notifyModerators(of: new, id, bounds)
      if let clientID = draft.clientID { try tx.remember(.report, by: reporter, clientID, subject: id.number) }
      guard let created = try tx.report(id) else { throw .unavailable }
      return (created, true)
    }
  }

  /// Reports a public message as a visitor. A message with some open reports of visitors needs no more: nothing is
  /// stored then.
  public func createVisitorReport(of message: ID<Message>, reason: String, by visitor: Caller) async throws(Refusal) {
    let reason = try Texts.block(reason, "reason", scalars: bounds.reasonScalars, atLeast: 1)
    let bounds = bounds
    try await store.write { tx throws(Refusal) in
      let new = try tx.newReport(of: message, by: visitor, reason, bounds)
      let limit = bounds.visitorReportsOfMessage
      guard try tx.visitorReportCount(of: message, upTo: limit) < limit else { return }
      let all = bounds.visitorReports
      guard try tx.visitorReportCount(of: nil, upTo: all) < all else { throw .tooMany(limit: all) }
      let id = try tx.add(new)
      try tx.notifyModerators(of: new, id, bounds)
    }
  }

  /// Assigns or closes a report. Closing it closes all reports of the same subject.
  public func updateReport(_ id: ID<Report>, _ change: ReportChange, by caller: Caller) async throws(Refusal) -> Report
  {
    let actor = try caller.requireUser(.write)
    if case .set(let text) = change.outcome { _ = try Texts.block(text, "outcome", scalars: bounds.reasonScalars) }
    let bounds = bounds
    let (closed, hasMore) = try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let before = try tx.report(id, for: caller)
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      var after = before
      after.outcome = change.outcome.applied(to: before.outcome)
      after.assignee = try tx.assignee(of: before, change, by: caller)
      if let state = change.state, state != before.state {
        after.state = state
        (after.handledBy, after.handledAt) = state == .open ? (nil, nil) : (actor, tx.now)
      }
      for action in before.audited(after) {
        try tx.audit(action, by: actor, subject: id.number, in: before.forum, reason: after.outcome)
      }
      try tx.publishHeldPost(of: before, &after, bounds)
      let closed = try tx.store(before, after, by: actor, bounds)
      // A held post is decided alone.
      let isClosed = closed.state != before.state && closed.state != .open && before.held == nil
      return (closed, try isClosed ? tx.closeDuplicates(like: closed, by: actor, bounds) : false)
    }
    var isMore = hasMore
    while isMore {
      isMore = try await store.write { tx throws(Refusal) in
        _ = try tx.report(id, for: try tx.reloadCaller(caller))
        return try tx.closeDuplicates(like: closed, by: actor, bounds)
      }
    }
    return closed
  }
}

extension WriteTransaction {
  private static let chunkSize = 100

  /// Returns whether there are more.
  fileprivate func closeDuplicates(
    like closed: Report, by actor: ID<User>, _ bounds: Bounds
  ) throws(Refusal) -> Bool {
    let others = try openReports(like: closed, limit: Self.chunkSize + 1)
    for id in others.prefix(Self.chunkSize) {
      try update(id, by: actor, bounds) { after in
        (after.state, after.outcome) = (closed.state, closed.outcome)
        (after.handledBy, after.handledAt) = (closed.handledBy, closed.handledAt)
      }
    }
    return others.count > Self.chunkSize
  }

  /// Changes a report and writes the audit log.
  func update(
    _ id: ID<Report>, by actor: ID<User>, _ bounds: Bounds, _ change: (inout Report) -> Void
  ) throws(Refusal) {
    guard let before = try report(id) else { return }
    var after = before
    change(&after)
    try publishHeldPost(of: before, &after, bounds)
    for action in before.audited(after) {
      try audit(action, by: actor, subject: id.number, in: before.forum, reason: after.outcome)
    }
    _ = try store(before, after, by: actor, bounds)
  }

  /// Stores a changed report. Its notifications need no attention after it is closed.
  fileprivate func store(
    _ before: Report, _ after: Report, by actor: ID<User>, _ bounds: Bounds
  ) throws(Refusal) -> Report {
    if before.state == .open, after.state != .open {
      let moderators = try moderators(in: before.forum, limit: bounds.reportRecipients)
      try markNotificationsRead(of: moderators, about: before.id, by: actor)
    }
    return try change(before, to: after)
  }

  /// Publishes the held post of a report that is dismissed.
  fileprivate func publishHeldPost(of before: Report, _ after: inout Report, _ bounds: Bounds) throws(Refusal) {
    guard after.state == .dismissed, before.state != .dismissed, let held = before.held else { return }
    try publish(held, of: &after, bounds)
  }

  /// Notifies the moderators of the site and of the forum.
  func notifyModerators(of report: NewReport, _ id: ID<Report>, _ bounds: Bounds) throws(Refusal) {
    for moderator in try moderators(in: report.forum, limit: bounds.reportRecipients)
    where moderator != report.reporter && moderator != report.user {
      try addNotification(.report, of: moderator, report: id, by: report.reporter)
    }
  }
}

extension CommunityView {
  /// Open or closed reports, newest first: all for site moderators, those of their forums for forum moderators.
  public func listReports(
    _ filter: ReportFilter, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<Report> {
    let viewer = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try tx.requireModerator(caller, in: filter.forum)
      return try ListPage(page, by: { ListKey($0.id) }, size: \.size) { slice throws(Refusal) in
        try tx.reports(filter, slice, viewer: viewer)
      }
    }
  }

  public func getReport(_ id: ID<Report>, for caller: Caller) throws(Refusal) -> Report {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in try tx.report(id, for: caller) }
  }
}

extension ReadTransaction {
  /// Finds a report for a moderator. Moderators do not see reports about themselves.
  fileprivate func report(_ id: ID<Report>, for caller: Caller) throws(Refusal) -> Report {
    guard let report = try report(id), let user = caller.user, try mayHandle(report, user, caller.role) else {
      throw .notFound
    }
    return report
  }

  /// Throws unless the caller moderates the site, or the forum if there is one.
  func requireModerator(_ caller: Caller, in forum: ID<Forum>?) throws(Refusal) {
    guard caller.role?.isModerator != true else { return }
    guard let forum else { throw .forbidden }
    try require(.moderate, caller, in: forum)
  }

  func mayHandle(_ report: Report, _ user: ID<User>, _ role: Role?) throws(Refusal) -> Bool {
    guard report.user != user else { return false }
    if role?.isModerator == true { return true }
    guard let forum = report.forum, let standing = try standing(of: user, in: forum) else { return false }
    return Permissions.rights(of: role, in: standing).contains(.moderate)
  }

  fileprivate func assignee(
    of report: Report, _ change: ReportChange, by caller: Caller
  ) throws(Refusal) -> ID<User>? {
    switch change.assignee {
    case .unchanged: return report.assignee
    case .cleared: return nil
    case .set(let reference):
      let found: User
      do throws(Refusal) { found = try user(reference, for: caller).user } catch .notFound {
        throw .invalid("assignee", .unknown)
      }
      let id = found.summary.id
      guard found.standing?.state == .active, try mayHandle(report, id, found.summary.role) else {
        throw .invalid("assignee", .mismatch)
      }
      return id
    }
  }

  fileprivate func newReport(
    _ draft: ReportDraft, _ reason: String, by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> NewReport {
    let reporter = try caller.requireUser()
    guard let id = draft.message else {
      do throws(Refusal) {
        let user = try user(draft.user ?? .me, for: caller).user.summary.id
        return NewReport(by: reporter, of: user, reason: reason)
      } catch .notFound {
        throw .invalid("user", .unknown)
      }
    }
    do throws(Refusal) {
      return try newReport(of: id, by: caller, reason, bounds)
    } catch .notFound {
      throw .invalid("message_id", .unknown)
    }
  }

  /// The report of a message that the caller may read.
  fileprivate func newReport(
    of id: ID<Message>, by caller: Caller, _ reason: String, _ bounds: Bounds
  ) throws(Refusal) -> NewReport {
    let found = try message(id, for: caller)
    guard found.message.tombstone == nil else { throw .gone }
    guard found.message.kind == .message else { throw .invalid("message_id", .invalid) }
    var report = NewReport(by: caller.user, of: found.message.author, reason: reason)
    report.message = id
    report.conversation = found.message.conversation
    report.forum = try forum(of: found.message.conversation)
    report.attach(
      found.message, context: try context(of: found, for: caller, bounds), maxBytes: bounds.reportContextBytes)
    return report
  }

  /// The neighbouring messages that the reporter may read.
  private func context(
    of found: ReadableMessage, for caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> [Message] {
    var query = MessageQuery(
      found.message.conversation, .around(found.message.id), order: .ascending, limit: bounds.reportContext + 1)
    query.fromSeq = Permissions.fromSeq(of: caller.role, in: found.standing)
    return try messages(query).messages
  }
}

extension Report {
  /// The changes to record in the audit log.
  fileprivate func audited(_ after: Report) -> [AuditedAction] {
    var actions: [AuditedAction] = []
    if after.assignee != assignee { actions.append(.reportAssigned) }
    guard after.state != state else { return actions }
    switch after.state {
    case .open: actions.append(.reportReopened)
    case .dismissed: actions.append(held == nil ? .reportDismissed : .postApproved)
    case .acted: actions.append(held == nil ? .reportActed : .postRejected)
    }
    return actions
  }
}

extension ReportDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> ReportDraft {
    var check = FieldChecks()
    check { () throws(Refusal) in
      _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars, atLeast: 1)
    }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    check { () throws(Refusal) in
      if message == nil, user == nil { throw .invalid("message_id", .missing) }
      if message != nil, user != nil { throw .invalid("user", .mismatch) }
    }
    try check.finish()
    return self
  }
}
