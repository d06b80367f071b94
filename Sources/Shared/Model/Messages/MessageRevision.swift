public import ParleyJSON

/// Text of a message before an edit.
public struct MessageRevision: Sendable, Hashable {
  /// The message's revision at that time. Numbers may have gaps, since not only edits raise it.
  public var revision: Int
  /// Markdown, as sent.
  public var text: String
  /// Mentions, hashtags and links with their positions in the text: a JSON object, nil if empty.
  public var entities: JSONRaw?
  /// The time at which the message got this text, and the user that wrote it.
  public var edit: Message.Edit

  /// An earlier text of a message.
  public init(revision: Int, text: String, entities: JSONRaw? = nil, edit: Message.Edit) {
    self.revision = revision
    self.text = text
    self.entities = entities
    self.edit = edit
  }

  /// A bound of the JSON in bytes.
  public var size: Int { 256 + JSONWriter.size(of: text) + (entities?.bytes.count ?? 0) }
}

extension MessageRevision: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("revision", revision)
      json.field("text", text)
      json.field("entities", entities ?? MessageEntities.none)
      json.field("edited_at", Timestamp(edit.at))
      json.field("edited_by", edit.by)
    }
  }
}
