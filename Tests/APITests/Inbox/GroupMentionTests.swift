import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Mentions of groups of users.
@Suite struct GroupMentionTests {
  private static func group(
    _ name: String, of members: [String], by mentioners: String = "members", in village: Village
  ) async throws -> String {
    let body = ["name": name, "mentionable_by": mentioners]
    let made = try await village.expect(201, .post, "/groups", as: "ada", body)
    let id = try #require(made["id"])
    for member in members { try await village.expect(200, .put, "/groups/\(id)/members/@\(member)", as: "ada") }
    return id
  }

  private static func mentions(of name: String, in village: Village) async throws -> [String?] {
    let inbox = try await village.expect(200, .get, "/inbox", as: name)
    return inbox.texts("data", "kind").enumerated().map { index, kind in
      kind == "mention" ? inbox["data.\(index).message_id"] : kind
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a mention of a group notifies its members who may read`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (_, room) = try await village.garden("den", "private", members: ["grace", "linus", "mira"])
      // Gus may not read, mira has muted the author, linus wants none of the room.
      let id = try await Self.group("Gardeners", of: ["ada", "grace", "linus", "mira", "gus"], in: village)
      try await village.expect(200, .put, "/conversations/\(room)/level", as: "linus", ["level": "nothing"])
      try await village.expect(204, .put, "/users/@ada/mute", as: "mira")
      let body: [String: Any] = ["text": "Hello @gardeners, @grace and @GARDENERS!", "client_id": "one"]
      let path = "/conversations/\(room)/messages"
      let posted = try await village.expect(201, .post, path, as: "ada", body)
      let message = try #require(posted["id"])
      #expect(posted["entities.mentions.0.group_id"] == id && posted.isNull("entities.mentions.0.user_id"))
      #expect(posted.bool("entities.mentions.0.room") == false && posted["entities.mentions.2.group_id"] == id)
      #expect(posted["entities.mentions.1.user_id"] == village.id("grace"))
      #expect(!posted.has("entities.mentions.1.group_id"))
      #expect(try await village.expect(200, .post, path, as: "ada", body)["id"] == message)
      #expect(try await Self.mentions(of: "grace", in: village) == [message])
      for name in ["ada", "linus", "mira", "gus"] { #expect(try await Self.mentions(of: name, in: village) == []) }
      // An edit keeps the group, adds none and sends no notification.
      let other = try await Self.group("weeders", of: ["grace"], by: "users", in: village)
      try await village.expect(200, .put, "/groups/\(other)/members/@linus", as: "ada")
      let edited = try await village.expect(
        200, .patch, "/messages/\(message)", as: "ada", ["text": "Hi @gardeners and @weeders"])
      #expect(edited.texts("entities.mentions", "group_id") == [id])
      #expect(try await Self.mentions(of: "grace", in: village) == [message])
    }
  }

  @Test func `a group is mentioned by users that it allows, else its name is text`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden("garden", "members", members: ["grace", "linus", "mira", "gus", "ada"])
      for (mentioners, allowed) in [
        ("staff", ["ada"]), ("members", ["ada", "grace"]), ("users", ["ada", "grace", "linus", "mira"]),
      ] {
        _ = try await Self.group(mentioners + "only", of: ["grace"], by: mentioners, in: village)
        for name in ["ada", "grace", "linus", "mira", "gus"] {
          let text = ["text": "to @\(mentioners)only"]
          let posted = try await village.expect(201, .post, "/conversations/\(room)/messages", as: name, text)
          #expect((posted.count("entities.mentions") == 1) == allowed.contains(name), "\(name) \(mentioners)")
        }
      }
      let wrong = try await village.expect(400, .post, "/groups", as: "ada", ["name": "x", "mentionable_by": "me"])
      #expect(wrong["errors.0.field"] == "mentionable_by")
    }
  }

  @Test func `mentions of groups have limits`() async throws {
    var bounds = Bounds()
    (bounds.groupMentions, bounds.freelyMentionedMembers) = (2, 1)
    try await Village.open(.inMemory, bounds: bounds) { village in
      let (_, room) = try await village.garden("garden", "members", members: ["grace", "linus"])
      for name in ["one", "two", "three"] { _ = try await Self.group(name, of: ["grace"], in: village) }
      _ = try await Self.group("large", of: ["grace", "linus"], in: village)
      let path = "/conversations/\(room)/messages"
      let many = try await village.expect(201, .post, path, as: "ada", ["text": "@one @two @three"])
      #expect(many.count("entities.mentions") == 2)
      // A mention that notifies no other member does not use up the interval.
      let conversation = try await village.conversation("group", by: "ada", with: ["mira"], ["title": "seeds"])
      let alone = try await village.expect(
        201, .post, "/conversations/\(conversation)/messages", as: "ada", ["text": "@large"])
      #expect(alone.count("entities.mentions") == 0)
      let first = try await village.expect(201, .post, path, as: "ada", ["text": "@large"])
      let second = try await village.expect(201, .post, path, as: "ada", ["text": "@large again"])
      #expect(first.count("entities.mentions") == 1 && second.count("entities.mentions") == 0)
      #expect(try await Self.mentions(of: "linus", in: village) == [first["id"]])
      #expect(try await village.expect(201, .post, path, as: "ada", ["text": "@one"]).count("entities.mentions") == 1)
    }
  }

  @Test func `a job notifies the members beyond the first, each once, and none of a deleted message`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden("garden", "members")
      let id = ID<UserGroup>(Int(try await Self.group("everybody", of: [], by: "users", in: village)) ?? 0)
      var names: [String] = []
      for number in 0..<230 { names.append("member\(number)") }
      for name in names {
        let user = try await village.addUser(name)
        let actor = village.user("ada")
        _ = try await village.community.store.write { tx throws(Refusal) in
          try tx.addMember(user, toGroup: id, by: actor)
        }
      }
      var bounds = 0
      for text in ["@everybody", "@grace"] {
        let posted = try await village.expect(
          201, .post, "/conversations/\(room)/messages", as: "grace", ["text": text])
        bounds += posted.count("entities.mentions")
      }
      #expect(bounds == 2)
      // The post itself notifies 20 members. The job may have begun with the others.
      #expect(try await Self.mentions(of: "member19", in: village).count == 1)
      await village.community.store.jobs.run()
      for name in ["member0", "member99", "member100", "member229"] {
        #expect(try await Self.mentions(of: name, in: village).count == 1, "\(name)")
      }
    }
  }

  @Test func `outside forums only participants are notified`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("ada", "grace", "linus", "mira")
      _ = try await Self.group("gardeners", of: ["grace", "linus"], by: "users", in: village)
      let conversation = try await village.conversation("group", by: "mira", with: ["grace"], ["title": "seeds"])
      let message = try await village.post("@gardeners", in: conversation, as: "mira")
      #expect(try await Self.mentions(of: "grace", in: village).contains(message))
      #expect(try await Self.mentions(of: "linus", in: village) == [])
    }
  }
}
