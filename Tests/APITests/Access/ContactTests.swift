import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Contact policies and message requests.
@Suite struct ContactTests {
  /// Grace writes to linus. Rows: linus's contact policy, their relation, the result.
  @Test(arguments: [
    ("anyone", "", "request"), ("anyone", "forum", "taken"), ("anyone", "follow", "taken"),
    ("shared", "", "refused"), ("shared", "follow", "refused"), ("shared", "forum", "taken"),
    ("nobody", "forum", "refused"), ("anyone", "block", "refused"), ("anyone", "blocked", "refused"),
    ("shared", "forum block", "refused"),
  ])
  func `a first message follows the recipient's contact policy`(reach: String, between: String, outcome: String)
    async throws
  {
    try await Village.open(.inMemory) { village in
      try await village.request(.patch, "/me", as: "linus", ["reachable_by": reach])
      for word in between.split(separator: " ") {
        switch word {
        case "forum": try await village.shareForum("grace", "linus")
        case "follow": try await village.setRelation("linus", "follow", "grace")
        case "block": try await village.setRelation("linus", "block", "grace")
        default: try await village.setRelation("grace", "block", "linus")
        }
      }
      // Sharing the first conversation does not accept the request of the second.
      for kind in ["direct", "group"] {
        let made = try await village.request(
          .post, "/conversations", as: "grace", ["kind": kind, "participants": ["@linus"]])
        guard outcome != "refused" else {
          #expect(made.status == 400 && made["errors.0.field"] == "participants[0]")
          #expect(made["errors.0.code"] == "unreachable")
          continue
        }
        let id = try #require(made["id"])
        #expect(made.status == 201 && made.bool("request") == false)
        let own = try await village.request(.get, "/conversations/\(id)", as: "linus")
        #expect(own.bool("request") == (outcome == "request"))
      }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a recipient has to accept a request before replying`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let id = try await village.conversation("direct", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)"
      try await village.post("hello", in: id, by: "grace")
      #expect(try await village.request(.get, path, as: "linus")["last_message.text"] == "hello")
      try await village.expect(403, .post, path + "/typing", as: "linus")
      try await village.expect(204, .post, path + "/typing", as: "grace")
      let events = try await village.events {
        for _ in 1...2 {
          let taken = try await village.request(.put, path + "/request", as: "linus")
          #expect(taken.status == 200 && taken.bool("request") == false)
        }
      }
      let linus = village.id("linus")
      #expect(events == ["relation.changed user:\(linus)", "notification.read user:\(linus)"])
      try await village.expect(204, .post, path + "/typing", as: "linus")
      // An accepted request can't be declined, accepting it again changes nothing, and other users don't see it.
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

  @Test func `a declined request is closed for both until the recipient accepts it`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      let id = try await village.conversation("direct", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)"
      let refused = try await village.events {
        for _ in 1...2 { try await village.expect(204, .delete, path + "/request", as: "linus") }
      }
      #expect(
        refused == [
          "notification.read user:\(linus)", "relation.changed user:\(linus)",
          "conversation.removed conversation:\(id) #2",
          "conversation.removed user:\(grace)", "conversation.removed user:\(linus)",
        ])
      for name in ["grace", "linus"] {
        try await village.expect(404, .get, path, as: name)
        #expect(try await village.request(.get, "/conversations", as: name).count("data") == 0)
      }
      let body: [String: Any] = ["kind": "direct", "participants": ["@linus"]]
      let again = try await village.request(.post, "/conversations", as: "grace", body)
      #expect(again.status == 400 && again["errors.0.code"] == "unreachable")
      try await village.expect(404, .put, path + "/request", as: "grace")
      var back: Answer?
      let events = try await village.events {
        back = try await village.request(
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

  @Test func `a user declines a group request by leaving the group`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.conversation("group", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)"
      #expect(try await village.request(.get, path, as: "linus").bool("request") == true)
      let events = try await village.events {
        try await village.expect(204, .delete, path + "/request", as: "linus")
      }
      let linus = village.id("linus")
      #expect(
        events == [
          "notification.read user:\(linus)", "participant.left conversation:\(id)",
          "conversation.removed user:\(linus)",
        ])
      try await village.expect(404, .delete, path + "/request", as: "linus")
    }
  }

  @Test func `the first participant that accepts becomes the admin of a group without one`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.conversation("group", by: "grace", with: ["linus", "mira"], ["title": "seeds"])
      let path = "/conversations/\(id)"
      try await village.expect(204, .delete, "\(path)/participants/me", as: "grace")
      let events = try await village.events { try await village.expect(200, .put, "\(path)/request", as: "linus") }
      #expect(events.contains("participant.changed conversation:\(id)"), "\(events)")
      #expect(try await village.expect(200, .get, path, as: "linus")["role"] == "admin")
      try await village.expect(200, .patch, path, as: "linus", ["title": "plums"])
      if try await village.request(.get, path, as: "mira").bool("request") == true {
        try await village.expect(200, .put, "\(path)/request", as: "mira")
      }
      #expect(try await village.expect(200, .get, path, as: "mira")["role"] == "member")
    }
  }

  @Test func `a blocked user can't post in the conversation`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus")
      let id = try await village.conversation("direct", by: "grace", with: ["linus"])
      try await village.expect(204, .post, "/conversations/\(id)/typing", as: "grace")
      try await village.setRelation("linus", "block", "grace")
      try await village.expect(403, .post, "/conversations/\(id)/typing", as: "grace")
      try await village.expect(200, .get, "/conversations/\(id)", as: "grace")
    }
  }
}
