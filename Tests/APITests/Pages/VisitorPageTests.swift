import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct VisitorPageTests {
  @Test(arguments: TestTransport.allCases)
  func `a visitor gets a page, a session the app`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, _) = try await village.garden("garden", "public")
      let topic = try await village.topic("Frost", in: forum)
      for path in ["/", "/forums", "/f/\(forum)-x", "/f/\(forum)/room", "/t/\(topic)-frost", "/u/ada"] {
        let page = try await village.page(path)
        #expect(page.status == 200 && page.text.hasPrefix("<!doctype html>"), "\(path)")
        #expect(page.fields["cache-control"] == "public, max-age=60")
        #expect(page.fields["vary"]?.contains("Cookie") == true)
        let policy = try #require(page.fields["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
        #expect(policy.contains("script-src 'self';") && page.attributes("src", after: "<script") == ["/js/page.js"])
        let app = try await village.page(path, as: "ada")
        #expect(app.text == Village.app && app.fields["vary"]?.contains("Cookie") == true)
      }
      // A cookie of another name is no session.
      #expect(try await village.page("/", fields: ["Cookie": "theme=dark"]).text != Village.app)
      #expect(try await village.page("/sign-in").text == Village.app)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `tiles have the newest topic, its writer and the members`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, _) = try await village.garden("garden", "public")
      _ = try await village.topic("Frost", in: forum)
      let topic = try await village.topic("Late frost", in: forum)
      for path in ["/", "/forums"] {
        let text = try await village.page(path).text
        #expect(text.contains(#"href="/t/\#(topic)-late-frost""#) && text.contains("<bdi>Late frost</bdi>"), "\(path)")
        #expect(text.contains("2 topics") && text.contains("1 member"), "\(path)")
      }
    }
  }

  @Test func `the list of forums has pages`() async throws {
    try await Village.open(.inMemory) { village in
      for number in 1...101 { _ = try await village.garden("bed\(number)", "public") }
      let first = try await village.page("/forums")
      let next = try #require(first.attributes("href", after: #"rel="next""#).first)
      let rest = try await village.page(next)
      #expect(rest.status == 200 && rest.text.contains(#"rel="prev""#))
      let titles = { (text: String) in (1...101).filter { text.contains("<bdi>bed\($0)</bdi>") } }
      #expect(titles(first.text).count == 100)
      #expect(titles(first.text + rest.text) == Array(1...101))
      #expect(try await village.page("/").attributes("href", after: #"rel="next""#) == [next])
      #expect(try await village.page("/forums?page=x").status == 404)
    }
  }

  @Test func `a page above the memory budget is refused`() async throws {
    try await Village.open(.inMemory, memory: 200_000) { village in
      for path in [
        "/", "/forums", "/u/ada", "/feed.atom", "/feed.json", "/sitemap.xml", "/sitemap/topics-1.xml", "/t/1",
      ] {
        let answer = try await village.page(path)
        #expect(answer.status == 503, "\(path)")
        #expect(answer.fields["retry-after"] != nil)
      }
      #expect(try await village.page("/robots.txt").status == 200)
    }
  }

  @Test func `each page links to the privacy page and the operator`() async throws {
    try await Village.open(.inMemory) { village in
      #expect(try await !village.page("/forums").text.contains("Privacy"))
      try await village.changeSettings(
        ["contact_url": "mailto:ada@garden.example", "privacy_url": "https://garden.example/privacy?a=1&b=2"])
      for path in ["/", "/forums", "/t/404"] {
        let text = try await village.page(path).text
        #expect(text.contains(#"<a href="mailto:ada@garden.example">Contact</a>"#), "\(path)")
        #expect(text.contains(#"<a href="https://garden.example/privacy?a=1&amp;b=2">Privacy</a>"#), "\(path)")
      }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a page has an entity tag and is compressed`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, _) = try await village.garden("garden", "public")
      let path = "/f/\(forum)-garden"
      let page = try await village.page(path, fields: ["Accept-Encoding": "identity"])
      let tag = try #require(page.fields["etag"])
      let again = try await village.page(path, fields: ["If-None-Match": tag])
      #expect(again.status == 304 && again.body.isEmpty && again.fields["vary"]?.contains("Cookie") == true)
      if transport == .inMemory {
        let packed = try await village.page(path, fields: ["Accept-Encoding": "gzip"])
        #expect(packed.fields["content-encoding"] == "gzip" && packed.body.count < page.body.count)
        #expect(packed.fields.list("vary") == ["Accept-Language", "Cookie", "Accept-Encoding"])
      }
      try await village.post("News", in: try await village.topic("Frost", in: forum), by: "grace")
      #expect(try await village.page(path, fields: ["If-None-Match": tag]).status == 200)
    }
  }

  @Test func `the front page names the site, its welcome and the public forums`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["name": "The <Allotment>", "welcome": "Come **in**.", "registration": "open"])
      let (forum, _) = try await village.garden("Garden & beds", "public", ["description": "What *grows*."])
      _ = try await village.garden("Members only", "members")
      let empty = try await village.page("/")
      #expect(empty.text.contains("No activity yet"))
      try await village.post("Hello", in: try await village.topic("Frost", in: forum), by: "grace")
      let page = try await village.page("/")
      #expect(page.between("<title>", "</title>") == "The &lt;Allotment&gt;")
      #expect(page.attribute("content", after: "<meta name=\"description\"") == "Come in.")
      #expect(page.text.contains("<p>Come <strong>in</strong>.</p>"))
      #expect(page.text.contains("Garden &amp; beds") && page.text.contains("What grows."))
      #expect(page.text.contains("1 topic · ") && page.text.contains(" · <time datetime="))
      #expect(!page.text.contains("Members only"))
      #expect(page.attribute("href", after: "<a class=\"button\"") == "/sign-in?back=/")
      #expect(page.text.contains("href=\"/sign-in?new&amp;back=/\""))
      #expect(page.attribute("href", after: "<link rel=\"canonical\"") == "http://localhost/")
    }
  }

  @Test func `a site without an owner says how to set it up`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.setState("ada", in: .deactivated)
      let page = try await village.page("/")
      #expect(page.text.contains("New community") && page.text.contains("Open the setup link"))
    }
  }

  @Test func `a forum lists fifty topics a page with their marks`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden", "public")
      try await village.makeSolvable(forum)
      var titles: [String] = []
      for number in 1...120 {
        titles.append("Topic \(number)")
        let topic = try await village.topic("Topic \(number)", in: forum)
        if number > 118 {
          let id = try await village.posts(["Question", "Answer"], in: topic)[1]
          let change: [String: Any] = number == 119 ? ["locked": true, "pinned": true] : ["solved_by": id]
          #expect(try await village.request(.patch, "/conversations/\(topic)", as: "ada", change).status == 200)
        }
      }
      var (path, found): (String?, [String]) = ("/f/\(forum)-garden", [])
      var pages: [Answer] = []
      while let next = path {
        let page = try await village.page(next)
        pages.append(page)
        found += page.text.components(separatedBy: "<h2><a href=\"/t/").dropFirst().compactMap { part in
          part.components(separatedBy: "<bdi>").dropFirst().first?.components(separatedBy: "<").first
        }
        path = page.attribute("href", after: "<link rel=\"next\"")
      }
      #expect(pages.count == 3 && found.count == 120 && Set(found) == Set(titles))
      #expect(found.prefix(2) == ["Topic 119", "Topic 120"])
      #expect(pages[0].text.contains("Pinned</span>") && pages[0].text.contains("Locked</span>"))
      #expect(pages[0].text.contains("Solved</span>") && pages[0].text.contains("1 reply · "))
      // Later pages change with each post.
      #expect(pages[0].attribute("href", after: "<link rel=\"canonical\"") == "http://localhost/f/\(forum)-garden")
      #expect(pages[1].text.contains("noindex, follow") && !pages[0].text.contains("noindex"))
      let previous = try #require(pages[2].attribute("href", after: "<link rel=\"prev\""))
      #expect(try await village.page(previous).text.contains(">Topic 70<"))
      #expect(try await village.page("/f/\(forum)?page=nonsense").status == 404)
    }
  }

  @Test func `tags lead to pages of their topics, which no search engine lists`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden", "public", members: ["grace"])
      var topics: [String] = []
      for number in 1...60 {
        let text = number == 60 ? "#Frost #äpfel #garlic #leek" : "#frost"
        let body = ["title": "Topic \(number)", "text": text]
        let made = try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "grace", body)
        topics.append(try #require(made["id"]))
      }
      _ = try await village.topic("Untagged", in: forum)
      let path = "/f/\(forum)-garden/topics?tag="
      let tagged = ["frost", "%C3%A4pfel", "garlic", "leek"].map { path + $0 }
      let list = try await village.page("/f/\(forum)")
      let links = list.attributes("href", after: "<a").filter { $0.contains("?tag=") }
      #expect(links.prefix(4) == (tagged.prefix(3) + [tagged[0]]), "\(links.prefix(4))")
      let topic = try await village.page("/t/\(topics[59])")
      #expect(topic.attributes("href", after: "<a").filter { $0.contains("?tag=") } == tagged)
      var (next, found): (String?, [String]) = (path + "FROST", [])
      while let path = next {
        let page = try await village.page(path)
        #expect(page.text.contains("noindex, follow") && !page.text.contains("canonical"))
        #expect(page.text.contains("<title>#frost · Garden · ") && page.text.contains(">Show all topics</a>"))
        found += page.attributes("href", after: "<h2><a")
        next = page.attribute("href", after: "<link rel=\"next\"")
      }
      #expect(found.count == 60 && Set(found).count == 60 && !found.contains { $0.contains("untagged") })
      let apples = try await village.page(path + "%C3%84pfel")
      #expect(apples.text.contains(">#äpfel</bdi>") && apples.attributes("href", after: "<h2><a").count == 1)
      let none = try await village.page(path + "%3Cb%3E")
      #expect(none.status == 200 && none.text.contains("No topics with #&lt;b&gt;."))
      for query in ["", String(repeating: "x", count: 65)] {
        #expect(try await village.page(path + query).status == 404)
      }
      let page = try #require(try await village.page(path + "frost").attribute("href", after: "<link rel=\"next\""))
      #expect(try await village.page(page.replacingOccurrences(of: "frost", with: "leek")).status == 404)
    }
  }

  @Test func `a room shows its newest messages and leads to the older ones`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("Garden", "public")
      let ids = try await village.posts((1...120).map { "Message \($0)" }, in: room)
      let page = try await village.page("/f/\(forum)/room")
      #expect(page.posts == Array(ids.suffix(50)) && page.text.contains("120 messages"))
      #expect(page.attribute("href", after: "<link rel=\"next\"") == nil)
      let older = try await village.page(try #require(page.attribute("href", after: "<link rel=\"prev\"")))
      #expect(older.posts == Array(ids[20..<70]))
      let newer = try await village.page(try #require(older.attribute("href", after: "<link rel=\"next\"")))
      #expect(newer.posts == page.posts)
    }
  }

  @Test func `a user's page has the profile and the public feed`() async throws {
    try await Village.open(.inMemory) { village in
      _ = try await village.garden("Garden", "public", members: ["grace"])
      let profile = ["display_name": "Grace <b>", "bio": "I like *bugs*."]
      #expect(try await village.request(.patch, "/users/me", as: "grace", profile).status == 200)
      let plain = try await village.page("/u/grace")
      #expect(plain.text.contains("<h1><bdi>Grace &lt;b&gt;</bdi></h1>") && plain.text.contains("<em>bugs</em>"))
      #expect(plain.text.contains("@grace") && !plain.text.contains("Posts by"))
      let made = try await village.request(
        .post, "/conversations", as: "grace", ["kind": "feed", "readers": ["open_to": "anyone"]])
      let feed = try #require(made["id"], "\(made.text)")
      let id = try await village.post("My first post", in: feed, by: "grace")
      let page = try await village.page("/u/grace")
      #expect(page.posts == [id] && page.text.contains("My first post") && page.text.contains("feed.atom"))
      #expect(page.text.contains("Posts by Grace &lt;b&gt;"))
      #expect(try await village.page("/m/\(id)").fields["location"] == "/u/grace#m\(id)")
      // A repost is its post, once, and only if visitors may read it.
      let open = try #require(
        try await village.request(
          .post, "/conversations", as: "ada", ["kind": "feed", "readers": ["open_to": "anyone"]])["id"])
      let closed = try #require(
        try await village.request(.post, "/conversations", as: "linus", ["kind": "feed"])["id"])
      let (seen, hidden) = (
        try await village.post("Socks, at last", in: open, by: "ada"),
        try await village.post("For members", in: closed, by: "linus")
      )
      for post in [seen, hidden, id] {
        try await village.expect(200, .put, "/messages/\(post)/actions/repost", as: "grace")
      }
      let reposts = try await village.page("/u/grace")
      #expect(reposts.posts == [id, seen] && reposts.text.contains("Socks, at last"))
      #expect(reposts.text.contains("Grace &lt;b&gt; reposted") && !reposts.text.contains("For members"))
      let feeds = try await village.page("/u/grace/feed.json")
      #expect(feeds.count("items") == 1)
      try await village.expect(200, .delete, "/messages/\(seen)", as: "ada")
      #expect(try await village.page("/u/grace").posts == [id])
      // Visitors see only members of public forums.
      for name in ["linus", "nobody", "%20", "a%2Fb"] {
        #expect(try await village.page("/u/\(name)").status == 404)
      }
    }
  }

  @Test func `addresses of members lead to sign-in and back`() async throws {
    try await Village.open(.inMemory) { village in
      let paths = [
        "/feed", "/you", "/you/profile", "/admin/reports", "/search?q=a%20b&x=1", "/f/12/new", "/f/12/settings",
      ]
      for path in paths {
        let answer = try await village.page(path)
        #expect(answer.status == 302 && answer.fields["vary"]?.contains("Cookie") == true)
        let location = try #require(answer.fields["location"])
        let back = URLComponents(string: location)?.queryItems?.first { $0.name == "back" }?.value
        #expect(location.hasPrefix("/sign-in?back=/") && back == path)
        #expect(try await village.page(path, as: "grace").text == Village.app)
      }
    }
  }
}
