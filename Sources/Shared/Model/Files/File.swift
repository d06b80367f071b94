public import ParleyJSON

/// Uploaded file. Its content never changes.
public struct File: Sendable, Hashable {
  public let id: ID<File>
  public let owner: ID<User>
  /// File name from the sender, for display and downloads.
  public let name: String
  /// Type from an app, such as `com.example.invoice`.
  public let type: String?
  /// `image`, `video`, `audio`, `text`, `document`, `archive` or `other`; a newer server may have more.
  public let kind: String
  /// Detected from the content.
  public let mimeType: String
  public let size: Int
  /// Whether everyone may read it.
  public let isPublic: Bool
  /// In pixels, as displayed.
  public let width: Int?
  public let height: Int?
  /// SHA-256 of the content.
  public let digest: [UInt8]
  public var preview: Preview?
  /// Milliseconds since 1970.
  public let createdAt: Int64

  /// Small preview image, made by the uploader.
  public struct Preview: Sendable, Hashable {
    public let mimeType: String
    public let size: Int
    public let width: Int
    public let height: Int

    public init(mimeType: String, size: Int, width: Int, height: Int) {
      self.mimeType = mimeType
      self.size = size
      self.width = width
      self.height = height
    }
  }

  public init(
    id: ID<File>, owner: ID<User>, name: String, type: String?, kind: String, mimeType: String, size: Int,
    isPublic: Bool, width: Int?, height: Int?, digest: [UInt8], preview: Preview?, createdAt: Int64
  ) {
    self.id = id
    self.owner = owner
    self.name = name
    self.type = type
    self.kind = kind
    self.mimeType = mimeType
    self.size = size
    self.isPublic = isPublic
    self.width = width
    self.height = height
    self.digest = digest
    self.preview = preview
    self.createdAt = createdAt
  }

  /// URL path of the content.
  public var address: String { "/api/v1/files/\(id)/content" }
}

/// File with server-only members.
public struct KeptFile: Sendable {
  public let file: File
  public let previewDigest: [UInt8]?
  /// Not referenced: attached to no message and used as no picture.
  public let isUnused: Bool

  public init(_ file: File, previewDigest: [UInt8]?, isUnused: Bool) {
    self.file = file
    self.previewDigest = previewDigest
    self.isUnused = isUnused
  }
}

extension File: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("owner_id", owner)
      json.field("name", name)
      json.field("type", type)
      json.field("kind", kind)
      json.field("mime_type", mimeType)
      json.field("size", size)
      json.field("public", isPublic)
      json.field("width", width)
      json.field("height", height)
      json.field("sha256", Self.hex(digest))
      json.field("url", address)
      json.field("preview", preview.map { PreviewJSON(preview: $0, address: "/api/v1/files/\(id)/preview") })
      json.field("created_at", Timestamp(createdAt))
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
        json.field("mime_type", preview.mimeType)
        json.field("size", preview.size)
        json.field("width", preview.width)
        json.field("height", preview.height)
        json.field("url", address)
      }
    }
  }
}

extension File: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    let preview: Preview? = try object.optional("preview")
    self.init(
      id: try object.read("id"), owner: try object.read("owner_id"), name: try object.string("name"),
      type: try object.optional("type"), kind: try object.string("kind"), mimeType: try object.string("mime_type"),
      size: try object.int("size", in: 0...Int.max), isPublic: try object.bool("public"),
      width: try object.optional("width"), height: try object.optional("height"),
      digest: try Self.bytes(object.value("sha256")), preview: preview, createdAt: Int64(createdAt.milliseconds))
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
    self.init(
      mimeType: try object.string("mime_type"), size: try object.int("size"), width: try object.int("width"),
      height: try object.int("height"))
  }
}
