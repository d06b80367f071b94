import Foundation
import ParleyJSON
import ParleyModel
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct TopicPageTests {
  @Test func `a topic shows its posts, the first one first`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["name": "The Allotment"])
      let (forum, _) = try await village.garden("Garden", "public", members: ["grace", "linus"])
      try await village.makeSolvable(forum)
      let topic = try await village.topic("When do you plant out tomatoes?", in: forum)
      let text = "Frost was on **12 May**.\n\n" + String(repeating: "More words. ", count: 40)
      let first = try await village.post(text, in: topic, by: "grace")
      let second = try await village.post("After the ||ice saints||.", in: topic, by: "linus")
      let third = try await village.post("I agree.", in: topic, by: "linus")
      let change = ["solved_by": third]
      #expect(try await village.request(.patch, "/conversations/\(topic)", as: "ada", change).status == 200)
      _ = try await village.request(.patch, "/messages/\(second)", as: "linus", ["text": "After the ||saints||."])
      _ = try await village.request(.put, "/messages/\(first)/actions/reaction:🎉", as: "linus", [:])
      _ = try await village.request(.put, "/messages/\(first)/actions/like", as: "linus", [:])

      let page = try await village.page("/t/\(topic)")
      let address = "/t/\(topic)-when-do-you-plant-out-tomatoes"
      #expect(page.posts == [first, second, third])
      #expect(page.between("<title>", "</title>") == "When do you plant out tomatoes? · Garden · The Allotment")
      let description = try #require(page.attribute("content", after: "<meta name=\"description\""))
      #expect(description.hasPrefix("Frost was on 12 May. More words.") && description.count <= 160)
      #expect(description.hasSuffix("…"))
      #expect(page.attribute("href", after: "<link rel=\"canonical\"") == "http://localhost\(address)")
      #expect(page.text.contains("<strong>12 May</strong>") && page.text.contains("<span class=\"spoiler\">saints"))
      #expect(page.text.contains("3 posts") && page.text.contains("Edited</span>"))
      #expect(page.text.contains("🎉 1</span>") && page.text.contains("1 like</span>"))
      #expect(page.text.contains("Solution</span>") && page.text.contains("Solved by linus"))
      #expect(page.attributes("id", after: "<g") == ["u\(village.id("grace"))", "u\(village.id("linus"))"])
      #expect(page.attributes("href", after: "<use") == ["#u\(village.id("linus"))"])
      #expect(page.text.contains("href=\"/sign-in?back=/m/\(second)\""))
      #expect(page.text.contains("href=\"/sign-in?back=/t/\(topic)\""))

      let properties = [
        ("og:title", "When do you plant out tomatoes?"), ("og:type", "article"), ("og:site_name", "The Allotment"),
        ("og:url", "http://localhost\(address)"), ("og:description", description),
        ("og:image", "http://localhost/api/v1/icon"),
      ]
      for (name, value) in properties {
        #expect(page.attribute("content", after: "<meta property=\"\(name)\"") == value)
      }
      #expect(page.attribute("content", after: "<meta name=\"twitter:card\"") == "summary")
    }
  }

  @Test func `the structured data describes the topic`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden </script>", "public", members: ["grace", "linus"])
      let hostile = "</script><script>alert(1)</script> <!-- \u{2028} & \"'"
      let topic = try await village.topic(hostile, in: forum)
      let first = try await village.post("Is ||it|| <b>?", in: topic, by: "grace")
      let reply = try await village.post("Yes </script>", in: topic, by: "linus")
      let page = try await village.page("/t/\(topic)")
      #expect(!page.text.contains("<script>"))
      let data = try page.structuredData()
      let posting = try #require(data["DiscussionForumPosting"])
      #expect(posting["headline"] as? String == hostile && posting["text"] as? String == "Is […] <b>?")
      let author = try #require(posting["author"] as? [String: Any])
      #expect(author["name"] as? String == "grace" && author["url"] as? String == "http://localhost/u/grace")
      let date = try #require(posting["datePublished"] as? String)
      #expect(Timestamp.parse(date) != nil)
      let comments = try #require(posting["comment"] as? [[String: Any]])
      #expect(comments.count == 1 && comments[0]["text"] as? String == "Yes </script>")
      #expect(comments[0]["url"] as? String == "http://localhost/m/\(reply)")
      #expect(posting["url"] as? String == page.attribute("href", after: "<link rel=\"canonical\""))
      let statistics = try #require(posting["interactionStatistic"] as? [[String: Any]])
      #expect(statistics.map { $0["userInteractionCount"] as? Int } == [1, 0])
      let crumbs = try #require(data["BreadcrumbList"]?["itemListElement"] as? [[String: Any]])
      #expect(crumbs.map { $0["name"] as? String } == ["Forums", "Garden </script>", hostile])
      #expect(crumbs.map { $0["position"] as? Int } == [1, 2, 3])
      #expect(page.posts == [first, reply])
    }
  }

  @Test func `every post is on one page, and a permalink leads to it`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden", "public")
      let topic = try await village.topic("Frost", in: forum)
      let ids = try await village.posts((1...120).map { "Post \($0)" }, in: topic)
      var (path, pages): (String?, [Answer]) = ("/t/\(topic)-frost", [])
      while let next = path {
        pages.append(try await village.page(next))
        path = pages.last?.attribute("href", after: "<link rel=\"next\"")
      }
      #expect(pages.map(\.posts) == [Array(ids[..<50]), Array(ids[50..<100]), Array(ids[100...])])
      #expect(pages[1].between("<title>", "</title>") == "Frost, posts 51–100 · Garden · Parley")
      let canonical = pages[1].attribute("href", after: "<link rel=\"canonical\"")
      #expect(canonical == "http://localhost/t/\(topic)-frost?from=51")
      #expect(pages[1].attribute("href", after: "<link rel=\"prev\"") == "/t/\(topic)-frost")
      #expect(pages[2].attribute("href", after: "<link rel=\"prev\"") == "/t/\(topic)-frost?from=51")
      // The first post describes each page.
      #expect(pages[2].attribute("content", after: "<meta name=\"description\"") == "Post 1")
      for (index, query) in [(0, ""), (49, ""), (50, "?from=51"), (119, "?from=101")] {
        let answer = try await village.page("/m/\(ids[index])")
        #expect(answer.status == 302 && answer.fields["location"] == "/t/\(topic)-frost\(query)#m\(ids[index])")
      }
      for query in ["?from=121", "?from=9007199254740991"] {
        #expect(try await village.page("/t/\(topic)\(query)").status == 404)
      }
      #expect(try await village.page("/t/\(topic)?from=0").status == 400)
      #expect(try await village.page("/t/\(topic)?utm_source=x").status == 200)
    }
  }

  @Test func `long posts shorten a page, and none is lost`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden", "public")
      let topic = try await village.topic("Frost", in: forum)
      let long = String(repeating: "**word** and more of it, ", count: 600)
      let ids = try await village.posts((1...60).map { "Post \($0). \(long)" }, in: topic)
      var (path, found, pages): (String?, [String], Int) = ("/t/\(topic)", [], 0)
      while let next = path {
        let page = try await village.page(next)
        #expect(page.text.components(separatedBy: "<strong>word</strong>").count > 600)
        found += page.posts
        pages += 1
        path = page.attribute("href", after: "<link rel=\"next\"")
      }
      #expect(found == ids && pages > 4)
      for id in [ids[0], ids[30], ids[49], ids[59]] {
        let location = try #require(try await village.page("/m/\(id)").fields["location"])
        #expect(try await village.page(String(location.prefix { $0 != "#" })).posts.contains(id))
      }
    }
  }

  @Test func `deleted posts are tombstones without text`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden", "public", members: ["grace"])
      let topic = try await village.topic("Frost", in: forum)
      let ids = try await village.posts(["Opening secret", "Deleted secret", "Removed secret", "Stays"], in: topic)
      for id in ids.prefix(2) {
        #expect(try await village.request(.delete, "/messages/\(id)", as: "grace").status < 300)
      }
      let reason = ["reason": "Off <topic>"]
      #expect(try await village.request(.post, "/messages/\(ids[2])/remove", as: "mira", reason).status < 300)
      let page = try await village.page("/t/\(topic)")
      #expect(page.posts == ids && !page.text.contains("secret"))
      #expect(page.text.contains("Deleted by its author"))
      #expect(page.text.contains("Removed by a moderator: Off &lt;topic&gt;"))
      #expect(try page.structuredData()["DiscussionForumPosting"]?["text"] as? String == "")
      for path in ["/feed.atom", "/t/\(topic)/feed.json", "/f/\(forum)/feed.json"] {
        #expect(try await !village.page(path).text.contains("secret"))
      }
    }
  }

  @Test func `a moved post leads to its copy`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("Garden", "public", members: ["grace"])
      let ids = try await village.posts(["Start of a branch", "Other"], in: room)
      let made = try await village.request(.post, "/messages/\(ids[0])/topic", as: "mira", ["title": "Branch"])
      let topic = try #require(made["conversation_id"], "\(made.text)")
      let answer = try await village.page("/m/\(ids[0])")
      let copy = try #require(try await village.page("/t/\(topic)").posts.first)
      #expect(answer.fields["location"] == "/t/\(topic)-branch#m\(copy)")
      #expect(try await village.page("/m/\(ids[1])").fields["location"] == "/f/\(forum)/room?from=1#m\(ids[1])")
      #expect(try await village.page("/f/\(forum)/room").text.contains("Moved to a topic"))
    }
  }

  @Test func `a picture has its description, or its name, on pages and in feeds`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("Garden", "public").forum
      let topic = try await village.topic("Roses", in: forum)
      let described = try #require(try await village.send(Photographs.png(), named: "rose.png", by: "grace")["id"])
      let plain = try #require(try await village.send(Photographs.png(), named: "bee.png", by: "grace")["id"])
      try await village.post(
        "look", in: topic, as: "grace",
        ["attachments": [described, plain], "descriptions": ["A \"red\" rose <in rain>"]])
      let names = ["A &quot;red&quot; rose &lt;in rain>", "bee.png"]
      let page = try await village.page("/t/\(topic)")
      #expect(
        page.attributes("alt", after: "<img").map { $0.replacingOccurrences(of: "&gt;", with: ">") }.suffix(2) == names)
      let feed = try await village.page("/t/\(topic)/feed.json")
      let html = feed["items.0.content_html"] ?? ""
      #expect(html.contains("<img src=\"http") && html.contains("alt=\"bee.png\""), "\(html)")
      #expect(html.contains("alt=\"A &quot;red&quot; rose"), "\(html)")
    }
  }

  @Test func `a text places pictures, and the other files follow`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("Garden", "public").forum
      let topic = try await village.topic("Roses", in: forum)
      var files: [String] = []
      for name in ["rose.png", "bee.png", "hive.png"] {
        files.append(try #require(try await village.send(Photographs.png(), named: name, by: "grace")["id"]))
      }
      files.append(try #require(try await village.send(Array("a list".utf8), named: "list.txt", by: "grace")["id"]))
      let text =
        "First ![a \"red\" <rose>](attachment:1) then ![](attachment:3), ![my list](attachment:4) ![no](attachment:5)"
      let message = try await village.post(
        text, in: topic, as: "grace", ["attachments": files, "descriptions": ["", "", "Our hive"]])
      let page = try await village.page("/t/\(topic)")
      let post = try #require(
        page.text.components(separatedBy: "id=\"m\(message)\"").last?.components(separatedBy: "<footer").first)
      let placed = { (file: Int, alt: String) in
        let picture = "<a href=\"/api/v1/files/\(files[file])/content\"><img src=\"/api/v1/files/\(files[file])/"
        return post.components(separatedBy: picture).count == 2 && post.contains("alt=\"\(alt)\" width=")
      }
      #expect(placed(0, "a &quot;red&quot; &lt;rose&gt;") && placed(2, "Our hive"), "\(post)")
      #expect(post.contains("content\">my list</a> ![no](attachment:5)"), "\(post)")
      let list = try #require(post.components(separatedBy: "class=\"files\"").last)
      #expect(list.contains("bee.png") && list.contains("list.txt") && !list.contains("/files/\(files[0])/"), "\(list)")
      let html = try await village.page("/t/\(topic)/feed.json")["items.0.content_html"] ?? ""
      #expect(html.contains("<img src=\"http") && html.contains("alt=\"Our hive\""), "\(html)")
      let answer = try await village.request(.get, "/messages/\(message)?html=true", as: "grace")
      #expect(answer["html"]?.contains("<img src=\"/api/v1/files/\(files[2])/content\" alt=\"\" />") == true)
    }
  }

  @Test func `a poll shows its options with their votes, on pages and in feeds`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (forum, room) = try await village.garden("Garden", "public", members: ["grace", "linus"])
      let topic = try await village.topic("Where <to>?", in: forum)
      let end = Int(clock.read()) + 60_000
      let poll: [String: Any] = [
        "options": ["Park <b>", "Lake", "Hill"], "choices": 2, "closes_at": Timestamp.format(end),
      ]
      let asked: [String: Any] = ["text": "Where do we meet?", "poll": poll]
      for conversation in [topic, room] {
        let path = "/conversations/\(conversation)/messages"
        let id = try #require(try await village.request(.post, path, as: "grace", asked)["id"])
        for (name, options) in [("grace", [0, 1]), ("linus", [0]), ("ada", [0])] {
          try await village.expect(200, .put, "/messages/\(id)/vote", as: name, ["options": options])
        }
      }
      for path in ["/t/\(topic)", "/f/\(forum)/room"] {
        let page = try await village.page(path)
        #expect(page.text.contains("<bdi>Park &lt;b&gt;</bdi><span class=\"second\">3 votes · 100%</span>"))
        #expect(page.text.contains("<bdi>Lake</bdi><span class=\"second\">1 vote · 33%</span>"))
        #expect(page.text.contains("0 votes · 0%") && page.text.contains("3 people voted · Closes <time"))
      }
      let feed = try await village.page("/t/\(topic)/feed.json")
      let list =
        "<ul><li>Park &lt;b&gt;: 3 votes · 100%</li><li>Lake: 1 vote · 33%</li><li>Hill: 0 votes · 0%</li></ul>"
      #expect(feed["items.0.content_html"] == "<p>Where do we meet?</p>\n\(list)<p>3 people voted · Open</p>")
      #expect(try await village.page("/t/\(topic)/feed.atom").text.contains("&lt;li&gt;Lake: 1 vote"))
      clock.add(60_000)
      #expect(try await village.page("/t/\(topic)").text.contains("3 people voted · Closed"))
      #expect(try await village.page("/feed.json").text.contains("3 people voted · Closed"))
    }
  }
}
