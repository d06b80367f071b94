import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Who may write to whom first.
@Suite struct ContactTests {
  /// Grace would write to linus. Rows: what he says who may, what is between them, and what comes of it.
  @Test(arguments: [
    ("anyone", "", "request"), ("anyone", "forum", "taken"), ("anyone", "follow", "taken"),
    ("shared", "", "refused"), ("shared", "follow", "refused"), ("shared", "forum", "taken"),
    ("nobody", "forum", "refused"), ("anyone", "block", "refused"), ("anyone", "blocked", "refused"),
    ("shared", "forum block", "refused"),
  ])
  func `first words reach another as that one wishes`(reach: String, between: String, outcome: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.ask(.patch, "/me", as: "linus", ["reachable_by": reach])
      for word in between.split(separator: " ") {
        switch word {
        case "forum": try await village.acquaint("grace", "linus")
        case "follow": try await village.relate("linus", "follow", "grace")
        case "block": try await village.relate("linus", "block", "grace")
        default: try await village.relate("grace", "block", "linus")
        }
      }
      // Being together in the first makes no acquaintance of a stranger for the second.
      for kind in ["direct", "group"] {
        let made = try await village.ask(
          .post, "/conversations", as: "grace", ["kind": kind, "participants": ["@linus"]])
        guard outcome != "refused" else {
          #expect(made.status == 400 && made["errors.0.field"] == "participants[0]")
          #expect(made["errors.0.code"] == "unreachable")
          continue
        }
        let id = try #require(made["id"])
        #expect(made.status == 201 && made.bool("request") == false)
        let own = try await village.ask(.get, "/conversations/\(id)", as: "linus")
        #expect(own.bool("request") == (outcome == "request"))
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `a stranger's conversation is taken, and until then not answered`(way: Way) async throws {
    try await Village.open(way) { village in
      let id = try await village.talk("direct", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)"
      try await village.say("hello", in: id, by: "grace")
      #expect(try await village.ask(.get, path, as: "linus")["last_message.text"] == "hello")
      try await village.expect(403, .post, path + "/typing", as: "linus")
      try await village.expect(204, .post, path + "/typing", as: "grace")
      let events = try await village.events {
        for _ in 1...2 {
          let taken = try await village.ask(.put, path + "/request", as: "linus")
          #expect(taken.status == 200 && taken.bool("request") == false)
        }
      }
      let linus = village.id("linus")
      #expect(events == ["relation.changed user:\(linus)", "notification.read user:\(linus)"])
      try await village.expect(204, .post, path + "/typing", as: "linus")
      // What was taken is not refused any more, and nothing waits for who asked, or for anybody else.
      try await village.expect(409, .delete, path + "/request", as: "linus")
      try await village.expect(409, .delete, path + "/request", as: "grace")
      try await village.expect(200, .put, path + "/request", as: "grace")
      for name in ["ada", "mira"] {
        try await village.expect(404, .put, path + "/request", as: name)
        try await village.expect(404, .delete, path + "/request", as: name)
      }
      try await village.expect(401, .put, path + "/request")
    }
  }

  @Test func `what was refused is closed for both, until who refused it wants it after all`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      let id = try await village.talk("direct", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)"
      let refused = try await village.events {
        for _ in 1...2 { try await village.expect(204, .delete, path + "/request", as: "linus") }
      }
      #expect(
        refused == [
          "notification.read user:\(linus)", "relation.changed user:\(linus)", "conversation.removed conversation:\(id) #2",
          "conversation.removed user:\(grace)", "conversation.removed user:\(linus)",
        ])
      for name in ["grace", "linus"] {
        try await village.expect(404, .get, path, as: name)
        #expect(try await village.ask(.get, "/conversations", as: name).count("data") == 0)
      }
      let body: [String: Any] = ["kind": "direct", "participants": ["@linus"]]
      let again = try await village.ask(.post, "/conversations", as: "grace", body)
      #expect(again.status == 400 && again["errors.0.code"] == "unreachable")
      try await village.expect(404, .put, path + "/request", as: "grace")
      var back: Answer?
      let events = try await village.events {
        back = try await village.ask(
          .post, "/conversations", as: "linus", ["kind": "direct", "participants": ["@grace"]])
      }
      #expect(back?.status == 200 && back?["id"] == id && back?.bool("request") == false)
      #expect(
        events == [
          "relation.changed user:\(linus)", "conversation.created conversation:\(id) #3",
          "conversation.created user:\(grace)", "conversation.created user:\(linus)",
        ])
      try await village.expect(200, .get, path, as: "grace")
    }
  }

  @Test func `a group that a stranger draws one into is refused by leaving it`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.talk("group", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)"
      #expect(try await village.ask(.get, path, as: "linus").bool("request") == true)
      let events = try await village.events {
        try await village.expect(204, .delete, path + "/request", as: "linus")
      }
      let linus = village.id("linus")
      #expect(
        events == [
          "notification.read user:\(linus)", "participant.left conversation:\(id)", "conversation.removed user:\(linus)",
        ])
      try await village.expect(404, .delete, path + "/request", as: "linus")
    }
  }

  @Test func `who was blocked after all writes no longer`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.acquaint("grace", "linus")
      let id = try await village.talk("direct", by: "grace", with: ["linus"])
      try await village.expect(204, .post, "/conversations/\(id)/typing", as: "grace")
      try await village.relate("linus", "block", "grace")
      try await village.expect(403, .post, "/conversations/\(id)/typing", as: "grace")
      try await village.expect(200, .get, "/conversations/\(id)", as: "grace")
    }
  }
}
