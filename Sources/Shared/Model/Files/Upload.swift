public import ParleyJSON

/// Large file, uploaded in parts.
public struct Upload: Sendable, Hashable {
  /// The id of the upload; the finished file has another one.
  public let id: ID<Upload>
  /// The id of the uploader.
  public let owner: ID<User>
  /// The metadata of the finished file.
  public let draft: FileDraft
  /// Total size in bytes.
  public let size: Int
  /// Bytes received so far.
  public var offset: Int
  /// The time of the start, in milliseconds since 1970.
  public let createdAt: Int64

  /// The state of an upload on the server.
  public init(id: ID<Upload>, owner: ID<User>, draft: FileDraft, size: Int, offset: Int, createdAt: Int64) {
    self.id = id
    self.owner = owner
    self.draft = draft
    self.size = size
    self.offset = offset
    self.createdAt = createdAt
  }
}

extension Upload: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("name", draft.name)
      json.field("type", draft.type)
      json.field("public", draft.isPublic)
      json.field("size", size)
      json.field("offset", offset)
      json.field("created_at", Timestamp(createdAt))
    }
  }
}

/// Progress of an upload, as its sender receives it.
public struct UploadProgress: Sendable, Hashable, JSONReadable {
  /// The id of the upload.
  public let id: ID<Upload>
  /// The total size in bytes.
  public let size: Int
  /// The number of bytes received so far; the next part begins at this offset.
  public let offset: Int

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    id = try object.read("id")
    size = try object.int("size", in: 0...Int.max)
    offset = try object.int("offset", in: 0...size)
  }
}

/// Metadata of a file, sent beside the bytes.
public struct FileDraft: Sendable, Hashable {
  /// The file name for display and downloads, at most 255 characters.
  public var name: String
  /// A type for apps, such as `com.example.invoice`; nil without one.
  public var type: String?
  /// Whether each caller with the id may read the file.
  public var isPublic: Bool
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second file.
  public var clientID: String?

  /// Metadata of a file to upload; by default a private file without a name.
  public init(name: String = "", type: String? = nil, isPublic: Bool = false, clientID: String? = nil) {
    self.name = name
    self.type = type
    self.isPublic = isPublic
    self.clientID = clientID
  }

  /// Request to start an upload in parts: metadata and total size.
  public static func upload(_ object: inout JSONObject) throws(JSONError) -> (draft: FileDraft, size: Int) {
    let draft = FileDraft(
      name: try object.string("name"), type: try object.optional("type"),
      isPublic: try object.optional("public") ?? false, clientID: try object.optional("client_id"))
    return (draft, try object.int("size", in: 1...Int.max))
  }
}
