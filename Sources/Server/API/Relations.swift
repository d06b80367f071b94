import Community
import ParleyModel
import Web

extension API {
  static func set(_ relation: Relation) -> Endpoint.Answer {
    { call in
      try await call.community.set(relation, to: try call.reference(), by: call.caller)
      return Response(.noContent)
    }
  }

  static func end(_ relation: Relation) -> Endpoint.Answer {
    { call in
      try await call.community.end(relation, to: try call.reference(), by: call.caller)
      return Response(.noContent)
    }
  }

  /// Whom one has muted or blocked oneself.
  static func list(_ relation: Relation) -> Endpoint.Answer {
    { call in
      let (limit, next) = try call.pageOfPeople()
      let found = try call.view.people(relation, after: next, limit: limit, for: call.caller)
      return .page(found, limit: limit) { $0.account.id.description }
    }
  }

  @Sendable static func listFollowing(_ call: Call) async throws -> Response {
    let (limit, next) = try call.pageOfPeople()
    let found = try call.view.following(try call.reference(), after: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.account.id.description }
  }

  @Sendable static func listFollowers(_ call: Call) async throws -> Response {
    let (limit, next) = try call.pageOfPeople()
    let found = try call.view.followers(try call.reference(), after: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.account.id.description }
  }
}

extension Call {
  fileprivate func pageOfPeople() throws -> (limit: Int, next: ID<Account>?) {
    try query { query in (try query.limit(), try query.id("next")) }
  }
}
