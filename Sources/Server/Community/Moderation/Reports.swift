// Saying that something is not in order, and judging it. Who judges sees the message as it was when it was reported, with
// what stood around it: whoever reports shows it to them, also where they don't read themselves.

public import ParleyModel
import Storage

extension Community {
  /// Reports a message that the caller reads, or a person. What the caller has reported already, and what still waits, is
  /// not reported twice.
  public func report(
    _ draft: ReportDraft, by caller: Caller
  ) async throws(Refusal) -> (report: Report, isNew: Bool) {
    let reporter = try caller.person(for: .write)
    let reason = try Texts.block(draft.reason, "reason", scalars: bounds.reasonScalars, least: 1)
    if let clientID = draft.clientID { try Texts.checkClientID(clientID, bounds) }
    guard draft.message != nil || draft.account != nil else { throw .invalid("message_id", .missing) }
    guard draft.message == nil || draft.account == nil else { throw .invalid("user", .mismatch) }
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if let clientID = draft.clientID, let made = try tx.remembered(.report, by: reporter, clientID) {
        guard let earlier = try tx.report(ID(made.subject)) else { throw .gone }
        guard earlier.message == draft.message, earlier.reason == reason else { throw .clientIDReused }
        return (earlier, false)
      }
      let new = try tx.newReport(draft, reason, by: caller, bounds)
      guard new.account != reporter else { throw .invalid(new.message == nil ? "user" : "message_id", .mismatch) }
      if let id = try tx.openReport(by: reporter, of: new.account, new.message), let earlier = try tx.report(id) {
        return (earlier, false)
      }
      guard try tx.openReportCount(by: reporter) < bounds.openReports else {
        throw .tooMany(limit: bounds.openReports)
      }
      let id = try tx.add(new)
      for keeper in try tx.keepersOfOrder(in: new.forum, limit: bounds.reportRings)
      where keeper != reporter && keeper != new.account {
        try tx.addToInbox(.report, of: keeper, report: id, by: reporter)
      }
      if let clientID = draft.clientID { try tx.remember(.report, by: reporter, clientID, subject: id.number) }
      guard let made = try tx.report(id) else { throw .unavailable }
      return (made, true)
    }
  }

  /// Takes it on, or gives it to somebody, and says what became of it. What others have reported of the same thing is judged
  /// with it.
  public func change(_ id: ID<Report>, _ change: ReportChange, by caller: Caller) async throws(Refusal) -> Report {
    let actor = try caller.person(for: .write)
    if case .set(let text) = change.outcome { _ = try Texts.block(text, "outcome", scalars: bounds.reasonScalars) }
    let (judged, hasMore) = try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
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
      let judged = try tx.change(before, to: after)
      let isJudged = judged.state != before.state && judged.state != .open
      return (judged, try isJudged ? tx.judgeOthers(like: judged, by: actor) : false)
    }
    var isMore = hasMore
    while isMore {
      isMore = try await store.write { tx throws(Refusal) in
        _ = try tx.report(id, for: try tx.renewed(caller))
        return try tx.judgeOthers(like: judged, by: actor)
      }
    }
    return judged
  }
}

extension WriteTransaction {
  private static let judgedAtOnce = 100

  /// Whether there are more.
  fileprivate func judgeOthers(like judged: Report, by actor: ID<Account>) throws(Refusal) -> Bool {
    let others = try openReports(like: judged, limit: Self.judgedAtOnce + 1)
    for id in others.prefix(Self.judgedAtOnce) {
      guard let before = try report(id) else { continue }
      var after = before
      (after.state, after.outcome) = (judged.state, judged.outcome)
      (after.handledBy, after.handledAt) = (judged.handledBy, judged.handledAt)
      for action in before.audited(after) {
        try audit(action, by: actor, subject: id.number, in: before.forum, reason: after.outcome)
      }
      _ = try change(before, to: after)
    }
    return others.count > Self.judgedAtOnce
  }
}

