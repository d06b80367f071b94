// The manifest of the web app (W3C Web Application Manifest): phones install the site under its own name and icon, and
// share texts, links and files with it.

import Community
import ParleyJSON
import ParleyModel
import Web

extension PageContext {
  func manifest() throws(Refusal) -> Response {
    let icons = Self.icons(try view.getSiteIcon())
    let words = site.files.languages.fallbackWords
    var json = JSONWriter()
    json.object { json in
      json.field("id", "/")
      json.field("name", site.name)
      json.field("short_name", Self.shortName(site.name))
      json.field("start_url", "/")
      json.field("scope", "/")
      json.field("display", "standalone")
      json.field("background_color", "#fbfaf8")
      json.field("theme_color", SiteColors.accent(hue: site.settings.hue))
      json.array("icons") { json in
        for icon in icons { icon.write(to: &json) }
      }
      json.array("shortcuts") { json in
        for (name, path) in [(PageText.Key.forums, "/forums"), (.messagesPage, "/messages")] {
          json.object { json in
            json.field("name", words[name])
            json.field("url", path)
          }
        }
      }
      json.object("share_target") { json in Self.writeShareTarget(to: &json) }
    }
    return Self.file(json.bytes, .forExtension("webmanifest"))
  }

  private struct Icon {
    var source = "/api/v1/icon"
    var sizes = "any"
    var type = "image/svg+xml"
    var purpose = "any"

    func write(to json: inout JSONWriter) {
      json.object { json in
        json.field("src", source)
        json.field("sizes", sizes)
        json.field("type", type)
        json.field("purpose", purpose)
      }
    }
  }

  /// The icon of the site. Without an own one large enough to install, the icon of Parley as well.
  private static func icons(_ icon: ForumIcon) -> [Icon] {
    let whole = Icon(source: "/icon-full.svg", purpose: "maskable")
    guard case .file(let kept) = icon else { return [Icon(), whole] }
    let (width, height) = (kept.file.width ?? 0, kept.file.height ?? 0)
    let own = Icon(sizes: width > 0 && height > 0 ? "\(width)x\(height)" : "any", type: kept.file.mimeType)
    return min(width, height) >= minIconSide ? [own] : [own, Icon(source: "/icon.svg")]
  }

  /// The icon that iPhones and iPads put on the Home Screen, which they ask for at a fixed address: that of the site if it is a PNG
  /// of a sufficient size, else Parley's.
  func touchIcon() throws(Refusal) -> String {
    guard case .file(let kept) = try view.getSiteIcon(), kept.file.mimeType == "image/png",
      min(kept.file.width ?? 0, kept.file.height ?? 0) >= Self.minIconSide
    else { return "/icon-touch.png" }
    return "/api/v1/icon"
  }

  /// Smaller icons make no app installable.
  private static let minIconSide = 144

  /// The first words that fit below an icon.
  static func shortName(_ name: String) -> String {
    guard name.count > maxShortName else { return name }
    var short = ""
    for word in name.split(separator: " ") {
      guard short.count + word.count < maxShortName else { break }
      short += short.isEmpty ? String(word) : " \(word)"
    }
    return short.isEmpty ? String(name.prefix(maxShortName)) : short
  }

  private static let maxShortName = 12

  /// The service worker takes the request.
  private static func writeShareTarget(to json: inout JSONWriter) {
    json.field("action", "/share")
    json.field("method", "POST")
    json.field("enctype", "multipart/form-data")
    json.object("params") { json in
      for name in ["title", "text", "url"] { json.field(name, name) }
      json.array("files") { json in
        json.object { json in
          json.field("name", "files")
          json.field("accept", ["image/*", "video/*", "audio/*", "text/*", "application/pdf"])
        }
      }
    }
  }
}
