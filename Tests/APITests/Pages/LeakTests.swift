import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct LeakTests {
  private static let secret = "zxqvk"

  @Test func `no page, feed or sitemap contains anything private`() async throws {
    try await Village.open(.inMemory) { village in
      let (open, openRoom) = try await village.garden("Open", "public", members: ["grace"])
      var hidden: [String] = []
      for visibility in ["members", "private"] {
        let (forum, room) = try await village.garden("\(Self.secret) \(visibility)", visibility, members: ["linus"])
        let topic = try await village.topic("\(Self.secret) topic", in: forum)
        let message = try await village.post("\(Self.secret) post", in: topic, by: "linus")
        let tagged = ["title": Self.secret, "text": "#\(Self.secret)"]
        try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "linus", tagged)
        let chat = try await village.post("\(Self.secret) chat", in: room, by: "linus")
        hidden += ["/f/\(forum)", "/f/\(forum)/room", "/f/\(forum)/feed.atom", "/t/\(topic)", "/t/\(topic)/feed.json"]
        hidden += ["/m/\(message)", "/m/\(chat)", "/c/\(room)", "/c/\(topic)"]
      }
      let direct = try await village.conversation("direct", by: "grace", with: ["linus"])
      let letter = try await village.post("\(Self.secret) letter", in: direct, by: "grace")
      let made = try await village.request(
        .post, "/conversations", as: "linus", ["kind": "feed", "readers": ["open_to": "users"]])
      let note = try await village.post("\(Self.secret) note", in: try #require(made["id"]), by: "linus")
      hidden += ["/c/\(direct)", "/m/\(letter)", "/m/\(note)", "/u/linus", "/u/linus/feed.json", "/t/\(direct)"]
      let closed = try await village.topic("Was open", in: open)
      try await village.post("Hello @linus", in: closed, by: "grace")
      try await village.post("Hi", in: openRoom, by: "grace")

      let seen = try await village.crawl(from: ["/", "/sitemap.xml", "/robots.txt", "/feed.json"])
      #expect(seen.count > 15 && seen.keys.contains { $0.hasPrefix("/t/\(closed)") })
      for (path, answer) in seen {
        #expect(!answer.text.contains(Self.secret) && answer.status < 400, "\(path) \(answer.status)")
      }
      // A hidden and a missing object have the same page, but for the address to return to.
      let missing = try await village.page("/t/999999")
      for path in hidden {
        let answer = try await village.page(path)
        #expect(answer.status == 404 && answer.fields["cache-control"] == "no-cache")
        #expect(answer.text.contains("href=\"/sign-in?back=\(path)\""))
        #expect(answer.text.replacingOccurrences(of: path, with: "/t/999999") == missing.text)
      }
    }
  }

  @Test func `a forum opened from now on shows no earlier post`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("Garden", "members", members: ["grace"])
      let (old, both) = (try await village.topic("Old", in: forum), try await village.topic("Both", in: forum))
      for conversation in [old, both, room] {
        try await village.post("\(Self.secret) #\(Self.secret)", in: conversation, as: "grace")
      }
      let change = ["visibility": "public", "from": "now"]
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", change).status == 200)
      let id = try await village.post("New", in: both, by: "grace")
      for answer in try await village.crawl(from: ["/", "/sitemap.xml", "/t/\(old)"]).values {
        #expect(!answer.text.contains(Self.secret))
      }
      let page = try await village.page("/t/\(both)")
      #expect(page.posts == [id] && page.attribute("href", after: "<link rel=\"prev\"") == nil)
      let topics = try await village.page("/sitemap/topics-1.xml")
      #expect(topics.text.contains("/t/\(both)-both") && !topics.text.contains("/t/\(old)-"))
    }
  }

  @Test func `a forum that closes disappears at once`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden(Self.secret, "public", members: ["grace"])
      let topic = try await village.topic("\(Self.secret) topic", in: forum)
      try await village.post("x", in: topic, by: "grace")
      #expect(try await village.page("/t/\(topic)").status == 200)
      let change = ["visibility": "private"]
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", change).status == 200)
      for path in ["/", "/forums", "/t/\(topic)", "/feed.atom", "/sitemap/forums.xml", "/sitemap/topics-1.xml"] {
        #expect(try await !village.page(path).text.contains(Self.secret), "\(path)")
      }
    }
  }
}
