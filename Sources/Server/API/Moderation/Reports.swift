import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func createReport(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try ReportDraft(&body) }
    let (report, isNew) = try await context.community.createReport(draft, by: context.caller)
    // Only moderators see the report's outcome.
    return .object(isNew ? .created : .ok) { json in report.writeReported(to: &json) }
  }

  @Sendable static func listReports(_ context: RequestContext) async throws -> Response {
    let (filter, user, assignee, grouping, page, include) = try context.query { query in
      var filter = ReportFilter()
      filter.state = try query.word("state") ?? .open
      filter.forum = try query.id("forum")
      return (
        filter, try query.reference("user"), try query.reference("assignee"), try query.grouping(), try query.page(),
        try query.include()
      )
    }
    var resolved = filter
    resolved.user = try context.userID(user, "user")
    resolved.assignee = try context.userID(assignee, "assignee")
    let found =
      switch grouping {
      case .user: try await context.community.listReportGroups(resolved, page, for: context.caller)
      case nil: try context.view.listReports(resolved, page, for: context.caller)
      }
    return try .page(found, including: include, context)
  }

  @Sendable static func getReport(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    let report = try context.view.getReport(try context.id(), for: context.caller)
    return try .one(report, tagged: report.tag, including: include, context)
  }

  @Sendable static func updateReports(_ context: RequestContext) async throws -> Response {
    let change = try await context.body { body in try ReportsChange(&body) }
    return .one(try await context.community.updateReports(change, by: context.caller))
  }

  @Sendable static func updateReport(_ context: RequestContext) async throws -> Response {
    let id: ID<Report> = try context.id()
    let change = try await context.body { body in try ReportChange(&body) }
    return try await context.changed {
      try await context.community.updateReport(id, change, by: context.caller)
    } now: {
      try context.view.getReport(id, for: context.caller)
    }
  }
}

extension Report {
  /// The revision, and the number of copies: their removal does not change the revision.
  fileprivate var tag: String {
    let copies = [copy?.bytes.count, held.map { _ in 1 }, surroundings?.bytes.count]
    return "\(revision)-" + copies.map { "\($0 ?? 0)" }.joined(separator: "-")
  }
}

extension Query {
  fileprivate mutating func grouping() throws(Refusal) -> ReportFilter.Grouping? { try word("group") }
}
