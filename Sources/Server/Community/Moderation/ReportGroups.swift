// Reports about one user: their list, and one decision about all of them.

public import ParleyModel
import Storage

extension Community {
  /// The newest report about each user with open reports, with its group; users with the most reports first. Read in
  /// the background, since it counts all open reports.
  public func listReportGroups(
    _ filter: ReportFilter, _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<Report> {
    let viewer = try caller.requireUser()
    guard filter.state == .open else { throw .invalid("state", .invalid) }
    let subjects = bounds.reportGroupSubjects
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.requireModerator(try tx.reloadCaller(caller), in: filter.forum)
      return try ListPage(page, by: { ListKey([$0.group?.reportCount ?? 0, $0.id.number]) }, size: { $0.groupSize }) {
        slice throws(Refusal) in try tx.reportGroups(filter, slice, viewer: viewer, subjects: subjects)
      }
    }
  }

  /// Closes all open reports about a user, or reopens those that the caller closed at `handledAt`.
  public func updateReports(_ change: ReportsChange, by caller: Caller) async throws(Refusal) -> ReportsChanged {
    let actor = try caller.requireUser(.write)
    if let text = change.outcome { _ = try Texts.block(text, "outcome", scalars: bounds.reasonScalars) }
    let reopens = change.state == .open
    guard reopens == (change.handledAt != nil) else {
      throw .invalid("handled_at", reopens ? .missing : .mismatch)
    }
    let bounds = bounds
    var changed = ReportsChanged(reportCount: 0, handledAt: nil)
    while true {
      let before = changed.handledAt
      let (handled, time) = try await store.write { tx throws(Refusal) in
        let user = try tx.reportedUser(change, for: try tx.reloadCaller(caller))
        return (try tx.handle(change, of: user, by: actor, at: before ?? tx.now, bounds), before ?? tx.now)
      }
      changed.reportCount += handled.count
      if handled.count > 0, !reopens { changed.handledAt = time }
      if !handled.hasMore { return changed }
    }
  }
}

extension ReadTransaction {
  /// Finds the user for a moderator. Moderators do not handle reports about themselves.
  fileprivate func reportedUser(_ change: ReportsChange, for caller: Caller) throws(Refusal) -> ID<User> {
    try requireModerator(caller, in: change.forum)
    let user: ID<User>
    do throws(Refusal) {
      user = try self.user(change.user, for: caller).user.summary.id
    } catch .notFound {
      throw .invalid("user", .unknown)
    }
    guard user != caller.user else { throw .invalid("user", .mismatch) }
    return user
  }
}

extension WriteTransaction {
  fileprivate static let reportChunk = 100

  /// Returns the number of changed reports, and whether there may be more. A report whose held post may not be published any
  /// more stays as it is.
  fileprivate func handle(
    _ change: ReportsChange, of user: ID<User>, by actor: ID<User>, at time: Int64, _ bounds: Bounds
  ) throws(Refusal) -> (count: Int, hasMore: Bool) {
    let ids =
      if let closed = change.handledAt {
        try reports(of: user, in: change.forum, handledBy: actor, at: closed, limit: Self.reportChunk)
      } else {
        try openReports(of: user, in: change.forum, limit: Self.reportChunk)
      }
    var count = 0
    for id in ids {
      do throws(Refusal) {
        try update(id, by: actor, bounds) { after in
          after.state = change.state
          if let outcome = change.outcome { after.outcome = outcome }
          (after.handledBy, after.handledAt) = change.state == .open ? (nil, nil) : (actor, time)
        }
        count += 1
      } catch .conflict {}
    }
    return (count, count > 0 && ids.count == Self.reportChunk)
  }
}

extension Report {
  /// The size with the reports of the group.
  fileprivate var groupSize: Int { (group?.subjects ?? []).reduce(size) { $0 + $1.report.size } }
}
