import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// The timeline with mentions, its read position, and saved filters.
@Suite struct TimelineFilterTests {
  private static func texts(_ village: Village, _ path: String, as name: String) async throws -> [String] {
    try await village.expect(200, .get, path, as: name).texts("data", "text").compactMap(\.self)
  }

  @Test func `mentions in other feeds are listed among the posts, page by page`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, mira) = (try await village.feed(of: "grace"), try await village.feed(of: "mira"))
      let ada = try await village.feed(of: "ada", readers: "listed")
      try await village.relate("linus", "follow", "grace")
      let first = try await village.post("one", in: grace, as: "grace")
      let post = try await village.post("two @linus", in: mira, as: "mira")
      try await village.post("unseen @linus", in: ada, as: "ada")
      try await village.post("other", in: mira, as: "mira")
      try await village.post("three @linus", in: grace, as: "grace")
      try await village.expect(
        201, .post, "/conversations/\(mira)/messages", as: "mira", ["text": "four, @linus", "reply_to": post])
      let path = "/timeline?mentions=true"
      let all = ["four, @linus", "three @linus", "two @linus", "one"]
      #expect(try await Self.texts(village, path, as: "linus") == all)
      #expect(try await Self.texts(village, "/timeline", as: "linus") == ["three @linus", "one"])
      var (seen, next): ([String], String?) = ([], "")
      while let position = next {
        let page = try await village.expect(200, .get, "\(path)&limit=1\(position)", as: "linus")
        seen += page.texts("data", "text").compactMap(\.self)
        next = page["next"].map { "&next=\($0)" }
      }
      #expect(seen == all)
      // A repost by a followed user takes the place of the post.
      try await village.expect(200, .put, "/messages/\(post)/actions/repost", as: "grace")
      let reposted = try await village.expect(200, .get, path, as: "linus")
      #expect(reposted["data.0.repost_of"] == post && reposted.count("data") == 4)
      try await village.relate("linus", "mute", "mira")
      #expect(try await Self.texts(village, path, as: "linus") == ["three @linus", "one"])
      try await village.expect(200, .delete, "/messages/\(first)", as: "grace")
      #expect(try await Self.texts(village, path, as: "linus") == ["three @linus"])
    }
  }

  @Test func `the read position moves forward alone, and counts what is unread`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus) = (try await village.feed(of: "grace"), try await village.feed(of: "linus"))
      let mira = try await village.feed(of: "mira")
      try await village.relate("linus", "follow", "grace")
      var posts: [String] = []
      for number in 0..<3 { posts.append(try await village.post("\(number)", in: grace, as: "grace")) }
      try await village.post("own", in: linus, as: "linus")
      try await village.post("for @linus", in: mira, as: "mira")
      let new = try await village.expect(200, .get, "/timeline/read", as: "linus")
      #expect(new.isNull("message_id") && new.isNull("read_at") && new.int("unread_count") == 3)
      #expect(try await village.expect(200, .get, "/timeline/read?mentions=true", as: "linus").int("unread_count") == 4)
      let moved = try await village.expect(200, .put, "/timeline/read", as: "linus", ["message_id": posts[1]])
      #expect(moved["message_id"] == posts[1] && !moved.has("unread_count"))
      for message in [posts[0], posts[1]] {
        let kept = try await village.expect(200, .put, "/timeline/read", as: "linus", ["message_id": message])
        #expect(kept["message_id"] == posts[1] && kept["read_at"] == moved["read_at"])
      }
      let now = try await village.expect(200, .get, "/timeline/read", as: "linus")
      #expect(now["message_id"] == posts[1] && now.int("unread_count") == 1)
      let events = try await village.stream("user:\(village.id("linus"))", as: "linus").texts("data", "event")
      #expect(events.filter { $0 == "timeline.read" }.count == 1)
      // A post that is gone stays a position.
      try await village.expect(200, .delete, "/messages/\(posts[1])", as: "grace")
      #expect(try await village.expect(200, .get, "/timeline/read", as: "linus").int("unread_count") == 1)
      let room = try await village.garden(members: ["linus"]).room
      let word = try await village.post("hello", in: room)
      let wrong = try await village.expect(400, .put, "/timeline/read", as: "linus", ["message_id": word])
      #expect(wrong["errors.0.field"] == "message_id" && wrong["errors.0.code"] == "mismatch")
      let closed = try await village.feed(of: "ada", readers: "listed")
      let secret = try await village.post("secret", in: closed, as: "ada")
      try await village.expect(404, .put, "/timeline/read", as: "linus", ["message_id": secret])
      try await village.expect(401, .get, "/timeline/read")
    }
  }

  /// A filter, and the posts that it lists, newest first.
  private static var filters: [(filter: [String: Any], posts: [String])] {
    [
      ([:], ["repost", "linus", "link", "wool", "rose"]),
      (["include": ["authors": ["@grace"]]], ["link", "wool", "rose"]),
      // The author of a repost, and that of its post.
      (["include": ["authors": ["@mira"]]], ["repost"]),
      (["exclude": ["authors": ["@linus", "@mira"]]], ["link", "wool", "rose"]),
      (["include": ["hashtags": ["#Rose", "tulip"]]], ["rose"]),
      (["exclude": ["hashtags": ["rose"]]], ["repost", "linus", "link", "wool"]),
      (["include": ["mentions": ["me"]]], ["wool"]),
      (["include": ["words": ["WOOL", "\"two words\""]]], ["linus", "wool"]),
      (["exclude": ["words": ["woo*"], "has": ["link"]]], ["repost", "linus", "rose"]),
      (["include": ["words": ["\"example.org\""]]], ["link"]),
      (["include": ["has": ["link", "image"], "authors": ["@grace"]]], ["link"]),
      (["include": ["has": ["link"], "authors": ["@linus"]]], []),
      (["include": ["reposts": true]], ["repost"]),
      (["exclude": ["reposts": true]], ["linus", "link", "wool", "rose"]),
      (["include": ["authors": ["@grace"]], "exclude": ["hashtags": ["rose"], "mentions": ["@ada"]]], ["link"]),
    ]
  }

  @Test func `a filter lists the posts with its criteria`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus) = (try await village.feed(of: "grace"), try await village.feed(of: "linus"))
      let mira = try await village.feed(of: "mira")
      for name in ["grace", "linus"] { try await village.relate("ada", "follow", name) }
      var names: [String: String] = [:]
      names[try await village.post("A #rose.", in: grace, as: "grace")] = "rose"
      names[try await village.post("Wool for @ada", in: grace, as: "grace")] = "wool"
      names[try await village.post("https://example.org/a", in: grace, as: "grace")] = "link"
      names[try await village.post("two words", in: linus, as: "linus")] = "linus"
      let original = try await village.post("far away", in: mira, as: "mira")
      try await village.expect(200, .put, "/messages/\(original)/actions/repost", as: "linus")
      func listed(_ path: String) async throws -> [String] {
        let page = try await village.expect(200, .get, path, as: "ada")
        return (0..<page.count("data")).map { names[page["data.\($0).id"] ?? ""] ?? "repost" }
      }
      for (index, (filter, posts)) in Self.filters.enumerated() {
        try await village.expect(index == 0 ? 201 : 200, .put, "/me/timeline-filters/a%20b", as: "ada", filter)
        #expect(try await listed("/timeline?filter=a%20b") == posts, "\(filter)")
        let all = try await listed("/timeline/global?filter=a%20b")
        #expect(all == posts, "\(filter)")
        let unread = try await village.expect(200, .get, "/timeline/read?filter=a%20b", as: "ada")
        #expect(unread.int("unread_count") == posts.count)
      }
    }
  }

  @Test func `a page of a filter ends after the examined posts, and the next one goes on`() async throws {
    var bounds = Bounds()
    bounds.filteredPosts = 4
    try await Village.open(.inMemory, bounds: bounds) { village in
      let feed = try await village.feed(of: "grace")
      for number in 0..<11 { try await village.post(number == 3 ? "wool" : "silk", in: feed, as: "grace") }
      try await village.expect(201, .put, "/me/timeline-filters/wool", as: "grace", ["include": ["words": ["wool"]]])
      var (sizes, next): ([Int], String?) = ([], "")
      while let position = next, sizes.count < 10 {
        let page = try await village.expect(200, .get, "/timeline?filter=wool&limit=2\(position)", as: "grace")
        sizes.append(page.count("data"))
        next = page["next"].map { "&next=\($0)" }
      }
      #expect(sizes == [0, 1, 0])
    }
  }

  @Test func `filters are listed, replaced and deleted by name`() async throws {
    var bounds = Bounds()
    bounds.timelineFilters = 3
    try await Village.open(.inMemory, bounds: bounds) { village in
      let path = "/me/timeline-filters"
      for name in ["b", "%C3%A9", "a"] { try await village.expect(201, .put, "\(path)/\(name)", as: "ada", [:]) }
      let full = try await village.expect(409, .put, "\(path)/c", as: "ada", [:])
      #expect(full["code"] == "too_many" && full.int("params.limit") == 3)
      let criteria: [String: Any] = [
        "authors": ["@grace", "@grace"], "mentions": ["me"], "hashtags": ["#Rose"], "words": ["  wool "],
        "has": ["file"], "reposts": true,
      ]
      let set = try await village.expect(200, .put, "\(path)/b", as: "ada", ["include": criteria])
      #expect(set["name"] == "b" && set.count("include.authors") == 1)
      #expect(set["include.authors.0"] == village.id("grace"))
      #expect(set["include.mentions.0"] == village.id("ada") && set["include.hashtags.0"] == "rose")
      #expect(set["include.words.0"] == "wool")
      #expect(set.bool("include.reposts") == true && set.bool("exclude.reposts") == false)
      let list = try await village.expect(200, .get, path, as: "ada")
      #expect(list.texts("data", "name") == ["a", "b", "é"] && list["data.1.include.words.0"] == "wool")
      #expect(try await village.expect(200, .get, path, as: "grace").count("data") == 0)
      let unknown = try await village.expect(400, .get, "/timeline?filter=a", as: "grace")
      #expect(unknown["errors.0.field"] == "filter" && unknown["errors.0.code"] == "unknown")
      try await village.expect(400, .get, "/timeline/global?filter=a")
      for _ in 0..<2 { try await village.expect(204, .delete, "\(path)/b", as: "ada") }
      #expect(try await village.expect(200, .get, path, as: "ada").texts("data", "name") == ["a", "é"])
      try await village.expect(204, .delete, path, as: "ada")
      #expect(try await village.expect(200, .get, path, as: "ada").count("data") == 0)
    }
  }

  @Test(arguments: [
    (#"{"include":{"words":["a b"]}}"#, "include.words", "invalid"),
    (#"{"include":{"words":["-a"]}}"#, "include.words", "invalid"),
    (#"{"exclude":{"words":["!"]}}"#, "exclude.words", "invalid"),
    (#"{"exclude":{"words":["a*","b*","c*","d*","e*","f*","g*","h*","i*"]}}"#, "exclude.words", "too_many"),
    (##"{"exclude":{"hashtags":["#"]}}"##, "exclude.hashtags", "too_short"),
    (#"{"exclude":{"authors":["@zelda"]}}"#, "exclude.authors", "unknown"),
    (#"{"exclude":{"has":["poll"]}}"#, "exclude.has[0]", "invalid"),
    (#"{"exclude":{"tags":[]}}"#, "exclude.tags", "unknown_field"), (#"{"except":{}}"#, "except", "unknown_field"),
  ])
  func `a wrong filter is refused with its field`(body: String, field: String, code: String) async throws {
    try await Village.open(.inMemory) { village in
      let answer = try await village.send(.put, "/me/timeline-filters/a", as: "ada", Array(body.utf8))
      #expect(answer.status == 400 && answer["errors.0.field"] == field, "\(answer.text)")
      #expect(answer["errors.0.code"] == code, "\(answer.text)")
    }
  }

  @Test func `a filter has limits`() async throws {
    var bounds = Bounds()
    (bounds.filterValues, bounds.filterWords, bounds.filterWordScalars, bounds.filterNameScalars) = (2, 2, 5, 5)
    try await Village.open(.inMemory, bounds: bounds) { village in
      for (list, field) in [("hashtags", "exclude.hashtags"), ("words", "exclude.words")] {
        for (values, code) in [(["a", "b", "c"], "too_many"), (["abcdef"], "too_long")] {
          let body = ["exclude": [list: values]]
          let answer = try await village.expect(400, .put, "/me/timeline-filters/a", as: "ada", body)
          #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(answer.text)")
        }
      }
      let long = try await village.expect(400, .put, "/me/timeline-filters/abcdef", as: "ada", [:])
      #expect(long["errors.0.field"] == "name" && long["errors.0.code"] == "too_long")
    }
  }

  @Test func `filters and the read position end with their user`() async throws {
    try await Village.open(.inMemory) { village in
      let post = try await village.post("socks", in: try await village.feed(of: "linus"), as: "linus")
      try await village.expect(201, .put, "/me/timeline-filters/a", as: "linus", [:])
      try await village.expect(200, .put, "/timeline/read", as: "linus", ["message_id": post])
      let linus = village.userID("linus")
      try await village.expect(200, .delete, "/me", as: "linus", ["how": "leave", "password": "linus’s password"])
      let left = try await village.community.store.readInBackground { tx throws(Refusal) in
        (filters: try tx.timelineFilterCount(of: linus), position: try tx.timelinePosition(of: linus)?.position)
      }
      #expect(left.filters == 0 && left.position == nil)
    }
  }
}
