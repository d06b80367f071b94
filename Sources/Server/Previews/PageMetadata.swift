import ParleyJSON
import ParleyWire

/// The metadata in a page's head: Open Graph first, then Twitter and Dublin Core names, then the standard elements.
struct PageMetadata: Sendable, Hashable {
  var title: String?
  var about: String?
  var siteName: String?
  /// The reference in the page, possibly relative.
  var picture: String?
  var embed: String?

  /// Names of `meta` elements, in order of preference.
  private static let titles = ["og:title", "twitter:title", "dc.title"]
  private static let abouts = ["og:description", "twitter:description", "description"]
  private static let siteNames = ["og:site_name", "application-name"]
  private static let pictures = [
    "og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src",
  ]
  private static let metaNames = Set(titles + abouts + siteNames + pictures)
  /// Elements with skipped content.
  private static let skippedElements: Set<String> = [
    "script", "style", "noscript", "template", "iframe", "noframes", "xmp", "textarea", "svg", "object",
  ]

  /// - Parameter charset: the charset parameter of the response's Content-Type.
  init(page: [UInt8], charset: String? = nil) {
    var scanner = HTMLScanner(page)
    var charset = PageCharset(byteOrderMarkOf: page) ?? charset.map { PageCharset(label: $0) }
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
        guard let name = names.first(where: { Self.metaNames.contains($0) }), found[name] == nil else { continue }
        found[name] = tag.attributes["content"]
      case "link":
        guard embed == nil, value("type")?.lowercased() == "application/json+oembed" else { continue }
        embed = tag.attributes["href"]
      case let name where Self.skippedElements.contains(name): _ = scanner.text(of: name)
      default: break
      }
    }
    let reader = charset ?? .unspecified
    func first(_ names: [String], _ limit: Int) -> String? {
      for name in names {
        if let range = found[name], let text = reader.text(scanner[range]) {
          let clean = PreviewText.sanitize(HTMLText.decoded(text), limit)
          if !clean.isEmpty { return clean }
        }
      }
      return nil
    }
    self.title = first(Self.titles, PreviewText.maxTitle)
    if self.title == nil, let title, let text = reader.text(scanner[title]) {
      let clean = PreviewText.sanitize(HTMLText.decoded(text), PreviewText.maxTitle)
      self.title = clean.isEmpty ? nil : clean
    }
    about = first(Self.abouts, PreviewText.maxAbout)
    siteName = first(Self.siteNames, PreviewText.maxTitle)
    picture = first(Self.pictures, PreviewText.maxAddress)
    if let embed, let text = reader.text(scanner[embed]) {
      self.embed = PreviewText.sanitize(HTMLText.decoded(text), PreviewText.maxAddress)
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

/// The metadata of an oEmbed response (oembed.com §2.3.4). Its HTML is ignored.
struct OEmbedMetadata: Sendable, Hashable {
  var title: String?
  var siteName: String?
  var picture: String?

  /// Nil if the bytes are not a JSON object.
  init?(_ bytes: [UInt8]) {
    guard var object = try? JSONValue(parsing: bytes).object() else { return nil }
    let members = object.members()
    func text(_ name: String, _ limit: Int) -> String? {
      guard let text = try? members.first(where: { $0.name == name })?.value.string() else { return nil }
      let clean = PreviewText.sanitize(text, limit)
      return clean.isEmpty ? nil : clean
    }
    title = text("title", PreviewText.maxTitle)
    siteName = text("provider_name", PreviewText.maxTitle)
    let isPhoto = text("type", 16) == "photo"
    picture = text("thumbnail_url", PreviewText.maxAddress) ?? (isPhoto ? text("url", PreviewText.maxAddress) : nil)
  }
}

/// Sanitizes text of foreign pages: one line, of bounded length, without control and direction characters.
enum PreviewText {
  /// In Unicode scalars.
  static let maxTitle = 200
  static let maxAbout = 500
  static let maxAddress = 2_048

  static func sanitize(_ text: String, _ limit: Int) -> String {
    var scalars = String.UnicodeScalarView()
    var hasSpace = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        hasSpace = !scalars.isEmpty
        continue
      }
      if isHidden(scalar) { continue }
      if scalars.count + (hasSpace ? 1 : 0) >= limit {
        // Truncated, with an ellipsis.
        return String(scalars) + "…"
      }
      if hasSpace { scalars.append(" ") }
      hasSpace = false
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// Control characters, and those that change the text direction (UAX #9).
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x200e, 0x200f, 0x202a...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffc: true
    default: false
    }
  }
}
