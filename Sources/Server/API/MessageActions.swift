import Community
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func setAction(_ call: Call) async throws -> Response {
    .one(try await call.community.mark(try call.id(), as: try call.actionType(), by: call.caller))
  }

  @Sendable static func removeAction(_ call: Call) async throws -> Response {
    try await call.community.unmark(try call.id(), as: try call.actionType(), by: call.caller)
    return Response(.noContent)
  }

  /// `next` is the person and the type of the last.
  @Sendable static func listActions(_ call: Call) async throws -> Response {
    let (type, limit, next) = try call.query { query in
      (try query.text("type"), try query.limit(), try query.text("next"))
    }
    let after = try next.map { text throws(Refusal) -> (type: String, user: ID<Account>) in
      let parts = text.split(separator: ".", maxSplits: 1)
      guard parts.count == 2, let user = ID<Account>(String(parts[0])) else { throw .invalid("next", .invalid) }
      return (type: String(parts[1]), user: user)
    }
    let found = try call.view.actions(on: try call.id(), type: type, after: after, limit: limit, for: call.caller)
    return .page(found, limit: limit) { "\($0.user).\($0.type)" }
  }

  @Sendable static func listOwnActions(_ call: Call) async throws -> Response {
    let (name, limit, next, show) = try call.query { query in
      (try query.text("type"), try query.limit(), try query.nextTime(), try query.show())
    }
    guard let name else { throw Refusal.invalid("type", .missing) }
    guard let type = ActionType(name) else { throw Refusal.invalid("type", .invalid) }
    let page = try await call.community.marked(as: type, before: next, limit: limit, show, for: call.caller)
    return .page(page.messages, next: page.next.map { "\($0.time).\($0.message)" })
  }
}

extension Call {
  fileprivate func actionType() throws(Refusal) -> ActionType {
    guard let type = request.parameters["type"].flatMap({ ActionType($0) }) else { throw .invalid("type", .invalid) }
    return type
  }
}
