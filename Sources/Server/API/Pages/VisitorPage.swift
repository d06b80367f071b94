// The frame of every page: head, header and footer.

import ParleyMarkup
import ParleyModel
import ParleyWire

/// Values of the site and of the request that every page uses.
struct PageSite: Sendable {
  let settings: SiteSettings
  /// The public origin of the server.
  let origin: String
  let files: PageFiles
  let words: PageText
  /// The path and query of the request, for *Sign in*.
  let address: String

  var name: String { settings.name }

  func url(_ path: String) -> String { origin + path }
}

/// One page, without its frame.
struct VisitorPage: Sendable {
  /// Title parts from page to site, without the site's name.
  var titles: [String]
  var description = ""
  /// The canonical address; nil for a page that no search engine should list.
  var canonical: String?
  var previous: String?
  var next: String?
  /// The path of the feeds, without `feed.atom`.
  var feeds: String?
  var isArticle = false
  /// The path of a picture.
  var picture: String?
  /// JSON-LD documents.
  var data: [[UInt8]] = []
  var status = Status.ok
  /// Whether the header has links. The reader of a page without them has a session.
  var hasNavigation = true
  /// The content of `main`.
  let content: @Sendable (inout TagWriter) -> Void

  init(_ titles: [String], _ content: @escaping @Sendable (inout TagWriter) -> Void) {
    self.titles = titles
    self.content = content
  }

  /// The length of descriptions.
  static let descriptionScalars = 160

  /// Takes the description from a text in Markdown.
  mutating func describe(_ markdown: String) {
    description = MarkupDocument(markdown).plainText(limit: Self.descriptionScalars)
  }

  func html(in site: PageSite) -> [UInt8] {
    var html = TagWriter(words: site.words)
    html.declaration()
    html.tag("html", ["lang": site.words.language, "dir": site.words.direction]) { html in
      html.tag("head") { writeHead(to: &$0, site) }
      html.tag("body") { html in
        html.tag("a", ["class": "skip", "href": "#content"], html.words[.skip])
        writeHeader(to: &html, site)
        html.tag("main", ["id": "content"], content)
        html.tag("footer", ["class": "foot"]) { html in
          if let feeds { html.tag("a", ["href": feeds + "feed.atom"], html.words[.feed]) }
          for (address, text) in [
            (site.settings.privacyURL, html.words[.privacy]), (site.settings.contactURL, html.words[.contact]),
          ] {
            if let address { html.tag("a", ["href": address], text) }
          }
          html.tag("span", ["class": "utc"], html.words[.utc])
        }
      }
    }
    return html.bytes
  }

  private func writeHead(to html: inout TagWriter, _ site: PageSite) {
    let title = (titles + [site.name]).joined(separator: " · ")
    html.void("meta", ["charset": "utf-8"])
    html.void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
    html.void("meta", ["name": "color-scheme", "content": "light dark"])
    html.tag("title", [:], title)
    if !description.isEmpty { html.void("meta", ["name": "description", "content": description]) }
    if canonical == nil || !site.settings.isIndexed {
      html.void("meta", ["name": "robots", "content": site.settings.isIndexed ? "noindex, follow" : "noindex"])
    }
    if let canonical { html.void("link", ["rel": "canonical", "href": site.url(canonical)]) }
    if let previous { html.void("link", ["rel": "prev", "href": previous]) }
    if let next { html.void("link", ["rel": "next", "href": next]) }
    if let feeds { writeFeedLinks(to: &html, feeds, title) }
    html.void("link", ["rel": "icon", "href": Self.icon])
    html.void("link", ["rel": "stylesheet", "href": site.files.style])
    if let colors = SiteColors.path(site.settings.hue) { html.void("link", ["rel": "stylesheet", "href": colors]) }
    html.tag("script", ["src": site.files.script, "defer": ""]) { _ in }
    if let canonical { writePreview(to: &html, site, url: site.url(canonical)) }
    for document in data {
      html.tag("script", ["type": "application/ld+json"]) { $0.trusted(document) }
    }
  }

  private func writeFeedLinks(to html: inout TagWriter, _ feeds: String, _ title: String) {
    for (type, name) in [("application/atom+xml", "feed.atom"), ("application/feed+json", "feed.json")] {
      html.void("link", ["rel": "alternate", "type": type, "title": title, "href": feeds + name])
    }
  }

  /// Open Graph and Twitter cards, for link previews.
  private func writePreview(to html: inout TagWriter, _ site: PageSite, url: String) {
    let properties: KeyValuePairs<String, String> = [
      "og:title": titles.first ?? site.name, "og:description": description,
      "og:type": isArticle ? "article" : "website", "og:url": url, "og:image": site.url(picture ?? Self.icon),
      "og:site_name": site.name,
    ]
    for (name, value) in properties where !value.isEmpty {
      html.void("meta", ["property": name, "content": value])
    }
    html.void("meta", ["name": "twitter:card", "content": picture == nil ? "summary" : "summary_large_image"])
  }

  private func writeHeader(to html: inout TagWriter, _ site: PageSite) {
    html.tag("header", ["class": "bar"]) { html in
      html.tag("a", ["class": "site", "href": "/"]) { html in
        html.void("img", ["src": Self.icon, "alt": "", "width": "32", "height": "32"])
        html.tag("bdi", [:], site.name)
      }
      guard hasNavigation else { return }
      html.tag("nav", ["class": "bar-links", "aria-label": html.words[.mainNavigation]]) { html in
        html.tag("a", ["class": "forums-link", "href": "/forums"], html.words[.forums])
        html.tag(
          "a", ["class": "button", "href": PageAddress.signIn(back: site.address), "rel": "nofollow"],
          html.words[.signIn])
      }
    }
  }

  static let icon = "/api/v1/icon"
}

extension TagWriter {
  mutating func breadcrumb(_ links: [(title: String, path: String)]) {
    tag("nav", ["class": "crumbs", "aria-label": words[.breadcrumb]]) { html in
      for (index, (title, path)) in links.enumerated() {
        if index > 0 { html.tag("span", ["aria-hidden": "true"], "›") }
        html.tag("a", ["href": path]) { $0.tag("bdi", [:], title) }
      }
    }
  }

  /// Links to the neighbouring pages, if there are any.
  mutating func pageLinks(
    _ previous: String?, _ next: String?,
    _ texts: (previous: PageText.Key, next: PageText.Key) = (.previous, .next)
  ) {
    guard previous != nil || next != nil else { return }
    tag("nav", ["class": "page-links", "aria-label": words[.pages]]) { html in
      if let previous {
        html.tag("a", ["class": "button", "rel": "prev", "href": previous], html.words[texts.previous])
      }
      if let next { html.tag("a", ["class": "button", "rel": "next", "href": next], html.words[texts.next]) }
    }
  }

  /// A text in Markdown.
  mutating func markdown(_ text: String) {
    tag("div", ["class": "rich", "dir": "auto"]) { $0.trusted(MarkupDocument(text).html) }
  }

  mutating func mark(_ text: String, isGood: Bool = false) {
    tag("span", ["class": isGood ? "mark is-good" : "mark"], text)
  }
}
