public import ParleyJSON
public import ParleyModel

/// A local file that is uploaded before its message is posted.
public struct PendingFile: Sendable, Hashable {
  /// The idempotency key of the upload.
  public let id: String
  /// The local path. The file must exist until it is uploaded.
  public var path: String
  /// The file's name on the server.
  public var name: String
  /// The app's type of the file, such as `com.example.photo`.
  public var type: String
  /// The way that apps show the file.
  public var kind: Kind
  /// The app's guess, to show the pending file. The server detects the type from the bytes.
  public var mimeType: String
  /// Whether everyone may read the file.
  public var isPublic: Bool
  /// Whether the file stands in the text or below it.
  public var shown: Shown
  /// The description of a picture, for readers who do not see it.
  public var description: String?
  /// The id after the upload.
  public var file: ID<File>?
  /// A file on the server that is uploaded again: users attach only their own. It has no local path.
  public private(set) var original: ID<File>?

  /// Kinds of files.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The kind of a file until the server detects it from the bytes.
    case image, audio, video, other
  }

  /// The position of the file in the message: in the text or below it. Both are attachments of the message; an embedded one
  /// also has an annotation (`Draft.Annotation.embedded`) for other apps.
  public enum Shown: String, Sendable, Hashable, CaseIterable {
    /// A part of the text, or an attachment below it.
    case embed, attach
  }

  /// A file of the device that is uploaded before its message is posted.
  public init(
    id: String, path: String, name: String, type: String = "", kind: Kind = .other,
    mimeType: String = "application/octet-stream", isPublic: Bool = false, shown: Shown = .attach,
    description: String? = nil
  ) {
    self.id = id
    self.path = path
    self.name = name
    self.type = type
    self.kind = kind
    self.mimeType = mimeType
    self.isPublic = isPublic
    self.shown = shown
    self.description = description
  }
}

extension PendingFile {
  /// A copy of another user's file. The server's name and type are used.
  /// - Parameter kind: the kind as which the text embeds the file; nil if it does not.
  init(copying original: ID<File>, embeddedAs kind: Kind? = nil) {
    self.init(
      id: Outbox.Clock.randomName(), path: "", name: "", kind: kind ?? .other, shown: kind == nil ? .attach : .embed)
    self.original = original
  }
}

extension PendingFile: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("path", path)
      json.field("name", name)
      json.field("type", type)
      json.field("kind", kind.rawValue)
      json.field("mime_type", mimeType)
      json.field("public", isPublic)
      json.field("shown", shown.rawValue)
      if let description { json.field("description", description) }
      json.field("file_id", file)
      if let original { json.field("copy_of", original) }
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      id: try object.string("id"), path: try object.string("path"), name: try object.string("name"),
      type: try object.string("type"), kind: try object.word("kind"), mimeType: try object.string("mime_type"),
      isPublic: try object.bool("public"), shown: try object.word("shown"))
    description = try object.optional("description")
    file = try object.optional("file_id")
    original = try object.optional("copy_of")
  }
}
