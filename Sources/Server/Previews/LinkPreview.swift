public import ParleyJSON

/// What stands behind a link.
public struct LinkPreview: Sendable, Hashable {
  /// Where it leads to in the end.
  public let url: String
  public var title: String?
  public var about: String?
  public var siteName: String?
  /// Whether the link itself leads to a picture.
  public var isImage = false
  public var picture: PreviewPicture?

  init(url: String) { self.url = url }
}

/// A copy of the page's picture, so that who looks at it asks nobody but us.
public struct PreviewPicture: Sendable, Hashable {
  /// By which it is asked for; nobody can guess it.
  public let key: String
  public let mimeType: String
  public let width: Int
  public let height: Int
  public let bytes: [UInt8]

  /// Below the host.
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
