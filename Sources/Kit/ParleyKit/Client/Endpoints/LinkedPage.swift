public import ParleyJSON
public import ParleyModel

/// The preview of a link, from the metadata of the page.
public struct LinkedPage: JSONReadable, Sendable, Hashable {
  /// The address after redirects.
  public let address: String
  /// The title of the page.
  public let title: String?
  /// The description of the page.
  public let about: String?
  /// The name of the page's site.
  public let siteName: String?
  /// Whether the link is a picture.
  public let isImage: Bool
  /// The picture of the page, stored by the server.
  public let picture: Picture?
  /// The picture as a file of the caller, if requested with `keep`.
  public let file: File?

  /// A picture of a link preview.
  public struct Picture: JSONReadable, Sendable, Hashable {
    /// The media type.
    public let mimeType: String
    /// In bytes.
    public let size: Int
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// Relative to the server's address.
    public let path: String

    public init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      mimeType = try object.string("mime_type")
      size = try object.int("size")
      width = try object.int("width")
      height = try object.int("height")
      path = try object.string("url")
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    address = try object.string("url")
    title = try object.optional("title")
    about = try object.optional("description")
    siteName = try object.optional("site_name")
    isImage = try object.bool("image")
    picture = try object.optional("picture")
    file = try object.optional("file")
  }
}
