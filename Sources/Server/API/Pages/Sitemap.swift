// sitemap.xml (sitemaps.org) and robots.txt: public content, for search engines. A setting of the site turns both off.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension PageContext {
  /// The limit of the protocol for the entries of one file.
  static let maxSitemapEntries = 50_000
  /// Memory of one file: its entries as rows and as text.
  static let maxSitemapBytes = maxSitemapEntries * 160

  /// The index: one part with the forums, and one per 50,000 topics.
  func sitemapIndex() async throws -> Response {
    try requireIndexed()
    let count = try await api.community.countPublicTopics(for: caller)
    let parts = (count + Self.maxSitemapEntries - 1) / Self.maxSitemapEntries
    let names = ["forums"] + (0..<parts).map { "topics-\($0 + 1)" }
    let bytes = Self.sitemap("sitemapindex") { xml in
      for name in names {
        xml.tag("sitemap") { $0.tag("loc", [:], site.url("/sitemap/\(name).xml")) }
      }
    }
    return Self.file(bytes, Self.xml)
  }

  func sitemapPart() async throws -> Response {
    try requireIndexed()
    let name = request.parameters["part"] ?? ""
    if name == "forums.xml" { return try await forumsSitemap() }
    guard name.hasPrefix("topics-"), name.hasSuffix(".xml"),
      let number = Int(name.dropFirst("topics-".count).dropLast(".xml".count)), 1...Self.maxSitemapParts ~= number
    else { throw Refusal.notFound }
    let size = Self.maxSitemapEntries
    let topics = try await api.community.listPublicTopics(after: (number - 1) * size, limit: size, for: caller)
    guard !topics.isEmpty else { throw Refusal.notFound }
    let site = site
    let bytes = try await api.community.render(for: caller) {
      Self.urls(topics.map { (PageAddress.topic($0.id, $0.title), $0.lastMessageAt) }, in: site)
    }
    return Self.file(bytes, Self.xml)
  }

  private static let maxSitemapParts = 10_000

  /// The front page and the forums, with the time of their newest message.
  private func forumsSitemap() async throws -> Response {
    var entries: [(path: String, time: Int64?)] = [("/", nil), ("/forums", nil)]
    var position: ListPosition?
    repeat {
      let found = try view.listForums(PageRequest(position, limit: 200), for: caller)
      let forums = found.items.map(\.forum)
      let last = try await messages(forums.compactMap(\.lastMessage))
      for forum in forums {
        let time = forum.lastMessage.flatMap { last[$0]?.message.createdAt }
        entries.append((PageAddress.forum(forum), time))
        if time != nil { entries.append((PageAddress.room(of: forum), time)) }
      }
      position = found.next
    } while position != nil && entries.count < Self.maxSitemapEntries - 400
    return Self.file(Self.urls(entries, in: site), Self.xml)
  }

  private static func urls(_ entries: [(path: String, time: Int64?)], in site: PageSite) -> [UInt8] {
    sitemap("urlset") { xml in
      for (path, time) in entries {
        xml.tag("url") { xml in
          xml.tag("loc", [:], site.url(path))
          if let time { xml.tag("lastmod", [:], Timestamp.format(Int(time))) }
        }
      }
    }
  }

  private static func sitemap(_ root: StaticString, _ content: (inout TagWriter) -> Void) -> [UInt8] {
    var xml = TagWriter(.xml)
    xml.declaration()
    xml.tag(root, ["xmlns": "http://www.sitemaps.org/schemas/sitemap/0.9"], content)
    return xml.bytes
  }

  private static let xml = ContentType.forExtension("xml")

  private func requireIndexed() throws(Refusal) {
    guard site.settings.isIndexed else { throw .notFound }
  }

  /// RFC 9309.
  func robots() -> Response {
    var lines = ["User-agent: *"]
    if site.settings.isIndexed {
      lines += Self.disallowed.map { "Disallow: \($0)" }
      lines += Self.allowed.map { "Allow: \($0)" }
      lines += ["", "Sitemap: \(site.url("/sitemap.xml"))"]
    } else {
      lines.append("Disallow: /")
    }
    return Self.file(Array((lines.joined(separator: "\n") + "\n").utf8), .plainText)
  }

  private static let disallowed = ["/api", "/search", "/admin", "/you", "/members", "/messages", "/sign-in", "/m/"]
  /// Pictures of pages.
  private static let allowed = [VisitorPage.icon, "/api/v1/forums/", "/api/v1/users/", "/api/v1/files/"]
}
