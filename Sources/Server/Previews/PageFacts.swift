import ParleyWire

/// What a page says of itself in its head: Open Graph first, then what others read, then what every page has.
struct PageFacts: Sendable, Hashable {
  var title: String?
  var about: String?
  var siteName: String?
  /// As it stands in the page: perhaps less than an address.
  var picture: String?
  var embed: String?

  /// By which names, the best first.
  private static let titles = ["og:title", "twitter:title", "dc.title"]
  private static let abouts = ["og:description", "twitter:description", "description"]
  private static let siteNames = ["og:site_name", "application-name"]
  private static let pictures = [
    "og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src",
  ]
  private static let wanted = Set(titles + abouts + siteNames + pictures)
  /// What stands in these is no page.
  private static let opaque: Set<String> = [
    "script", "style", "noscript", "template", "iframe", "noframes", "xmp", "textarea", "svg", "object",
  ]

  /// - Parameter charset: as the answer's type says it.
  init(page: [UInt8], charset: String? = nil) {
    var scanner = HTMLScanner(page)
    var charset = PageCharset(markOf: page) ?? charset.map { PageCharset(label: $0) }
    var found: [String: Range<Int>] = [:]
    var (title, embed): (Range<Int>?, Range<Int>?)
    reading: while let tag = scanner.next() {
      func value(_ name: String) -> String? {
        tag.attributes[name].map { String(decoding: scanner[$0], as: UTF8.self) }
      }
      switch tag.name {
      case "body": break reading
      case "title":
        let range = scanner.text(of: "title")
        title = title ?? range
      case "meta":
        if charset == nil { charset = Self.charset(of: value) }
        let names = [value("property"), value("name"), value("itemprop")].compactMap { $0?.lowercased() }
        guard let name = names.first(where: { Self.wanted.contains($0) }), found[name] == nil else { continue }
        found[name] = tag.attributes["content"]
      case "link":
        guard embed == nil, value("type")?.lowercased() == "application/json+oembed" else { continue }
        embed = tag.attributes["href"]
      case let name where Self.opaque.contains(name): _ = scanner.text(of: name)
      default: break
      }
    }
    let reader = charset ?? .guessed
    func first(_ names: [String], _ most: Int) -> String? {
      for name in names {
        if let range = found[name], let text = reader.text(scanner[range]) {
          let tidy = PreviewText.tidy(HTMLText.decoded(text), most)
          if !tidy.isEmpty { return tidy }
        }
      }
      return nil
    }
    self.title = first(Self.titles, PreviewText.mostTitle)
    if self.title == nil, let title, let text = reader.text(scanner[title]) {
      let tidy = PreviewText.tidy(HTMLText.decoded(text), PreviewText.mostTitle)
      self.title = tidy.isEmpty ? nil : tidy
    }
    about = first(Self.abouts, PreviewText.mostAbout)
    siteName = first(Self.siteNames, PreviewText.mostTitle)
    picture = first(Self.pictures, PreviewText.mostAddress)
    if let embed, let text = reader.text(scanner[embed]) {
      self.embed = PreviewText.tidy(HTMLText.decoded(text), PreviewText.mostAddress)
    }
  }

  private static func charset(of value: (String) -> String?) -> PageCharset? {
    if let label = value("charset") { return PageCharset(label: label) }
    guard value("http-equiv")?.lowercased() == "content-type", let type = value("content"),
      let label = MediaType(type)?["charset"]
    else { return nil }
    return PageCharset(label: label)
  }
}
