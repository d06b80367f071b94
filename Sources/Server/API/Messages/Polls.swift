import Community
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func setVote(_ context: RequestContext) async throws -> Response {
    let options: [Int] = try await context.body { body in try body.read("options") }
    return .one(try await context.community.setVote(try context.id(), for: options, by: context.caller))
  }

  @Sendable static func listVotes(_ context: RequestContext) async throws -> Response {
    let (option, page, include) = try context.query { query in
      (try query.int("option", in: 0...Poll.optionCounts.upperBound - 1), try query.page(), try query.include())
    }
    return try .page(
      try context.view.listVotes(in: try context.id(), option: option, page, for: context.caller), including: include,
      context)
  }

  @Sendable static func closePoll(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.closePoll(of: try context.id(), by: context.caller))
  }
}
