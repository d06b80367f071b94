import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct ReportGroupTests {
  @Test(arguments: TestTransport.allCases)
  func `reports are grouped by the reported user, the most reported first`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden()
      try await village.post("before", in: room, as: "linus")
      var spam: [String] = []
      for number in 1...4 { spam.append(try await village.post("buy \(number)", in: room, as: "grace")) }
      for message in spam { try await village.report(["message_id": message], by: "linus") }
      try await village.report(["message_id": spam[0]], by: "robo")
      try await village.report(["user": "@linus"], by: "grace")

      let list = try await village.expect(200, .get, "/reports?group=user", as: "mira")
      #expect(list.texts("data", "user_id") == [village.id("grace"), village.id("linus")])
      #expect(list.int("data.0.group.report_count") == 5 && list.int("data.0.group.reporter_count") == 2)
      #expect(list.int("data.0.group.subject_count") == 4 && list.count("data.0.group.subjects") == 3)
      #expect(list["data.0.group.subjects.0.report.message.text"] == "buy 1")
      #expect(list.int("data.0.group.subjects.0.report_count") == 2)
      #expect(list.texts("data.0.group.subjects.0.report.surroundings", "text").first == "before")
      #expect(list.int("data.1.group.report_count") == 1 && list.isNull("data.1.message_id"))
      let first = try await village.expect(200, .get, "/reports?group=user&limit=1", as: "mira")
      let next = try #require(first["next"])
      let second = try await village.expect(200, .get, "/reports?group=user&limit=1&next=\(next)", as: "mira")
      #expect(second.texts("data", "user_id") == [village.id("linus")] && second.isNull("next"))
      let back = try #require(second["previous"])
      let again = try await village.expect(200, .get, "/reports?group=user&limit=1&previous=\(back)", as: "mira")
      #expect(again.texts("data", "user_id") == [village.id("grace")])

      let here = try await village.expect(200, .get, "/reports?group=user&forum=\(forum)", as: "mira")
      #expect(here.texts("data", "user_id") == [village.id("grace")])
      #expect(try await village.request(.get, "/reports?group=user&state=acted", as: "mira").status == 400)
      #expect(try await village.request(.get, "/reports?group=forum", as: "mira").status == 400)
      try await village.expect(403, .get, "/reports?group=user", as: "linus")
    }
  }

  @Test func `all reports about a user are closed at once, and reopened`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      for number in 0..<101 {
        let posted = try await village.post("buy \(number)", in: room, as: "grace")
        if number < 20 { try await village.report(["message_id": posted], by: "linus") }
      }
      for number in 0..<101 {
        try await village.addUser("reporter\(number)")
        try await village.report(["user": "@grace"], by: "reporter\(number)")
      }
      try await village.report(["user": "@linus"], by: "grace")
      let body: [String: Any] = ["user": "@grace", "state": "acted", "outcome": "Banned."]
      let closed = try await village.expect(200, .patch, "/reports", as: "mira", body)
      #expect(closed.int("report_count") == 121)
      let handledAt = try #require(closed["handled_at"])
      let left = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(left.texts("data", "user_id") == [village.id("linus")])
      #expect(try await village.expect(200, .patch, "/reports", as: "mira", body).int("report_count") == 0)

      let undo: [String: Any] = ["user": "@grace", "state": "open", "handled_at": handledAt]
      #expect(try await village.expect(200, .patch, "/reports", as: "ada", undo).int("report_count") == 0)
      #expect(try await village.expect(200, .patch, "/reports", as: "mira", undo).int("report_count") == 121)
      let open = try await village.expect(200, .get, "/reports?group=user", as: "mira")
      #expect(open.int("data.0.group.report_count") == 121)
      let audit = try await village.expect(200, .get, "/audit?kind=report.reopened&limit=200", as: "mira")
      #expect(audit.count("data") == 121)
    }
  }

  @Test(arguments: [
    (nil, 401), ("gus", 403), ("linus", 403), ("grace", 403), ("mira", 200), ("ada", 200),
  ])
  func `permissions to close the reports about a user`(caller: String?, status: Int) async throws {
    try await Village.open(.inMemory) { village in
      try await village.report(["user": "@grace"], by: "linus")
      try await village.expect(status, .patch, "/reports", as: caller, ["user": "@grace", "state": "dismissed"])
    }
  }

  @Test func `moderators of a forum close its reports only, and none about themselves`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("fay")
      let (forum, room) = try await village.garden(members: ["fay"])
      try await village.expect(200, .put, "/forums/\(forum)/members/@fay", as: "ada", ["role": "moderator"])
      let (_, meadow) = try await village.garden("meadow")
      for place in [room, meadow] {
        try await village.report(["message_id": try await village.post("buy", in: place, as: "grace")], by: "linus")
      }
      let body: [String: Any] = ["user": "@grace", "state": "dismissed", "forum_id": forum]
      #expect(try await village.expect(200, .patch, "/reports", as: "fay", body).int("report_count") == 1)
      #expect(try await village.expect(200, .get, "/reports", as: "mira").count("data") == 1)
      for wrong in [
        ["user": "@mira", "state": "dismissed"], ["user": "@nemo", "state": "dismissed"],
        ["user": "@grace", "state": "open"],
        ["user": "@grace", "state": "acted", "handled_at": "2026-01-01T00:00:00.000Z"],
      ] {
        #expect(try await village.request(.patch, "/reports", as: "mira", wrong).status == 400, "\(wrong)")
      }
    }
  }
}

extension Village {
  @discardableResult fileprivate func report(_ subject: [String: Any], by name: String) async throws -> String? {
    var draft = subject
    draft["reason"] = "Spam."
    return try await expect(201, .post, "/reports", as: name, draft)["id"]
  }
}
