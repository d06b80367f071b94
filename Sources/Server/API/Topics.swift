import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listTopics(_ call: Call) async throws -> Response {
    let (limit, next) = try call.query { query in (try query.limit(), try query.nextPair()) }
    let last = next.map { (isPinned: $0.0 == 1, activity: $0.1) }
    let found = try call.view.topics(of: try call.id(), after: last, limit: limit, for: call.caller)
    return .page(found, limit: limit) { "\($0.isPinned ? 1 : 0).\($0.activity)" }
  }

  @Sendable static func startTopic(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try TopicDraft(&body) }
    let made = try await call.community.startTopic(draft, in: try call.id(), by: call.caller)
    return .one(made.topic, made.isNew ? .created : .ok)
  }

  @Sendable static func changeTopic(_ call: Call) async throws -> Response {
    let id: ID<Conversation> = try call.id()
    let change = try await call.body { body in try TopicChange(&body) }
    return try await call.changed {
      try await call.community.changeTopic(id, change, by: call.caller)
    } now: {
      try call.view.topic(id, for: call.caller)
    }
  }
}
