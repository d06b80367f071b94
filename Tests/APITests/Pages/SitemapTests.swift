import Foundation
import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct SitemapTests {
  @Test func `the sitemap lists public forums and topics with their last change`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("Garden", "public")
      let topic = try await village.topic("Frost & ice", in: forum)
      try await village.post("x", in: topic, by: "grace")
      let index = try await village.page("/sitemap.xml")
      #expect(index.fields["content-type"] == "application/xml")
      #expect(index.paths.isSuperset(of: ["/sitemap/forums.xml", "/sitemap/topics-1.xml"]))
      let forums = try await village.page("/sitemap/forums.xml")
      #expect(forums.paths.isSuperset(of: ["/", "/forums", "/f/\(forum)-garden", "/f/\(forum)/room"]))
      let topics = try await village.page("/sitemap/topics-1.xml")
      #expect(topics.paths.contains("/t/\(topic)-frost-ice"))
      let time = try #require(topics.between("<lastmod>", "</lastmod>"))
      #expect(Timestamp.parse(time) != nil)
      for part in ["topics-0.xml", "topics-2.xml", "topics-x.xml", "topics-99999999999999999999.xml", "other.xml"] {
        #expect(try await village.page("/sitemap/\(part)").status == 404)
      }
      for answer in [index, forums, topics] { #expect(XMLParser(data: Data(answer.body)).parse()) }
      #expect(room != forum)
    }
  }

  @Test func `a setting hides the site from search engines`() async throws {
    try await Village.open(.inMemory) { village in
      _ = try await village.garden("Garden", "public")
      let robots = try await village.page("/robots.txt")
      #expect(robots.fields["content-type"] == "text/plain; charset=utf-8")
      for line in ["Sitemap: http://localhost/sitemap.xml", "Disallow: /api", "Disallow: /search", "Disallow: /admin"] {
        #expect(robots.text.split(separator: "\n").contains(Substring(line)))
      }
      #expect(try await !village.page("/").text.contains("noindex"))
      try await village.changeSettings(["search_engines": false])
      #expect(try await village.page("/robots.txt").text == "User-agent: *\nDisallow: /\n")
      #expect(try await village.page("/").text.contains("<meta name=\"robots\" content=\"noindex\">"))
      for path in ["/sitemap.xml", "/sitemap/forums.xml"] { #expect(try await village.page(path).status == 404) }
      #expect(try await village.page("/feed.atom").status == 200)
    }
  }
}
