import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// A village in which something of everything is there to be changed, and those who look on: ada, who owns the place, grace
/// and linus, gus, who is a guest, and a visitor.
struct Stage {
  let village: Village
  /// Open to everyone; grace is a member. Its topic was started by linus.
  let garden: (forum: String, room: String)
  let topic: String
  /// Of ada and grace alone.
  let den: (forum: String, room: String)
  /// Grace leads it; linus and gus are in it.
  let group: String
  /// Of grace and linus.
  let direct: String
  /// Ada's, which everyone reads; grace takes part.
  let channel: String
  /// What zoe, a stranger, wants of grace.
  let request: String
  /// In the garden's room, by grace; marked by linus, and once edited.
  let word: String
  /// In the group, by linus; an answer to grace's first.
  let answer: String
  /// In the group, by grace.
  let first: String

  static let viewers: [String?] = ["ada", "grace", "linus", "gus", nil]

  init(_ village: Village) async throws {
    self.village = village
    try await village.forum("square", .members, ["ada", "grace", "linus", "robo", "gus"])
    try await village.settle("zoe")
    garden = try await village.garden("garden", "public", members: ["grace"], ["write": "readers"])
    let made = try await village.expect(
      201, .post, "/forums/\(garden.forum)/conversations", as: "linus", ["title": "weeds", "text": "everywhere"])
    topic = try #require(made["conversation.id"] ?? made["id"])
    den = try await village.garden("den", "private", members: ["grace"])
    group = try await village.talk("group", by: "grace", with: ["linus", "gus"], ["title": "seeds"])
    direct = try await village.talk("direct", by: "grace", with: ["linus"])
    channel = try await village.talk(
      "channel", by: "ada", with: ["grace"], ["type": "com.example.news", "readers": ["open_to": "anyone"]])
    request = try await village.talk("direct", by: "zoe", with: ["grace"])
    word = try await village.say("plums", in: garden.room, as: "grace")
    try await village.expect(200, .put, "/messages/\(word)/actions/like", as: "linus")
    try await village.expect(200, .patch, "/messages/\(word)", as: "grace", ["text": "pears"])
    first = try await village.say("who comes?", in: group, as: "grace")
    answer = try await village.say("I do", in: group, as: "linus", ["reply_to": first])
    try await village.say("hello", in: direct, as: "linus")
    try await village.say("news", in: channel, as: "ada")
    try await village.say("hidden", in: den.room, as: "grace")
  }

  /// A client of each viewer, who follow the forums and read the channel and the room of the garden.
  func followers() async throws -> [Follower] {
    var followers: [Follower] = []
    for name in Self.viewers {
      followers.append(
        try await Follower(
          village, name, forums: [garden.forum, den.forum], reading: [channel, garden.room, topic]))
    }
    return followers
  }

  @discardableResult
  func ask(
    _ method: ParleyWire.Method, _ path: String, as name: String? = nil, _ body: [String: Any]? = nil,
    at location: SourceLocation = #_sourceLocation
  ) async throws -> Answer {
    let answer = try await village.ask(method, path, as: name, body)
    #expect((200..<300).contains(answer.status), "\(method.name) \(path): \(answer.text)", sourceLocation: location)
    return answer
  }

  func id(_ name: String) -> String { village.id(name) }
}
