import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct FeedTests {
  @Test func `feeds of the site and of a forum have the newest topics`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden & <beds>", "public", members: ["grace"])
      let (other, _) = try await village.garden("Kitchen", "public", members: ["grace"])
      for number in 1...55 {
        let topic = try await village.topic("Topic \(number) <i>", in: number == 55 ? other : forum)
        _ = try await village.posts(["First **\(number)**", "Reply"], in: topic)
      }
      let site = try await village.page("/feed.json")
      #expect(site.fields["content-type"] == "application/feed+json")
      #expect(site["version"] == "https://jsonfeed.org/version/1.1" && site["feed_url"] == "http://localhost/feed.json")
      #expect(site.count("items") == 50 && site["items.0.title"] == "Topic 55 <i>")
      #expect(site["items.1.content_html"] == "<p>First <strong>54</strong></p>\n")
      #expect(site["items.0.authors.0.name"] == "grace")
      let garden = try await village.page("/f/\(forum)-garden/feed.json")
      #expect(garden["items.0.title"] == "Topic 54 <i>" && garden["title"] == "Garden & <beds> · Parley")

      let atom = try await village.page("/feed.atom")
      #expect(atom.fields["content-type"] == "application/atom+xml; charset=utf-8")
      #expect(atom.text.contains("<title>Topic 55 &lt;i&gt;</title>"))
      #expect(atom.text.contains("&lt;strong&gt;55&lt;/strong&gt;"))
      let document = XMLParser(data: Data(atom.body))
      #expect(document.parse())
      let tag = try #require(atom.fields["etag"])
      #expect(try await village.page("/feed.atom", fields: ["If-None-Match": tag]).status == 304)
      #expect(atom.fields["cache-control"] == "public, max-age=60")
    }
  }

  @Test func `a topic's feed has its newest posts with permalinks`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden", "public", members: ["grace"])
      let topic = try await village.topic("Frost", in: forum)
      let ids = try await village.posts((1...60).map { "Post \($0)" }, in: topic)
      let feed = try await village.page("/t/\(topic)-frost/feed.json")
      #expect(feed.count("items") == 50 && feed["items.0.id"] == "http://localhost/m/\(ids[59])")
      #expect(feed["items.0.url"] == "http://localhost/t/\(topic)-frost?from=60#m\(ids[59])")
      _ = try await village.request(.patch, "/messages/\(ids[59])", as: "grace", ["text": "Edited"])
      let edited = try await village.page("/t/\(topic)-frost/feed.json")
      #expect(edited["items.0.content_html"] == "<p>Edited</p>\n")
      #expect(edited["items.0.date_modified"] != edited["items.0.date_published"])
      let page = try await village.page("/t/\(topic)-frost")
      let feeds = page.attributes("href", after: "<link rel=\"alternate\"")
      #expect(feeds == ["/t/\(topic)-frost/feed.atom", "/t/\(topic)-frost/feed.json"])
      for path in feeds { #expect(try await village.page(path).status == 200) }
    }
  }

  @Test func `an empty site has valid feeds`() async throws {
    try await Village.open(.inMemory) { village in
      #expect(try await village.page("/feed.json").count("items") == 0)
      let atom = try await village.page("/feed.atom")
      #expect(XMLParser(data: Data(atom.body)).parse())
    }
  }
}
