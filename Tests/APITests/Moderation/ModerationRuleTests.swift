import Foundation
import ParleyModel
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct ModerationRuleTests {
  @Test(arguments: TestTransport.allCases)
  func `staff creates, changes and deletes rules`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let body: [String: Any] = [
        "name": " Casinos ", "words": ["Free spins", "Free spins"], "domains": ["Casino.Example"], "client_id": "r1",
      ]
      for name in ["grace", "mira"] { try await village.expect(403, .post, "/moderation-rules", as: name, body) }
      let made = try await village.expect(201, .post, "/moderation-rules", as: "ada", body)
      let id = try #require(made["id"])
      #expect(made["name"] == "Casinos" && made.list("words") == ["Free spins"])
      #expect(made.list("domains") == ["casino.example"] && made["action"] == "hold" && made.bool("enabled") == false)
      #expect(try await village.expect(200, .post, "/moderation-rules", as: "ada", body)["id"] == id)
      let other = body.merging(["words": ["spam"]]) { _, new in new }
      #expect(try await village.expect(409, .post, "/moderation-rules", as: "ada", other).code == "client_id_reused")

      let path = "/moderation-rules/\(id)"
      try await village.expect(403, .patch, path, as: "mira", ["enabled": true])
      let changed = try await village.expect(200, .patch, path, as: "ada", ["enabled": true, "if_revision": 1])
      #expect(changed.bool("enabled") == true && changed.int("revision") == 2)
      let late = try await village.expect(409, .patch, path, as: "ada", ["name": "x", "if_revision": 1])
      #expect(late["current.name"] == "Casinos")
      #expect(try await village.expect(200, .get, path, as: "mira")["name"] == "Casinos")
      #expect(try await village.expect(200, .get, "/moderation-rules", as: "mira").texts("data", "id") == [id])
      try await village.expect(403, .get, "/moderation-rules", as: "grace")
      for _ in 0..<2 { try await village.expect(204, .delete, path, as: "ada") }
      try await village.expect(404, .get, path, as: "ada")
      let audit = try await village.expect(200, .get, "/audit?limit=3", as: "ada")
      #expect(audit.texts("data", "kind") == ["rule.deleted", "rule.changed", "rule.created"])
      #expect(audit.list("data.1.changes").isEmpty || audit["data.1.changes.0.field"] == "enabled")
    }
  }

  @Test(
    arguments: [
      (["name": "x"], "words", "missing"), (["words": ["spam"]], "name", "missing"),
      (["name": "x", "words": ["!!"]], "words[0]", "invalid"),
      (["name": "x", "words": ["a b c d e f g h i"]], "words[0]", "too_many"),
      (["name": "x", "domains": ["https://spam.example"]], "domains[0]", "invalid"),
      (["name": "x", "domains": ["spam"]], "domains[0]", "invalid"),
      (["name": "x", "min_mentions": 51], "min_mentions", "out_of_range"),
      (["name": "x", "first_posts": -1], "first_posts", "out_of_range"),
    ] as [([String: any Sendable], String, String)])
  func `a wrong rule is refused`(body: [String: any Sendable], field: String, code: String) async throws {
    try await Village.open(.inMemory) { village in
      let answer = try await village.expect(400, .post, "/moderation-rules", as: "ada", body)
      #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(answer.text)")
    }
  }

  @Test func `a held message is published once it is approved`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      try await village.rule(["words": ["spam"], "action": "hold"])
      let path = "/conversations/\(room)/messages"
      let body: [String: Any] = ["text": "some spam, @linus", "client_id": "m1"]
      let events = try await village.events {
        for _ in 0..<2 {
          let answer = try await village.expect(403, .post, path, as: "grace", body)
          #expect(answer.code == "held_for_review")
        }
      }
      #expect(Set(events) == Set(["ada", "mira"].map { "notification.created user:\(village.id($0))" }))
      #expect(try await village.expect(200, .get, path, as: "linus").count("data") == 0)

      let queue = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(queue.count("data") == 1 && queue["data.0.held.text"] == "some spam, @linus")
      #expect(queue.isNull("data.0.reporter_id") && queue["data.0.reason"] == "A rule")
      let report = try #require(queue["data.0.id"])
      let approved = try await village.expect(200, .patch, "/reports/\(report)", as: "mira", ["state": "dismissed"])
      #expect(approved.isNull("held") && !approved.isNull("message_id"))
      let messages = try await village.expect(200, .get, path, as: "linus")
      #expect(messages.texts("data", "text") == ["some spam, @linus"])
      #expect(messages["data.0.author_id"] == village.id("grace"))
      #expect(try await village.expect(200, .get, "/inbox?kind=mention", as: "linus").count("data") == 1)
      // The client that sends it again gets the message.
      #expect(try await village.expect(200, .post, path, as: "grace", body)["id"] == approved["message_id"])
      let audit = try await village.expect(200, .get, "/audit?limit=1", as: "ada")
      #expect(audit["data.0.kind"] == "post.approved")
    }
  }

  @Test func `a held topic is published, and a rejected one is not`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("garden", "public").forum
      try await village.rule(["words": ["spam"], "action": "hold"])
      let path = "/forums/\(forum)/conversations"
      for title in ["Spam", "More spam"] {
        let answer = try await village.expect(403, .post, path, as: "grace", ["title": title, "text": "hello"])
        #expect(answer.code == "held_for_review")
      }
      #expect(try await village.expect(200, .get, path, as: "grace").count("data") == 0)
      let groups = try await village.expect(200, .get, "/reports?group=user", as: "mira")
      #expect(groups.count("data") == 1 && groups.int("data.0.group.subject_count") == 2)
      #expect(groups.int("data.0.group.reporter_count") == 0)
      let queue = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(queue["data.0.held.title"] == "More spam" && queue["data.1.held.title"] == "Spam")
      let ids = queue.texts("data", "id").compactMap(\.self)
      let rejected = try await village.expect(200, .patch, "/reports/\(ids[0])", as: "mira", ["state": "acted"])
      #expect(rejected["held.title"] == "More spam")
      // The decision about one post is not one about the others.
      #expect(try await village.expect(200, .get, "/reports/\(ids[1])", as: "mira")["state"] == "open")
      // The rejected post can be approved after all.
      try await village.expect(200, .patch, "/reports/\(ids[1])", as: "mira", ["state": "dismissed"])
      #expect(try await village.expect(200, .get, path, as: "grace").texts("data", "title") == ["Spam"])
    }
  }

  @Test func `a held reply to a post of a feed is published once it is approved`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/conversations", as: "linus", ["kind": "feed"])
      let feed = try #require(made["id"])
      let post = try await village.post("roses", in: feed, as: "linus")
      try await village.rule(["words": ["spam"], "action": "hold"])
      let reply: [String: Any] = ["text": "no spam", "reply_to": post]
      try await village.expect(403, .post, "/conversations/\(feed)/messages", as: "grace", reply)
      let id = try #require(try await village.expect(200, .get, "/reports", as: "mira")["data.0.id"])
      let report = try await village.expect(200, .patch, "/reports/\(id)", as: "mira", ["state": "dismissed"])
      let message = try #require(report["message_id"])
      #expect(try await village.expect(200, .get, "/messages/\(message)", as: "linus")["text"] == "no spam")
    }
  }

  @Test func `a post of a banned author is not approved`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      try await village.rule(["words": ["spam"], "action": "hold"])
      try await village.expect(403, .post, "/conversations/\(room)/messages", as: "grace", ["text": "spam"])
      try await village.expect(200, .put, "/users/@grace/ban", as: "mira", [:])
      let id = try #require(try await village.expect(200, .get, "/reports", as: "mira")["data.0.id"])
      try await village.expect(409, .patch, "/reports/\(id)", as: "mira", ["state": "dismissed"])
      try await village.expect(200, .patch, "/reports", as: "mira", ["user": "@grace", "state": "acted"])
      #expect(try await village.expect(200, .get, "/reports", as: "mira").count("data") == 0)
    }
  }

  @Test func `a rule refuses or reports, also edits`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      let path = "/conversations/\(room)/messages"
      try await village.rule(["words": ["rude"], "action": "refuse"])
      try await village.rule(["words": ["odd"], "action": "report"])
      try await village.rule(["words": ["spam"], "action": "hold"])
      #expect(try await village.expect(403, .post, path, as: "grace", ["text": "rude"]).code == "content_refused")
      let posted = try await village.expect(201, .post, path, as: "grace", ["text": "odd"])
      let reports = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(reports.texts("data", "message_id") == [posted["id"]] && reports["data.0.message.text"] == "odd")
      let id = try #require(posted["id"])
      for text in ["rude", "spam"] {
        let answer = try await village.expect(403, .patch, "/messages/\(id)", as: "grace", ["text": text])
        #expect(answer.code == "content_refused")
      }
      // Moderators and private conversations are exempt.
      try await village.expect(201, .post, path, as: "mira", ["text": "rude"])
      let conversation = try await village.conversation(.direct, ["grace", "linus"])
      try await village.expect(201, .post, "/conversations/\(conversation)/messages", as: "grace", ["text": "rude"])
    }
  }

  @Test func `rules apply to a topic from a message, and to an edit of the attachments alone`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      try await village.rule(["words": ["casino"], "action": "refuse"])
      try await village.rule(["words": ["odd"], "action": "report"])
      try await village.rule(["has_picture": true, "action": "refuse"])
      let id = try await village.post("roses", in: room, as: "grace")
      let refused = try await village.expect(403, .post, "/messages/\(id)/topic", as: "grace", ["title": "Best casino"])
      #expect(refused.code == "content_refused")
      let picture = try #require(try await village.send(Photographs.png(), named: "x.png", by: "grace")["id"])
      let answer = try await village.expect(403, .patch, "/messages/\(id)", as: "grace", ["attachments": [picture]])
      #expect(answer.code == "content_refused")
      let topic = try await village.expect(201, .post, "/messages/\(id)/topic", as: "grace", ["title": "An odd one"])
      let reports = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(reports.texts("data", "message_id") == [topic["message_id"]])
    }
  }

  @Test func `rules read the descriptions of files, and so does their trial`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      let path = "/conversations/\(room)/messages"
      let described = { (description: String) in
        let file = try #require(try await village.send(Array("x".utf8), named: "x", by: "grace")["id"])
        return ["text": "Look", "attachments": [file], "descriptions": [description]] as [String: Any]
      }
      let linked = try await described("see https://go.casino.example")
      let early = try #require(try await village.expect(201, .post, path, as: "grace", linked)["id"])
      let domain = ["domains": ["casino.example"]]
      let trial = try await village.expect(200, .post, "/moderation-rules/trial", as: "ada", domain)
      #expect(trial.int("matched") == 1 && trial["matches.0.message_id"] == early)
      try await village.rule(["domains": ["casino.example"], "action": "hold"])
      let held = try await described("https://casino.example/1")
      #expect(try await village.expect(403, .post, path, as: "grace", held).code == "held_for_review")
      let queue = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(queue["data.0.held.descriptions.0"] == "https://casino.example/1")
    }
  }

  @Test func `rules read the options of a poll: of messages, topics, edits and trials`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public")
      let path = "/conversations/\(room)/messages"
      let poll = { (option: String) in ["options": ["Tea", option]] }
      let early = try #require(
        try await village.expect(201, .post, path, as: "grace", ["text": "What?", "poll": poll("Free spins")])["id"])
      let trial = try await village.expect(200, .post, "/moderation-rules/trial", as: "ada", ["words": ["free spins"]])
      #expect(trial.int("matched") == 1 && trial["matches.0.message_id"] == early)
      let domain = ["domains": ["casino.example"]]
      let linked: [String: Any] = ["text": "Which?", "poll": poll("https://go.casino.example")]
      try await village.expect(201, .post, path, as: "grace", linked)
      #expect(try await village.expect(200, .post, "/moderation-rules/trial", as: "ada", domain).int("matched") == 1)
      try await village.rule(["words": ["free spins"], "action": "refuse"])
      try await village.rule(["domains": ["casino.example"], "action": "hold"])
      for (option, code) in [("Free SPINS", "content_refused"), ("see https://casino.example/1", "held_for_review")] {
        let body: [String: Any] = ["text": "What?", "poll": poll(option)]
        #expect(try await village.expect(403, .post, path, as: "grace", body).code == code)
        let topic = body.merging(["title": "Which one?"]) { one, _ in one }
        #expect(try await village.expect(403, .post, "/forums/\(forum)/conversations", as: "grace", topic).code == code)
      }
      let edited = try await village.expect(403, .patch, "/messages/\(early)", as: "grace", ["text": "Which one?"])
      #expect(edited.code == "content_refused")
      let queue = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(queue["data.0.held.poll.options.1"] == "see https://casino.example/1")
    }
  }

  @Test func `pictures of first posts wait, and moderators see them`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      let path = "/conversations/\(room)/messages"
      try await village.rule(["has_picture": true, "first_posts": 1, "action": "hold"])
      let picture = try #require(try await village.send(Photographs.png(), named: "rose.png", by: "grace")["id"])
      let body: [String: Any] = ["text": "", "attachments": [picture]]
      try await village.expect(403, .post, path, as: "grace", body)
      for (name, status) in [("mira", 200), ("grace", 200), ("linus", 404)] {
        try await village.expect(status, .get, "/files/\(picture)", as: name)
      }
      let report = try #require(try await village.expect(200, .get, "/reports", as: "mira")["data.0.id"])
      try await village.expect(200, .patch, "/reports/\(report)", as: "mira", ["state": "dismissed"])
      try await village.expect(200, .get, "/files/\(picture)", as: "linus")
      // The next post is no first post any more.
      let next = try #require(try await village.send(Photographs.png(), named: "iris.png", by: "grace")["id"])
      try await village.expect(201, .post, path, as: "grace", ["text": "", "attachments": [next]])
    }
  }

  @Test func `a trial finds earlier messages and changes nothing`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      let conversation = try await village.conversation(.direct, ["grace", "linus"])
      for number in 0..<30 {
        try await village.post(number % 3 == 0 ? "spam \(number)" : "\(number)", in: room, as: "grace")
      }
      try await village.post("spam", in: room, as: "mira")
      try await village.post("spam", in: conversation, as: "grace")
      var trial = try await village.expect(200, .post, "/moderation-rules/trial", as: "ada", ["words": ["spam"]])
      #expect(trial.int("examined") == 30 && trial.int("matched") == 10 && trial.count("matches") == 10)
      #expect(trial["matches.0.excerpt"] == "spam 27" && trial["matches.0.author_id"] == village.id("grace"))
      trial = try await village.expect(200, .post, "/moderation-rules/trial", as: "ada", ["first_posts": 4])
      #expect(trial.int("matched") == 4)
      try await village.expect(403, .post, "/moderation-rules/trial", as: "mira", ["words": ["spam"]])
      #expect(try await village.expect(200, .get, "/reports", as: "mira").count("data") == 0)
    }
  }

  @Test func `erasing a user erases the held posts`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      try await village.rule(["words": ["spam"], "action": "hold"])
      try await village.expect(403, .post, "/conversations/\(room)/messages", as: "grace", ["text": "my spam"])
      let how = ["how": "erase", "password": "grace’s password"]
      try await village.expect(200, .delete, "/me", as: "grace", how)
      await village.community.store.jobs.run()
      #expect(try await village.rows("select held from report where held is not null") == [])
    }
  }

  /// A raid of fifty accounts among the usual talk, half of which is by new members, too.
  @Test func `rules hold a raid and no honest post`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]])
      let room = try await village.garden("garden", "public").room
      let path = "/conversations/\(room)/messages"
      try await village.rule(["domains": ["spins.example"], "action": "hold"])
      try await village.rule(["words": ["free spins", "join my channel"], "first_posts": 20, "action": "hold"])
      try await village.rule(["min_mentions": 4, "first_posts": 20, "action": "hold"])
      for number in 0..<50 { _ = try await village.addUser("raider\(number)") }
      for number in 0..<25 { _ = try await village.addUser("neighbour\(number)") }
      for name in ["grace", "linus"] {
        for number in 0..<20 { try await village.post("\(number)", in: room, as: name) }
      }
      let spam = [
        "Win now https://go.spins.example/%", "FREE SPINS for the first %", "Jóin my channel, % places left",
        "@grace @linus @ada @mira look at this %", "[click](https://spins.example/?%)",
      ]
      let honest = [
        "Tomatoes are out, % of them", "See https://garden.example/% for frost dates", "@grace @linus who waters on %?",
        "I had % free beds, spins aside", "Somebody wrote about free spins to me, % times",
      ]
      var held = 0
      for number in 0..<500 {
        let text = spam[number % 5].replacing("%", with: "\(number)")
        let answer = try await village.request(.post, path, as: "raider\(number % 50)", ["text": text])
        if answer.code == "held_for_review" { held += 1 }
        // New members talk, too; only the known ones quote the spam.
        let isQuote = number % 5 == 4
        let name = isQuote || number % 2 == 0 ? ["grace", "linus"][number % 2] : "neighbour\(number % 25)"
        let said = honest[number % 5].replacing("%", with: "\(number)")
        let kept = try await village.request(.post, path, as: name, ["text": said])
        #expect(kept.status == 201, "\(said): \(kept.text)")
      }
      #expect(held >= 475, "\(held)")
      #expect(try await village.rows("select cast(count(*) as text) from report where held is not null") == ["\(held)"])
      // One notification per raider and moderator.
      let notifications = try await village.rows(
        "select cast(count(*) as text) from notification where kind = 'report'")
      #expect(notifications == ["100"])
      let groups = try await village.expect(200, .get, "/reports?group=user&limit=50", as: "mira")
      #expect(groups.count("data") == 50 && groups.int("data.0.group.report_count") == 10)
      let closed = try await village.expect(
        200, .patch, "/reports", as: "mira", ["user": "@raider0", "state": "acted"])
      #expect(closed.int("report_count") == 10)
    }
  }

  @Test func `a held post that may not be published does not stop the others`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public")
      try await village.rule(["words": ["spam"], "action": "hold"])
      let topic = try await village.topic("Locked", in: forum)
      for conversation in [topic, room] {
        try await village.expect(403, .post, "/conversations/\(conversation)/messages", as: "grace", ["text": "spam"])
      }
      try await village.expect(200, .patch, "/conversations/\(topic)", as: "mira", ["locked": true])
      let change: [String: Any] = ["user": "@grace", "state": "dismissed"]
      #expect(try await village.expect(200, .patch, "/reports", as: "mira", change).int("report_count") == 1)
      let left = try await village.expect(200, .get, "/reports", as: "mira")
      #expect(left.texts("data", "conversation_id") == [topic])
      let page = try await village.expect(200, .get, "/conversations/\(room)/messages", as: "linus")
      #expect(page.texts("data", "text").contains("spam"))
    }
  }
}

extension Village {
  /// Creates an enabled rule.
  fileprivate func rule(_ conditions: [String: Any]) async throws {
    let body = conditions.merging(["name": "A rule", "enabled": true]) { one, _ in one }
    try await expect(201, .post, "/moderation-rules", as: "ada", body)
  }
}
