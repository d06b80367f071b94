import ParleyModel
import ParleyWire
import Testing
import Web

@testable import API
@testable import Community
@testable import Storage

@Suite struct VisitorReportTests {
  @Test func `a visitor reports a public post by a form`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("garden", "public").forum
      let body = ["title": "Seeds", "text": "buy *watches*"]
      let topic = try #require(
        try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "grace", body)["id"])
      let page = try await village.page("/t/\(topic)")
      let path = try #require(page.paths.first { $0.hasSuffix("/report") })
      let form = try await village.page(path)
      #expect(form.status == 200 && form.text.contains("<form") && form.text.contains("buy watches"))
      #expect(form.attribute("action", after: "<form") == path)

      // Without a reason the form is shown again.
      let empty = try await village.submit(path, "reason=")
      #expect(empty.status == 303 && empty.fields["location"] == path)
      var sent: Answer?
      let events = try await village.events { sent = try await village.submit(path, "reason=Spam+%26+more") }
      #expect(sent?.status == 303)
      #expect(events == ["ada", "mira"].map { "notification.created user:\(village.id($0))" })
      let thanks = try await village.page(try #require(sent?.fields["location"]))
      #expect(thanks.status == 200 && thanks.text.contains("Thank you"))

      let queue = try await village.expect(200, .get, "/reports?group=user", as: "mira")
      #expect(queue.count("data") == 1 && queue["data.0.reason"] == "Spam & more")
      #expect(queue.isNull("data.0.reporter_id") && queue.isNull("data.0.rule_id"))
      #expect(queue["data.0.user_id"] == village.id("grace") && queue["data.0.message.text"] == "buy *watches*")
      // More reports of the same post are not stored.
      for _ in 0..<5 { #expect(try await village.submit(path, "reason=Spam").status == 303) }
      #expect(try await village.expect(200, .get, "/reports", as: "mira").count("data") == 3)
      let id = try #require(queue["data.0.id"])
      try await village.expect(200, .patch, "/reports/\(id)", as: "mira", ["state": "dismissed"])
      #expect(try await village.expect(200, .get, "/reports", as: "mira").count("data") == 0)
    }
  }

  @Test func `a visitor reports no post that visitors do not read`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("club", .members, ["grace"])
      let body = ["title": "Seeds", "text": "secret"]
      let topic = try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "grace", body)
      let message = try #require(topic["last_message_id"])
      for path in ["/m/\(message)/report", "/m/99/report", "/m/\(message)/reported"] {
        #expect(try await village.page(path).status == 404)
      }
      #expect(try await village.submit("/m/\(message)/report", "reason=Spam").status == 404)
      #expect(try await village.expect(200, .get, "/reports", as: "mira").count("data") == 0)
    }
  }

  @Test func `all open reports of visitors are limited`() async throws {
    var bounds = Bounds()
    bounds.visitorReports = 2
    try await Village.open(.inMemory, bounds: bounds) { village in
      let room = try await village.garden("garden", "public").room
      var answers: [Int] = []
      for number in 0..<3 {
        let post = try await village.post("\(number)", in: room, as: "grace")
        answers.append(try await village.submit("/m/\(post)/report", "reason=Spam").status)
      }
      #expect(answers == [303, 303, 429])
    }
  }

  @Test func `visitors of one network share a limit`() throws {
    var rates = RateLimits()
    rates.reporting = Allowance(burst: 2, perDay: 1)
    let limiter = RateLimiter(rates)
    func isTaken(_ address: String) -> Bool {
      do throws(Problem) {
        try limiter.count(.reporting, by: .visitor, at: IPAddress(address), now: 0)
        return true
      } catch { return false }
    }
    #expect(["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.3.1"].map(isTaken) == [true, true, false, true])
    #expect(
      ["2001:db8::1", "2001:db8:0:1::1", "2001:db8:0:2::", "2001:db8:1::"].map(isTaken) == [true, true, false, true])
  }
}
