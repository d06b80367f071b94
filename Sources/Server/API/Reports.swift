import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func report(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try ReportDraft(&body) }
    let (report, isNew) = try await call.community.report(draft, by: call.caller)
    // What becomes of it is for those who judge.
    return .object(isNew ? .created : .ok) { json in report.writeReported(to: &json) }
  }

  @Sendable static func listReports(_ call: Call) async throws -> Response {
    let (filter, user, assignee, limit, next) = try call.query { query in
      var filter = ReportFilter()
      filter.state = try query.word("state") ?? .open
      filter.forum = try query.id("forum")
      let next: ID<Report>? = try query.id("next")
      return (filter, try query.reference("user"), try query.reference("assignee"), try query.limit(), next)
    }
    var wanted = filter
    wanted.account = try call.account(user, "user")
    wanted.assignee = try call.account(assignee, "assignee")
    let found = try call.view.reports(wanted, before: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.id.description }
  }

  @Sendable static func showReport(_ call: Call) async throws -> Response {
    let report = try call.view.report(try call.id(), for: call.caller)
    return .one(report).tagged("\(report.revision)-\(report.copy == nil ? 0 : 1)")
  }

  @Sendable static func changeReport(_ call: Call) async throws -> Response {
    let id: ID<Report> = try call.id()
    let change = try await call.body { body in try ReportChange(&body) }
    return try await call.changed {
      try await call.community.change(id, change, by: call.caller)
    } now: {
      try call.view.report(id, for: call.caller)
    }
  }
}