extension CommunityView {
  /// What waits, or was judged, the newest first: all for those who keep order at the place, those of a forum for those
  /// who keep order there. One more than `limit`, where there are more.
  public func reports(
    _ filter: ReportFilter, before last: ID<Report>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Report] {
    let viewer = try caller.person()
    return try read { tx throws(Refusal) in
      if caller.role?.keepsOrder != true {
        guard let forum = filter.forum else { throw .forbidden }
        try tx.require(.moderate, caller, in: forum)
      }
      return try tx.reports(filter, before: last, limit: limit + 1, viewer: viewer)
    }
  }

  public func report(_ id: ID<Report>, for caller: Caller) throws(Refusal) -> Report {
    _ = try caller.person()
    return try read { tx throws(Refusal) in try tx.report(id, for: caller) }
  }
}

extension ReadTransaction {
  /// For those who judge it: nobody judges what is about themselves.
  fileprivate func report(_ id: ID<Report>, for caller: Caller) throws(Refusal) -> Report {
    guard let report = try report(id), let account = caller.account, try mayJudge(report, account, caller.role) else {
      throw .notFound
    }
    return report
  }

  private func mayJudge(_ report: Report, _ account: ID<Account>, _ role: Role?) throws(Refusal) -> Bool {
    guard report.account != account else { return false }
    if role?.keepsOrder == true { return true }
    guard let forum = report.forum, let standing = try standing(of: account, in: forum) else { return false }
    return Permissions.rights(of: role, in: standing).contains(.moderate)
  }

  fileprivate func assignee(
    of report: Report, _ change: ReportChange, by caller: Caller
  ) throws(Refusal) -> ID<Account>? {
    switch change.assignee {
    case .unchanged: return report.assignee
    case .cleared: return nil
    case .set(let reference):
      let found: Person
      do throws(Refusal) { found = try person(reference, for: caller).person } catch .notFound {
        throw .invalid("assignee", .unknown)
      }
      let id = found.account.id
      guard found.standing?.state == .active, try mayJudge(report, id, found.account.role) else {
        throw .invalid("assignee", .mismatch)
      }
      return id
    }
  }

  fileprivate func newReport(
    _ draft: ReportDraft, _ reason: String, by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> NewReport {
    let reporter = try caller.person()
    guard let id = draft.message else {
      do throws(Refusal) {
        let account = try person(draft.account ?? .me, for: caller).person.account.id
        return NewReport(by: reporter, of: account, reason: reason)
      } catch .notFound {
        throw .invalid("user", .unknown)
      }
    }
    let found: FoundMessage
    do throws(Refusal) { found = try message(id, for: caller) } catch .notFound {
      throw .invalid("message_id", .unknown)
    }
    guard found.message.tombstone == nil else { throw .gone }
    guard found.message.kind == .message else { throw .invalid("message_id", .invalid) }
    var report = NewReport(by: reporter, of: found.message.author, reason: reason)
    report.message = id
    report.conversation = found.message.conversation
    report.forum = try forum(of: found.message.conversation)
    report.show(
      found.message, among: try surroundings(of: found, for: caller, bounds), mostBytes: bounds.reportSurroundingsBytes)
    return report
  }

  /// As much of what stands around it as the reporter reads, and as is needed to understand it.
  private func surroundings(
    of found: FoundMessage, for caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> [Message] {
    var query = MessageQuery(
      found.message.conversation, .around(found.message.id), order: .ascending, limit: bounds.reportSurroundings + 1)
    query.fromSeq = Permissions.fromSeq(of: caller.role, in: found.standing)
    return try messages(query).messages
  }
}

extension Report {
  /// What of a change others should be able to look up.
  fileprivate func audited(_ after: Report) -> [AuditedAction] {
    var actions: [AuditedAction] = []
    if after.assignee != assignee { actions.append(.reportAssigned) }
    guard after.state != state else { return actions }
    switch after.state {
    case .open: actions.append(.reportReopened)
    case .dismissed: actions.append(.reportDismissed)
    case .acted: actions.append(.reportActed)
    }
    return actions
  }
}
