public import ParleyJSON

/// The preview of a linked page or picture.
public struct LinkPreview: Sendable, Hashable {
  /// The final URL after redirects.
  public let url: String
  public var title: String?
  public var about: String?
  public var siteName: String?
  /// Whether the URL is itself a picture.
  public var isImage = false
  public var picture: PreviewPicture?

  init(url: String) { self.url = url }
}

/// A copy of the page's picture. Clients load it from this server, so that a third party never sees their IP addresses.
public struct PreviewPicture: Sendable, Hashable {
  /// An unguessable key that gives access to the picture.
  public let key: String
  public let mimeType: String
  public let width: Int
  public let height: Int
  public let bytes: [UInt8]

  /// The path of the picture on this server.
  public var address: String { "/api/v1/previews/\(key)/picture" }
}

extension LinkPreview: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in fields(&json) }
  }

  public func fields(_ json: inout JSONWriter) {
    json.field("url", url)
    json.field("title", title)
    json.field("description", about)
    json.field("site_name", siteName)
    json.field("image", isImage)
    json.field("picture", picture)
  }
}

extension PreviewPicture: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("mime_type", mimeType)
      json.field("size", bytes.count)
      json.field("width", width)
      json.field("height", height)
      json.field("url", address)
    }
  }
}
