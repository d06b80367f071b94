import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Reposts: the action on a post, and its entry in the feed of the user.
@Suite struct RepostTests {
  @Test(arguments: TestTransport.allCases)
  func `a repost is an entry of the user's feed and reaches the followers`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let post = try await village.post("socks", in: try await village.feed(of: "grace"), as: "grace")
      try await village.relate("mira", "follow", "linus")
      let set = try await village.repost(post, as: "linus")
      #expect(set["id"] == post && set.int("actions.repost.count") == 1 && set.bool("actions.repost.mine") == true)
      // The first repost creates the feed.
      let feed = try await village.expect(200, .get, "/users/@linus/feed", as: "mira")
      #expect(feed["readers.open_to"] == "users" && feed["last_message.repost_of"] == post)
      let page = try await village.expect(200, .get, "/timeline?include=messages,users", as: "mira")
      #expect(page.texts("data", "repost_of") == [post] && page.texts("data", "author_id") == [village.id("linus")])
      #expect(page.texts("data", "text") == [""] && page.int("data.0.seq") == 1)
      #expect(page.texts("included.messages", "text") == ["socks"])
      #expect(page.bool("included.messages.0.actions.repost.mine") == false)
      // The author of the post is among the users.
      #expect(Set(page.texts("included.users", "id")) == [village.id("grace"), village.id("linus")])
      let plain = try await village.expect(200, .get, "/timeline?include=users", as: "mira")
      #expect(plain.texts("included.users", "id") == [village.id("linus")] && !plain.has("included.messages"))
      let reposters = try await village.expect(200, .get, "/messages/\(post)/actions?type=repost", as: "grace")
      #expect(reposters.texts("data", "user_id") == [village.id("linus")])
    }
  }

  @Test func `a repost repeated or removed changes one entry`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, feed) = (try await village.feed(of: "grace"), try await village.feed(of: "linus"))
      let post = try await village.post("socks", in: grace, as: "grace")
      let events = try await village.events { for _ in 0..<3 { try await village.repost(post, as: "linus") } }
      #expect(events == ["action.added conversation:\(grace)", "message.created conversation:\(feed) #1"])
      let path = "/conversations/\(feed)/messages?include_deleted=false"
      let entry = try #require(try await village.expect(200, .get, path, as: "linus")["data.0.id"])
      for _ in 0..<2 { try await village.expect(204, .delete, "/messages/\(post)/actions/repost", as: "linus") }
      let gone = try await village.expect(200, .get, "/messages/\(entry)", as: "linus")
      #expect(gone.bool("deleted") == true && !gone.has("repost_of"))
      #expect(!(try await village.expect(200, .get, "/messages/\(post)", as: "linus")).has("actions.repost"))
      // The deletion of the entry removes the action.
      try await village.repost(post, as: "linus")
      let next = try #require(try await village.expect(200, .get, path, as: "linus")["data.0.id"])
      try await village.expect(403, .delete, "/messages/\(next)", as: "grace")
      try await village.expect(200, .delete, "/messages/\(next)", as: "linus")
      #expect(!(try await village.expect(200, .get, "/messages/\(post)", as: "linus")).has("actions.repost"))
      #expect(try await village.expect(200, .get, path, as: "linus").count("data") == 0)
    }
  }

  @Test func `timelines list a post once, as its newest repost`() async throws {
    try await Village.open(.inMemory) { village in
      let feed = try await village.feed(of: "grace")
      let (first, second) = (
        try await village.post("one", in: feed, as: "grace"), try await village.post("two", in: feed, as: "grace")
      )
      for name in ["grace", "linus", "mira"] { try await village.relate("ada", "follow", name) }
      for name in ["linus", "mira", "robo", "ada"] { _ = try await village.feed(of: name) }
      func shown(_ path: String = "/timeline", as name: String? = "ada") async throws -> [String] {
        let page = try await village.expect(200, .get, path, as: name)
        return zip(page.texts("data", "author_id"), page.texts("data", "repost_of")).map { author, post in
          let name = ["ada", "grace", "linus", "mira", "robo"].first { village.id($0) == author } ?? "?"
          return post == first ? "\(name) 1" : post == second ? "\(name) 2" : name
        }
      }
      #expect(try await shown() == ["grace", "grace"])
      try await village.repost(first, as: "linus")
      #expect(try await shown() == ["linus 1", "grace"])
      try await village.repost(first, as: "mira")
      #expect(try await shown() == ["mira 1", "grace"])
      // Only the global timeline has a repost of a user that is not followed.
      try await village.repost(first, as: "robo")
      #expect(try await shown() == ["mira 1", "grace"])
      #expect(try await shown("/timeline/global") == ["robo 1", "grace"])
      try await village.relate("ada", "mute", "mira")
      #expect(try await shown() == ["linus 1", "grace"])
      try await village.repost(second, as: "ada")
      #expect(try await shown() == ["ada 2", "linus 1"])
      #expect(try await shown(as: "grace") == ["grace", "grace"])
      // Page by page.
      let page = try await village.expect(200, .get, "/timeline?limit=1", as: "ada")
      let next = try await village.expect(200, .get, "/timeline?limit=1&next=\(page["next"] ?? "")", as: "ada")
      #expect(next.texts("data", "repost_of") == [first] && next.isNull("next"))
      try await village.expect(204, .delete, "/messages/\(second)/actions/repost", as: "ada")
      try await village.expect(204, .delete, "/messages/\(first)/actions/repost", as: "linus")
      try await village.endRelation("ada", "mute", "mira")
      #expect(try await shown() == ["mira 1", "grace"])
    }
  }

  @Test func `a repost shows its post to the readers of the post alone`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus) = (try await village.feed(of: "grace"), try await village.feed(of: "linus", readers: "anyone"))
      let post = try await village.post("socks", in: grace, as: "grace")
      try await village.relate("mira", "follow", "linus")
      try await village.repost(post, as: "linus")
      // A visitor reads the feed of linus, not that of grace.
      #expect(try await village.expect(200, .get, "/timeline/global").count("data") == 0)
      let page = try await village.expect(200, .get, "/conversations/\(linus)/messages?include=messages")
      #expect(page.texts("data", "repost_of") == [post] && page.count("included.messages") == 0)
      func count() async throws -> Int { try await village.expect(200, .get, "/timeline", as: "mira").count("data") }
      #expect(try await count() == 1)
      for kind in ["mute", "block"] {
        try await village.relate("mira", kind, "grace")
        #expect(try await count() == 0)
        try await village.endRelation("mira", kind, "grace")
      }
      let path = "/conversations/\(grace)"
      try await village.expect(200, .patch, path, as: "grace", ["readers": ["open_to": "listed"]])
      #expect(try await count() == 0)
      try await village.expect(200, .patch, path, as: "grace", ["readers": ["open_to": "users"], "from": "beginning"])
      #expect(try await count() == 1)
      // Nothing of a deleted post remains.
      try await village.expect(200, .delete, "/messages/\(post)", as: "grace")
      #expect(try await count() == 0)
      let gone = try await village.expect(200, .get, "/conversations/\(linus)/messages?include=messages", as: "mira")
      #expect(gone.texts("data", "repost_of") == [post] && gone.bool("included.messages.0.deleted") == true)
      #expect(!gone.text.contains("socks"))
      try await village.expect(410, .put, "/messages/\(post)/actions/repost", as: "mira")
    }
  }

  @Test func `only posts of feeds are reposted`() async throws {
    try await Village.open(.inMemory) { village in
      let feed = try await village.feed(of: "grace")
      let post = try await village.post("socks", in: feed, as: "grace")
      let reply = try await village.post("warm", in: feed, as: "linus", ["reply_to": post])
      let room = try await village.garden("garden", "public", members: ["grace"]).room
      let said = try await village.post("pizza", in: room, as: "grace")
      try await village.repost(post, as: "mira")
      let entry = try #require(try await village.expect(200, .get, "/users/@mira/feed", as: "mira")["last_message.id"])
      for id in [reply, said, entry] {
        let refused = try await village.expect(400, .put, "/messages/\(id)/actions/repost", as: "linus")
        #expect(refused["errors.0.field"] == "type" && refused["errors.0.code"] == "mismatch")
      }
      // An entry takes no likes, replies and edits: readers act on the post.
      try await village.expect(400, .put, "/messages/\(entry)/actions/like", as: "linus")
      let path = try #require(try await village.expect(200, .get, "/users/@mira/feed", as: "mira")["id"])
      let answer = try await village.expect(
        400, .post, "/conversations/\(path)/messages", as: "linus", ["text": "warm", "reply_to": entry])
      #expect(answer["errors.0.field"] == "reply_to")
      try await village.expect(403, .patch, "/messages/\(entry)", as: "mira", ["text": "mine"])
      // Guests and visitors repost nothing, nor does a reader after a block or a silence.
      try await village.expect(401, .put, "/messages/\(post)/actions/repost")
      let open = try await village.post("gloves", in: try await village.feed(of: "robo", readers: "anyone"), as: "robo")
      try await village.expect(403, .put, "/messages/\(open)/actions/repost", as: "gus")
      try await village.relate("grace", "block", "linus")
      try await village.expect(403, .put, "/messages/\(post)/actions/repost", as: "linus")
      try await village.endRelation("grace", "block", "linus")
      try await village.expect(200, .put, "/users/@linus/silence", as: "ada", ["reason": "noise"])
      let silenced = try await village.expect(403, .put, "/messages/\(post)/actions/repost", as: "linus")
      #expect(silenced.code == "silenced")
      #expect(try await village.request(.get, "/users/@linus/feed", as: "ada").status == 404)
    }
  }

  @Test func `reposts count as posts, and rules examine the post`() async throws {
    try await Village.open(.inMemory) { village in
      let feed = try await village.feed(of: "mira")
      var posts: [String] = []
      for text in ["socks", "gloves", "spam", "hats"] {
        posts.append(try await village.post(text, in: feed, as: "mira"))
      }
      let rule: [String: Any] = ["name": "A rule", "enabled": true, "words": ["spam"], "action": "hold"]
      try await village.expect(201, .post, "/moderation-rules", as: "ada", rule)
      let refused = try await village.expect(403, .put, "/messages/\(posts[2])/actions/repost", as: "linus")
      #expect(refused.code == "content_refused")
      #expect(!(try await village.expect(200, .get, "/messages/\(posts[2])", as: "linus")).has("actions.repost"))
      let reporting: [String: Any] = ["name": "Hats", "enabled": true, "words": ["hats"], "action": "report"]
      try await village.expect(201, .post, "/moderation-rules", as: "ada", reporting)
      try await village.repost(posts[3], as: "linus")
      let reports = try await village.expect(200, .get, "/reports", as: "ada")
      #expect(reports.texts("data", "user_id") == [village.id("linus")])
      try await village.changeSettings(["newcomers": ["days": 2, "messages": 5, "messages_per_hour": 1]])
      try await village.repost(posts[0], as: "grace")
      let late = try await village.expect(429, .put, "/messages/\(posts[1])/actions/repost", as: "grace")
      #expect(late.code == "newcomer_limited")
    }
  }

  @Test func `a removed entry is restored`() async throws {
    try await Village.open(.inMemory) { village in
      let post = try await village.post("socks", in: try await village.feed(of: "grace"), as: "grace")
      try await village.repost(post, as: "linus")
      let entry = try #require(
        try await village.expect(200, .get, "/users/@linus/feed", as: "linus")["last_message.id"])
      let removed = try await village.expect(
        200, .post, "/messages/\(entry)/remove", as: "linus", ["reason": "a mistake"])
      #expect(!removed.has("repost_of"))
      let restored = try await village.expect(200, .post, "/messages/\(entry)/restore", as: "linus", [:])
      #expect(restored["repost_of"] == post)
      // The search has no entries of reposts.
      let hits = try await village.expect(200, .get, "/messages/search?author=@linus", as: "linus")
      #expect(hits.count("data") == 0)
      let faults = try await village.community.store.readInBackground { tx throws(Refusal) in try tx.searchFaults() }
      #expect(faults == [])
    }
  }

  @Test func `the topic timeline has reposts, live and after a while`() async throws {
    try await Village.open(.socket) { village in
      let feed = try await village.feed(of: "grace")
      let posts = [
        try await village.post("one", in: feed, as: "grace"), try await village.post("two", in: feed, as: "grace"),
      ]
      try await village.relate("mira", "follow", "linus")
      let start = try await village.cursor("timeline", as: "mira")
      try await village.repost(posts[0], as: "linus")
      let reader = try village.connect("topics=timeline&after=\(start)", as: "mira")
      let missed = try await reader.events { $0["event"] == "complete" }
      #expect(missed.compactMap { $0["data.repost_of"] } == [posts[0]])
      try await village.repost(posts[1], as: "linus")
      #expect(try await reader.event("message.created")["data.repost_of"] == posts[1])
      try await village.expect(204, .delete, "/messages/\(posts[1])/actions/repost", as: "linus")
      #expect(try await reader.event("message.deleted")["data.deletion"] == "author")
    }
  }

  @Test func `the pages for visitors have no entries of reposts`() async throws {
    try await Village.open(.inMemory) { village in
      // Visitors see the members of public forums.
      _ = try await village.garden("garden", "public", members: ["linus"])
      let feed = try await village.feed(of: "linus", readers: "anyone")
      try await village.post("gloves", in: feed, as: "linus")
      let post = try await village.post("socks", in: try await village.feed(of: "grace"), as: "grace")
      try await village.repost(post, as: "linus")
      let page = try await village.page("/u/linus")
      #expect(page.status == 200 && page.text.components(separatedBy: "<article").count == 2, "\(page.text)")
    }
  }
}

extension Village {
  @discardableResult
  func repost(_ post: String, as name: String) async throws -> Answer {
    try await expect(200, .put, "/messages/\(post)/actions/repost", as: name)
  }
}
