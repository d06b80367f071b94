import Foundation
import ParleyModel
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct UserGroupTests {
  /// Creates a group by ada and returns its id.
  static func create(_ name: String, selfChosen: Bool = false, in village: Village) async throws -> String {
    let body: [String: Any] = ["name": name, "self_chosen": selfChosen]
    let made = try await village.request(.post, "/groups", as: "ada", body)
    return try #require(made["id"], "\(made.text)")
  }

  @Test func `groups, their members and bots have limits`() async throws {
    var bounds = Bounds()
    (bounds.userGroups, bounds.userGroupMembers, bounds.bots) = (1, 1, 2)
    try await Village.open(.inMemory, bounds: bounds) { village in
      let group = try await Self.create("one", in: village)
      #expect(try await village.request(.post, "/groups", as: "ada", ["name": "two"]).code == "too_many")
      for _ in 0..<2 { try await village.expect(200, .put, "/groups/\(group)/members/@grace", as: "ada") }
      #expect(try await village.request(.put, "/groups/\(group)/members/@mira", as: "ada").code == "too_many")
      // The site has a bot already.
      try await village.expect(201, .post, "/bots", as: "ada", ["name": "dice", "scope": "read"])
      let refused = try await village.request(.post, "/bots", as: "ada", ["name": "die", "scope": "read"])
      #expect(refused.code == "too_many")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `staff creates, changes and deletes groups, which the settings list`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let body: [String: Any] = ["name": "Gardeners", "hue": 140, "client_id": "g1"]
      for name in ["grace", "mira"] { try await village.expect(403, .post, "/groups", as: name, body) }
      var id = ""
      let created = try await village.events {
        id = try await village.expect(201, .post, "/groups", as: "ada", body)["id"] ?? ""
        let again = try await village.expect(200, .post, "/groups", as: "ada", body)
        #expect(again["id"] == id)
      }
      #expect(created == ["settings.updated site #2"])
      let other = body.merging(["hue": 3]) { _, new in new }
      #expect(try await village.expect(409, .post, "/groups", as: "ada", other).code == "client_id_reused")
      let settings = try await village.expect(200, .get, "/settings")
      #expect(settings.texts("groups", "name") == ["Gardeners"] && settings.int("groups.0.hue") == 140)

      let path = "/groups/\(id)"
      try await village.expect(403, .patch, path, as: "mira", ["hue": 20])
      let change: [String: Any] = ["name": "growers", "self_chosen": true, "if_revision": 1]
      let changed = try await village.expect(200, .patch, path, as: "ada", change)
      #expect(changed["name"] == "growers" && changed.bool("self_chosen") == true && changed.int("revision") == 2)
      #expect(try await village.expect(409, .patch, path, as: "ada", change)["current.name"] == "growers")
      #expect(try await village.expect(200, .get, path, as: "grace")["name"] == "growers")
      #expect(try await village.expect(200, .get, "/groups", as: "grace").texts("data", "id") == [id])
      try await village.expect(401, .get, "/groups")
      try await village.expect(403, .delete, path, as: "mira")
      for _ in 0..<2 { try await village.expect(204, .delete, path, as: "ada") }
      try await village.expect(404, .get, path, as: "ada")
      try await village.expect(404, .patch, path, as: "ada", ["hue": 20])
      try await village.expect(410, .post, "/groups", as: "ada", body)
      #expect(try await village.expect(200, .get, "/settings").count("groups") == 0)
      let audit = try await village.expect(200, .get, "/audit?limit=3", as: "ada")
      #expect(audit.texts("data", "kind") == ["user_group.deleted", "user_group.changed", "user_group.created"])
      #expect(audit["data.1.changes.0.to"] == "growers")
    }
  }

  @Test(
    arguments: [
      ([:], "name", "missing"), (["name": ""], "name", "invalid"), (["name": "the gardeners"], "name", "invalid"),
      (["name": "everyone"], "name", "invalid"), (["name": "GRACE"], "name", "taken"),
      (["name": "g\u{202e}x"], "name", "invalid"), (["name": "ok", "hue": 360], "hue", "out_of_range"),
      (["name": "ok", "colour": 1], "colour", "unknown_field"),
      (["name": String(repeating: "g", count: 65)], "name", "invalid"),
    ] as [([String: any Sendable], String, String)])
  func `a wrong group is refused`(body: [String: any Sendable], field: String, code: String) async throws {
    try await Village.open(.inMemory) { village in
      let answer = try await village.expect(400, .post, "/groups", as: "ada", body)
      #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(answer.text)")
    }
  }

  @Test func `users and groups share their names`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await Self.create("gardeners", in: village)
      let again = try await village.expect(400, .post, "/groups", as: "ada", ["name": "GARDENERS"])
      #expect(again["errors.0.code"] == "taken")
      let renamed = try await village.expect(400, .patch, "/users/@grace", as: "ada", ["name": "Gardeners"])
      #expect(renamed["errors.0.code"] == "taken")
      try await village.expect(200, .patch, "/settings", as: "ada", ["registration": "open"])
      let body = ["name": "gardeners", "password": "a password of a gardener"]
      #expect(try await village.expect(400, .post, "/users", body)["errors.0.code"] == "taken")
      let same = try await village.expect(200, .patch, "/groups/\(id)", as: "ada", ["name": "GardenerS"])
      #expect(same.int("revision") == 2)
      let taken = try await village.expect(400, .patch, "/groups/\(id)", as: "ada", ["name": "linus"])
      #expect(taken["errors.0.code"] == "taken")
      try await village.expect(204, .delete, "/groups/\(id)", as: "ada")
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["name": "Gardeners"])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `staff adds and removes members, which their users show`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let id = try await Self.create("gardeners", in: village)
      let (path, grace) = ("/groups/\(id)/members/@grace", village.id("grace"))
      for name in ["grace", "mira"] { try await village.expect(403, .put, path, as: name) }
      let before = try await village.expect(200, .get, "/users/@grace", as: "linus")
      #expect(before.list("groups").isEmpty)
      let revision = try #require(before.int("revision"))
      let events = try await village.events {
        for _ in 0..<2 {
          let added = try await village.expect(200, .put, path, as: "ada")
          #expect(added.list("groups") == [id])
        }
      }
      #expect(events == ["user.updated site #\(revision + 1)"], "\(events)")
      let shown = try await village.expect(200, .get, "/users/@grace", as: "linus")
      #expect(shown.list("groups") == [id] && shown.int("revision") == revision + 1)
      let members = try await village.expect(200, .get, "/groups/\(id)/members", as: "linus")
      #expect(members.texts("data", "id") == [grace] && members["data.0.groups.0"] == id)
      try await village.expect(404, .put, "/groups/\(id)/members/@unknown", as: "ada")
      try await village.expect(404, .put, "/groups/999999/members/@grace", as: "ada")
      try await village.expect(404, .get, "/groups/999999/members", as: "ada")
      // Members of a group that is not self-chosen can't leave.
      try await village.expect(403, .delete, path, as: "grace")
      for _ in 0..<2 { try await village.expect(204, .delete, path, as: "ada") }
      #expect(try await village.expect(200, .get, "/users/@grace", as: "linus").list("groups").isEmpty)
      let audit = try await village.expect(200, .get, "/audit?limit=2", as: "ada")
      #expect(audit.texts("data", "kind") == ["user_group.member_removed", "user_group.member_added"])
      #expect(audit.texts("data", "subject_id") == [grace, grace] && audit["data.0.reason"] == "gardeners")
    }
  }

  @Test func `users join and leave a self-chosen group`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await Self.create("gardeners", selfChosen: true, in: village)
      let path = "/groups/\(id)/members/"
      #expect(try await village.expect(200, .put, path + "me", as: "grace").list("groups") == [id])
      try await village.expect(403, .put, path + "@linus", as: "grace")
      try await village.expect(403, .delete, path + "@grace", as: "linus")
      for _ in 0..<2 { try await village.expect(204, .delete, path + "me", as: "grace") }
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["role": "guest", "end_sessions": false])
      try await village.expect(403, .put, path + "me", as: "grace")
      try await village.expect(403, .get, "/groups/\(id)/members", as: "grace")
      let kinds = try await village.expect(200, .get, "/audit", as: "ada").texts("data", "kind")
      #expect(!kinds.contains("user_group.member_added"))
    }
  }

  @Test func `a deleted group and a deleted user leave no members`() async throws {
    try await Village.open(.inMemory) { village in
      let ids = [try await Self.create("gardeners", in: village), try await Self.create("cooks", in: village)]
      for id in ids {
        for name in ["grace", "linus"] {
          try await village.expect(200, .put, "/groups/\(id)/members/@\(name)", as: "ada")
        }
      }
      #expect(try await village.expect(200, .get, "/users/@grace", as: "ada").list("groups") == ids)
      try await village.expect(204, .delete, "/groups/\(ids[0])", as: "ada")
      await village.community.store.jobs.run()
      #expect(try await village.expect(200, .get, "/users/@grace", as: "ada").list("groups") == [ids[1]])
      let gone = try await village.community.store.write { tx throws(Refusal) in
        try tx.depart(village.userID("grace"), as: .left, by: village.userID("ada")).user
      }
      #expect(gone.summary.groups.isEmpty)
      let members = try await village.expect(200, .get, "/groups/\(ids[1])/members", as: "ada")
      #expect(members.texts("data", "id") == [village.id("linus")])
    }
  }

  @Test func `the number of groups is limited`() async throws {
    try await Village.open(.inMemory) { village in
      for number in 0..<village.community.bounds.userGroups {
        _ = try await Self.create("group\(number)", in: village)
      }
      let answer = try await village.expect(409, .post, "/groups", as: "ada", ["name": "more"])
      #expect(answer.code == "too_many")
    }
  }
}
