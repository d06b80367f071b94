import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct ReportTests {
  @Test(arguments: TestTransport.allCases)
  func `a moderator sees the reported message as it was, with its context`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let direct = try await village.conversation(.direct, ["grace", "linus"])
      for text in ["hello", "hi"] { try await village.post(text, in: direct, as: "linus") }
      let posted = try await village.post("buy this", in: direct, as: "grace")
      let later = try await village.post("no", in: direct, as: "linus")
      let body: [String: Any] = ["message_id": posted, "reason": "Advertising.", "client_id": "p1"]
      var made: Answer?
      let events = try await village.events {
        made = try await village.expect(201, .post, "/reports", as: "linus", body)
        #expect(try await village.expect(200, .post, "/reports", as: "linus", body)["id"] == made?["id"])
        let again = try await village.expect(
          200, .post, "/reports", as: "linus", ["message_id": posted, "reason": "Still there."])
        #expect(again["id"] == made?["id"])
      }
      #expect(events == ["ada", "mira"].map { "notification.created user:\(village.id($0))" })
      let id = try #require(made?["id"])
      #expect(made?["user_id"] == village.id("grace") && made?.has("state") == false)
      try await village.expect(200, .delete, "/messages/\(posted)", as: "grace")

      // The moderator has no access to the conversation but sees the reported copy.
      try await village.expect(404, .get, "/conversations/\(direct)/messages", as: "mira")
      let report = try await village.expect(200, .get, "/reports/\(id)", as: "mira")
      #expect(report["message.text"] == "buy this" && report["message.id"] == posted && report["state"] == "open")
      #expect(report.texts("surroundings", "text") == ["hello", "hi", "no"])
      #expect(report["surroundings.2.id"] == later)
      let inbox = try await village.expect(200, .get, "/inbox?kind=report", as: "mira")
      #expect(inbox.texts("data", "report_id") == [id] && inbox["data.0.actor_id"] == village.id("linus"))
      let list = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(list.texts("data", "id") == [id] && list["data.0.message.text"] == "buy this")
      #expect(!list.has("data.0.surroundings"))
      for reader in ["grace", "linus"] { try await village.expect(404, .get, "/reports/\(id)", as: reader) }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a report is assigned, resolved and reopened`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let made = try await village.expect(
        201, .post, "/reports", as: "linus", ["user": "@grace", "reason": "Rude."])
      let id = try #require(made["id"])
      #expect(made.isNull("message_id") && made["user_id"] == village.id("grace"))
      let path = "/reports/\(id)"
      var change: [String: Any] = ["assignee": "me", "if_revision": 1]
      let taken = try await village.expect(200, .patch, path, as: "mira", change)
      #expect(taken["assignee_id"] == village.id("mira") && taken.int("revision") == 2)
      let late = try await village.expect(409, .patch, path, as: "ada", change)
      #expect(late["current.assignee_id"] == village.id("mira"))
      change = ["state": "acted", "outcome": "Warned."]
      for _ in 1...2 {
        let judged = try await village.expect(200, .patch, path, as: "ada", change)
        #expect(
          judged["handled_by"] == village.id("ada") && judged["outcome"] == "Warned." && judged.int("revision") == 3)
      }
      #expect(try await village.expect(200, .get, "/reports", as: "mira").count("data") == 0)
      for query in ["state=acted", "state=acted&user=@grace", "state=acted&assignee=me"] {
        let found = try await village.expect(200, .get, "/reports?\(query)", as: "mira")
        #expect(found.texts("data", "id") == [id], "\(query)")
      }
      #expect(try await village.expect(200, .get, "/reports?state=acted&user=@linus", as: "mira").count("data") == 0)
      let opened = try await village.expect(200, .patch, path, as: "mira", ["state": "open", "assignee": NSNull()])
      #expect(opened.isNull("handled_by") && opened.isNull("assignee_id") && opened.int("revision") == 4)
      let audit = try await village.expect(200, .get, "/audit?subject=\(id)", as: "mira")
      #expect(
        audit.texts("data", "kind") == ["report.reopened", "report.assigned", "report.acted", "report.assigned"])
      // The reported user can't be the assignee in any role.
      for wrong in ["@linus", "@grace", "@nemo"] {
        let refused = try await village.request(.patch, path, as: "mira", ["assignee": wrong])
        #expect(refused.status == 400 && refused["errors.0.field"] == "assignee", "\(wrong)")
      }
    }
  }

  @Test func `resolving reports marks their notifications as read for all moderators`() async throws {
    try await Village.open(.inMemory) { village in
      func unread() async throws -> [Int?] {
        var counts: [Int?] = []
        for name in ["ada", "mira"] {
          counts.append(try await village.expect(200, .get, "/inbox", as: name).int("unread.report"))
        }
        return counts
      }
      let room = try await village.garden().room
      let posted = try await village.post("buy", in: room, as: "grace")
      var ids: [String] = []
      for name in ["linus", "mira"] {
        let made = try await village.expect(
          201, .post, "/reports", as: name, ["message_id": posted, "reason": "Advertising."])
        ids.append(try #require(made["id"]))
      }
      let other = try await village.expect(201, .post, "/reports", as: "linus", ["user": "@grace", "reason": "Rude."])
      #expect(try await unread() == [3, 2])
      let events = try await village.events {
        try await village.expect(200, .patch, "/reports/\(ids[0])", as: "mira", ["state": "acted"])
      }
      #expect(Set(events) == Set(["ada", "mira"].map { "notification.read user:\(village.id($0))" }))
      // The duplicate was resolved with it, the other report was not.
      #expect(try await unread() == [1, 1])
      try await village.expect(
        200, .patch, "/reports", as: "mira", ["user": "@grace", "state": "dismissed"] as [String: Any])
      #expect(try await unread() == [0, 0])
      let again = try await village.expect(200, .get, "/inbox?kind=report", as: "ada")
      #expect(again.count("data") == 3 && again.texts("data", "report_id").contains(other["id"]))
    }
  }

  @Test func `resolving a report resolves all reports of its message`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let posted = try await village.post("buy", in: room, as: "grace")
      let other = try await village.post("more", in: room, as: "grace")
      func report(_ name: String, _ body: [String: Any]) async throws -> String {
        var draft = body
        draft["reason"] = "Spam."
        return try #require(try await village.expect(201, .post, "/reports", as: name, draft)["id"])
      }
      let first = try await report("linus", ["message_id": posted])
      let same = try await report("robo", ["message_id": posted])
      let elsewhere = try await report("linus", ["message_id": other])
      let user = try await report("linus", ["user": "@grace"])
      let same2 = try await report("robo", ["user": "@grace"])
      var many: [String] = []
      for number in 0..<101 {
        try await village.addUser("reporter\(number)")
        many.append(try await report("reporter\(number)", ["message_id": posted]))
      }
      try await village.expect(200, .patch, "/reports/\(first)", as: "mira", ["assignee": "me"])
      for id in [same, elsewhere] {
        #expect(try await village.expect(200, .get, "/reports/\(id)", as: "mira").isNull("assignee_id"))
      }
      try await village.expect(
        200, .patch, "/reports/\(first)", as: "mira", ["state": "acted", "outcome": "Removed."])
      for id in [same] + many {
        let judged = try await village.expect(200, .get, "/reports/\(id)", as: "mira")
        #expect(judged["state"] == "acted" && judged["outcome"] == "Removed." && judged.int("revision") == 2)
        #expect(judged["handled_by"] == village.id("mira") && !judged.isNull("handled_at"))
      }
      for id in [elsewhere, user, same2] {
        #expect(try await village.expect(200, .get, "/reports/\(id)", as: "mira")["state"] == "open")
      }
      try await village.expect(200, .patch, "/reports/\(user)", as: "ada", ["state": "dismissed"])
      #expect(try await village.expect(200, .get, "/reports/\(same2)", as: "mira")["state"] == "dismissed")
      // Reopening affects one report only.
      try await village.expect(200, .patch, "/reports/\(same)", as: "mira", ["state": "open"])
      #expect(try await village.expect(200, .get, "/reports/\(first)", as: "mira")["state"] == "acted")
    }
  }

  @Test func `moderators can't resolve reports about themselves`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/reports", as: "grace", ["user": "@mira", "reason": "Unfair."])
      let id = try #require(made["id"])
      #expect(try await village.expect(200, .get, "/inbox?kind=report", as: "mira").count("data") == 0)
      #expect(try await village.expect(200, .get, "/inbox?kind=report", as: "ada").count("data") == 1)
      #expect(try await village.expect(200, .get, "/reports", as: "mira").count("data") == 0)
      try await village.expect(404, .get, "/reports/\(id)", as: "mira")
      try await village.expect(404, .patch, "/reports/\(id)", as: "mira", ["state": "dismissed"])
      #expect(try await village.request(.patch, "/reports/\(id)", as: "ada", ["assignee": "@mira"]).status == 400)
      try await village.expect(200, .patch, "/reports/\(id)", as: "ada", ["state": "dismissed"])
    }
  }

  @Test func `the context is deleted with the resolution, the copy after its retention`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let room = try await village.garden().room
      try await village.post("before", in: room, as: "linus")
      let posted = try await village.post("buy", in: room, as: "grace")
      let made = try await village.expect(
        201, .post, "/reports", as: "linus", ["message_id": posted, "reason": "Spam."])
      let path = "/reports/\(try #require(made["id"]))"
      #expect(try await village.expect(200, .get, path, as: "mira").count("surroundings") == 1)
      #expect(
        try await village.expect(200, .patch, path, as: "mira", ["state": "dismissed"]).has("surroundings") == false)
      let judged = try await village.expect(200, .get, path, as: "mira")
      #expect(!judged.has("surroundings") && judged["message.text"] == "buy")
      #expect(try await village.rows("select value from setting where name = 'destroyed'") == ["1"])
      let other = try await village.expect(
        201, .post, "/reports", as: "robo", ["message_id": posted, "reason": "Spam."])
      let left = "/reports/\(try #require(other["id"]))"
      #expect(try await village.expect(200, .get, left, as: "mira").count("surroundings") == 1)
      clock.add(Int(WriteTransaction.reportCopyTime))
      await Housekeeping(village.community.store).tick()
      try await village.renewSession(of: "mira")
      for path in [path, left] {
        let late = try await village.expect(200, .get, path, as: "mira")
        #expect(late.isNull("message") && !late.has("surroundings") && late.isNull("handled_at") == (path == left))
      }
    }
  }

  /// Permissions of reports. Columns: visitor, gus (guest), linus (member), fay (moderator of the forum), mira
  /// (moderator), alma (admin), ada (owner).
  @Test(arguments: [
    ("GET /reports", "1333222"), ("GET /reports?forum=F", "1432222"), ("GET /reports/R", "1442222"),
    ("PATCH /reports/R", "1442222"), ("POST /reports", "1422222"),
  ])
  func `permissions of reports`(row: String, expected: String) async throws {
    try await Village.open(.inMemory) { village in
      for (name, role) in [("fay", Role.member), ("alma", .admin)] { try await village.addUser(name, role) }
      let (forum, room) = try await village.garden(members: ["fay"])
      try await village.expect(200, .put, "/forums/\(forum)/members/@fay", as: "ada", ["role": "moderator"])
      let posted = try await village.post("buy", in: room, as: "grace")
      let made = try await village.expect(
        201, .post, "/reports", as: "robo", ["message_id": posted, "reason": "Spam."])
      let parts = row.split(separator: " ").map(String.init)
      let path = parts[1].replacing("=F", with: "=\(forum)").replacing("/R", with: "/\(made["id"] ?? "")")
      let (method, body): (ParleyWire.Method, [String: Any]?) =
        switch parts[0] {
        case "POST": (.post, ["message_id": posted, "reason": "x"])
        case "PATCH": (.patch, ["assignee": NSNull()])
        default: (.get, nil)
        }
      var answers = ""
      for caller in [nil, "gus", "linus", "fay", "mira", "alma", "ada"] as [String?] {
        let answer = try await village.request(method, parts[0] == "POST" ? "/reports" : path, as: caller, body)
        answers += [401, 403, 404].contains(answer.status) ? "\(answer.status % 10)" : "\(answer.status / 100)"
      }
      #expect(answers == expected)
    }
  }

  @Test func `an invalid report is refused by field`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let (own, gone) = (
        try await village.post("mine", in: room, as: "linus"), try await village.post("gone", in: room, as: "grace")
      )
      try await village.expect(200, .delete, "/messages/\(gone)", as: "grace")
      let secret = try await village.post(
        "psst", in: try await village.conversation(.direct, ["grace", "mira"]), as: "grace")
      for (body, status, field) in [
        (["reason": "x"], 400, "message_id"), (["message_id": own, "reason": "x"], 400, "message_id"),
        (["message_id": secret, "reason": "x"], 400, "message_id"), (["message_id": gone, "reason": "x"], 410, nil),
        (["message_id": own, "user": "@grace", "reason": "x"], 400, "user"),
        (["user": "me", "reason": "x"], 400, "user"),
        (["user": "@nemo", "reason": "x"], 400, "user"), (["user": "@grace", "reason": ""], 400, "reason"),
        (["user": "@grace"], 400, "reason"),
      ] as [([String: String], Int, String?)] {
        let answer = try await village.request(.post, "/reports", as: "linus", body)
        #expect(answer.status == status && answer["errors.0.field"] == field, "\(body): \(answer.text)")
      }
    }
  }

  @Test func `the number of open reports per user is limited`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      for number in 0..<50 {
        let posted = try await village.post("buy \(number)", in: room, by: "grace")
        try await village.expect(201, .post, "/reports", as: "linus", ["message_id": posted, "reason": "Spam."])
      }
      let posted = try await village.post("buy", in: room, by: "grace")
      let body: [String: Any] = ["message_id": posted, "reason": "Spam."]
      #expect(try await village.request(.post, "/reports", as: "linus", body).code == "too_many")
      try await village.expect(201, .post, "/reports", as: "robo", body)
      let page = try await village.expect(200, .get, "/reports?limit=30", as: "mira")
      let next = try await village.expect(200, .get, "/reports?limit=30&next=\(try #require(page["next"]))", as: "mira")
      #expect(page.count("data") == 30 && next.count("data") == 21 && next.isNull("next"))
    }
  }
}
