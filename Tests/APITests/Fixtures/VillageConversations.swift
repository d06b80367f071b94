import ParleyModel
import ParleyWire
import Testing

@testable import Community
@testable import Storage

extension Village {
  /// The id of a user.
  func user(_ name: String) -> ID<User> { ID(Int(id(name)) ?? 0) }

  /// Stores a message directly; returns its id.
  @discardableResult
  func post(_ text: String, in conversation: String, by name: String) async throws -> String {
    let message = NewMessage(conversation: ID(Int(conversation) ?? 0), author: user(name), text: text)
    return try await community.store.write { tx throws(Refusal) in try tx.post(message).id.description }
  }

  /// Waits until a long poll or socket has subscribed to a conversation.
  func waitForSubscriber(of conversation: String, at location: SourceLocation = #_sourceLocation) async throws {
    let stream = EventStream.conversation(ID(try #require(Int(conversation))))
    try await waitUntil(at: location) { community.hub.hasAudience(.stream(stream)) }
  }

  /// Stores a relation: `follow`, `mute` or `block`.
  func setRelation(_ name: String, _ kind: String, _ other: String) async throws {
    let (one, two) = (user(name), user(other))
    try await community.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute(
          "insert into relation (user_id, kind, other_id, created_at) values ($1, $2, $3, 1)", one.number, kind,
          two.number)
      }
    }
  }

  /// Creates a conversation over the API; returns its id.
  @discardableResult
  func conversation(
    _ kind: String, by name: String, with others: [String], _ more: [String: Any] = [:]
  ) async throws -> String {
    var body: [String: Any] = ["kind": kind, "participants": others.map { "@\($0)" }]
    body.merge(more) { _, new in new }
    let made = try await request(.post, "/conversations", as: name, body)
    #expect(made.status == 201, "\(made.text)")
    return made["id"] ?? "0"
  }

  @discardableResult
  func topic(_ title: String, in forum: String, by name: String) async throws -> String {
    let (forum, user) = (ID<Forum>(Int(forum) ?? 0), user(name))
    return try await community.store.write { tx throws(Refusal) in
      try tx.addTopic(title, in: forum, by: user).description
    }
  }

  /// A common forum, so that these users see each other.
  func shareForum(_ names: String...) async throws { try await forum("square", .members, names) }
}

extension Village {
  /// Sends a request and expects `status`.
  @discardableResult
  func expect(
    _ status: Int, _ method: Method, _ path: String, as name: String? = nil, _ body: [String: Any]? = nil,
    at location: SourceLocation = #_sourceLocation
  ) async throws -> Answer {
    let answer = try await request(method, path, as: name, body)
    #expect(answer.status == status, "\(method) \(path): \(answer.text)", sourceLocation: location)
    return answer
  }
}
