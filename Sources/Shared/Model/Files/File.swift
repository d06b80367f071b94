public import ParleyJSON

/// Uploaded file. Its content never changes.
public struct File: Sendable, Hashable {
  /// The id of the file.
  public var id: ID<File>
  /// The id of the uploader.
  public var owner: ID<User>
  /// File name from the sender, for display and downloads.
  public var name: String
  /// Type from an app, such as `com.example.invoice`.
  public var type: String?
  /// The kind of the content, detected from it.
  public var kind: Kind
  /// Detected from the content.
  public var mimeType: String
  /// The size of the content in bytes.
  public var size: Int
  /// Whether everyone may read it.
  public var isPublic: Bool
  /// In pixels, as displayed.
  /// Nil for a file without known dimensions.
  public var width: Int?
  /// The height in pixels, as displayed; nil for a file without known dimensions.
  public var height: Int?
  /// SHA-256 of the content.
  public var digest: [UInt8]
  /// The preview image; nil without one.
  public var preview: Preview?
  /// Milliseconds since 1970.
  public var createdAt: Int64

  /// Kinds of content. A newer server may have more.
  public struct Kind: OpenWord {
    /// The word in JSON.
    public let rawValue: String

    /// Any kind.
    @inlinable public init(rawValue: String) { self.rawValue = rawValue }

    /// A picture.
    public static let image: Kind = "image"
    /// A film.
    public static let video: Kind = "video"
    /// Sound.
    public static let audio: Kind = "audio"
    /// Plain text, also of programs.
    public static let text: Kind = "text"
    /// A document with a layout, such as PDF.
    public static let document: Kind = "document"
    /// Several files in one, such as ZIP.
    public static let archive: Kind = "archive"
    /// Any other content.
    public static let other: Kind = "other"
  }

  /// Small preview image, made by the uploader.
  public struct Preview: Sendable, Hashable {
    /// The type of the preview, detected from its content.
    public var mimeType: String
    /// The size of the preview in bytes.
    public var size: Int
    /// The width of the preview in pixels.
    public var width: Int
    /// The height of the preview in pixels.
    public var height: Int
  }

  /// URL path of the content.
  public var address: String { Self.address(of: id) }

  /// The URL path of the content of a file.
  public static func address(of id: ID<File>) -> String { "/api/v1/files/\(id)/content" }
}

extension File: Record {
  /// Default values, which a decoder replaces.
  public static let blank = File(
    id: ID(0), owner: ID(0), name: "", kind: "", mimeType: "", size: 0, isPublic: false, digest: [], createdAt: 0)

  /// Passes all fields except the digest and the preview to a visitor, by the names of their JSON members.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<File>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("id", &id, \.id)
    try visitor.field("owner_id", &owner, \.owner)
    try visitor.field("name", &name, \.name)
    try visitor.field("type", &type, \.type)
    try visitor.field("kind", &kind, \.kind)
    try visitor.field("mime_type", &mimeType, \.mimeType)
    try visitor.field("size", &size, \.size)
    try visitor.field("public", &isPublic, \.isPublic)
    try visitor.field("width", &width, \.width)
    try visitor.field("height", &height, \.height)
    try visitor.field("created_at", &createdAt, \.createdAt)
  }
}

extension File.Preview: Record {
  /// Default values, which a decoder replaces.
  public static let blank = File.Preview(mimeType: "", size: 0, width: 0, height: 0)

  /// Passes all fields to a visitor; the columns have the prefix `preview_`.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<File.Preview>>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.field("mime_type", &mimeType, \.mimeType, column: "preview_mime_type")
    try visitor.field("size", &size, \.size, column: "preview_size")
    try visitor.field("width", &width, \.width, column: "preview_width")
    try visitor.field("height", &height, \.height, column: "preview_height")
  }
}

/// File with server-only members.
public struct KeptFile: Sendable {
  /// The members that clients see.
  public let file: File
  /// The SHA-256 of the preview; nil without one.
  public let previewDigest: [UInt8]?
  /// Not referenced: attached to no message and used as no picture.
  public let isUnused: Bool

  /// A stored file, with its use by messages and pictures.
  public init(_ file: File, previewDigest: [UInt8]?, isUnused: Bool) {
    self.file = file
    self.previewDigest = previewDigest
    self.isUnused = isUnused
  }
}

extension File: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      writeFields(to: &json)
      json.field("sha256", Self.hex(digest))
      json.field("url", address)
      json.field("preview", preview.map { PreviewJSON(preview: $0, address: "/api/v1/files/\(id)/preview") })
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private struct PreviewJSON: JSONWritable {
    let preview: Preview
    let address: String

    func write(to json: inout JSONWriter) {
      json.object { json in
        preview.writeFields(to: &json)
        json.field("url", address)
      }
    }
  }
}

extension File: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self = .blank
    try readFields(from: &object)
    guard size >= 0 else { throw value.error(.invalid) }
    digest = try Self.bytes(object.value("sha256"))
    preview = try object.optional("preview")
  }

  private static func bytes(_ value: JSONValue) throws(JSONError) -> [UInt8] {
    let digits = Array(try value.string().utf8)
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count - 1, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { break }
      bytes.append(byte)
    }
    guard bytes.count == 32, digits.count == 64 else { throw value.error(.invalid) }
    return bytes
  }
}

extension File.Preview: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self = .blank
    try readFields(from: &object)
  }
}
