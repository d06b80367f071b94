import ParleyJSON

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
