public import ParleyJSON
public import ParleyModel

/// A file that goes before its message.
public struct PendingFile: Sendable, Hashable {
  /// The name under which it is one file, however often it is sent.
  public let id: String
  /// Where it lies on this device. It has to stay there until it was sent.
  public var path: String
  public var name: String
  /// What an app calls its kind of file, such as `com.example.photo`.
  public var type: String
  public var kind: Kind
  /// What the app takes it for, to show it while it waits. The server looks at the bytes itself.
  public var mimeType: String
  public var isPublic: Bool
  public var shown: Shown
  /// Once the server has it.
  public var file: ID<File>?

  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case image, audio, video, other
  }

  /// Where an app shows it: within the text, or below it. The message has it as an attachment in both cases; of one that
  /// is embedded an annotation says so (`Draft.Annotation.embedded`), to all apps that want to know.
  public enum Shown: String, Sendable, Hashable, CaseIterable {
    case embed, attach
  }

  public init(
    id: String, path: String, name: String, type: String = "", kind: Kind = .other,
    mimeType: String = "application/octet-stream", isPublic: Bool = false, shown: Shown = .attach
  ) {
    self.id = id
    self.path = path
    self.name = name
    self.type = type
    self.kind = kind
    self.mimeType = mimeType
    self.isPublic = isPublic
    self.shown = shown
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
      json.field("file_id", file)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      id: try object.string("id"), path: try object.string("path"), name: try object.string("name"),
      type: try object.string("type"), kind: try object.word("kind"), mimeType: try object.string("mime_type"),
      isPublic: try object.bool("public"), shown: try object.word("shown"))
    file = try object.optional("file_id")
  }
}
