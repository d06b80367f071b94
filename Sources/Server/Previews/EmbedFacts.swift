import ParleyJSON

/// What an oEmbed answer says (oembed.com §2.3.4). Its HTML is not looked at.
struct EmbedFacts: Sendable, Hashable {
  var title: String?
  var siteName: String?
  var picture: String?

  /// Nil where it is none.
  init?(_ bytes: [UInt8]) {
    guard var object = try? JSONValue(parsing: bytes).object() else { return nil }
    let members = object.members()
    func text(_ name: String, _ most: Int) -> String? {
      guard let text = try? members.first(where: { $0.name == name })?.value.string() else { return nil }
      let tidy = PreviewText.tidy(text, most)
      return tidy.isEmpty ? nil : tidy
    }
    title = text("title", PreviewText.mostTitle)
    siteName = text("provider_name", PreviewText.mostTitle)
    let isPhoto = text("type", 16) == "photo"
    picture = text("thumbnail_url", PreviewText.mostAddress) ?? (isPhoto ? text("url", PreviewText.mostAddress) : nil)
  }
}
