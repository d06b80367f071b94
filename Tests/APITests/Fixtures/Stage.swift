import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// A village with one object of every kind, and its viewers: ada (owner), grace and linus (members), gus (guest) and a
/// visitor.
struct Stage {
  let village: Village
  /// Public; grace is a member. Linus started its topic.
  let garden: (forum: String, room: String)
  let topic: String
  /// Private, with ada and grace.
  let den: (forum: String, room: String)
  /// Grace is its admin; linus and gus are participants.
  let group: String
  /// Between grace and linus.
  let direct: String
  /// Created by ada, readable by everyone; grace is a participant.
  let channel: String
  /// A message request from zoe to grace.
  let messageRequest: String
  /// In the garden's room, by grace; with an action of linus and one edit.
  let message: String
  /// In the group, by linus; a reply to grace's first message.
  let answer: String
  /// In the group, by grace.
  let first: String

  static let viewers: [String?] = ["ada", "grace", "linus", "gus", nil]

  init(_ village: Village) async throws {
    self.village = village
    try await village.forum("square", .members, ["ada", "grace", "linus", "robo", "gus"])
    try await village.addUser("zoe")
    garden = try await village.garden("garden", "public", members: ["grace"], ["write": "readers"])
    let made = try await village.expect(
      201, .post, "/forums/\(garden.forum)/conversations", as: "linus", ["title": "weeds", "text": "everywhere"])
    topic = try #require(made["conversation.id"] ?? made["id"])
    den = try await village.garden("den", "private", members: ["grace"])
    group = try await village.conversation("group", by: "grace", with: ["linus", "gus"], ["title": "seeds"])
    direct = try await village.conversation("direct", by: "grace", with: ["linus"])
    channel = try await village.conversation(
      "channel", by: "ada", with: ["grace"], ["type": "com.example.news", "readers": ["open_to": "anyone"]])
    messageRequest = try await village.conversation("direct", by: "zoe", with: ["grace"])
    message = try await village.post("plums", in: garden.room, as: "grace")
    try await village.expect(200, .put, "/messages/\(message)/actions/like", as: "linus")
    try await village.expect(200, .patch, "/messages/\(message)", as: "grace", ["text": "pears"])
    first = try await village.post("who comes?", in: group, as: "grace")
    answer = try await village.post("I do", in: group, as: "linus", ["reply_to": first])
    try await village.post("hello", in: direct, as: "linus")
    try await village.post("news", in: channel, as: "ada")
    try await village.post("hidden", in: den.room, as: "grace")
  }

  /// A client for each viewer, subscribed to the forums, the channel and the garden's room.
  func clients() async throws -> [ReplicaClient] {
    var clients: [ReplicaClient] = []
    for name in Self.viewers {
      clients.append(
        try await ReplicaClient(
          village, name, forums: [garden.forum, den.forum], reading: [channel, garden.room, topic]))
    }
    return clients
  }

  @discardableResult
  func request(
    _ method: ParleyWire.Method, _ path: String, as name: String? = nil, _ body: [String: Any]? = nil,
    at location: SourceLocation = #_sourceLocation
  ) async throws -> Answer {
    let answer = try await village.request(method, path, as: name, body)
    #expect((200..<300).contains(answer.status), "\(method.name) \(path): \(answer.text)", sourceLocation: location)
    return answer
  }

  func id(_ name: String) -> String { village.id(name) }
}
