// A message as a JSON object, and back. Only what is rare may be absent: `kind` of what a person wrote, `edited_by` of what
// was never edited, `moved_from` of what is no copy, and a tombstone's fields of what is live. A tombstone has none of
// the fields that say what was said.

public import JSON

extension Message: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeFields(to: &json) }
  }

  /// - Parameter mine: which marks are the viewer's own; nil where there is no viewer.
  func writeFields(to json: inout JSONWriter, mine: Set<String>? = nil, showsAnnotations: Bool = true) {
    json.field("id", id)
    json.field("conversation_id", conversation)
    json.field("author_id", author)
    json.field("client_id", clientID)
    if kind != .message { json.field("kind", kind.rawValue) }
    json.field("seq", seq)
    json.field("previous_message", previous)
    if case .live(let content) = state { content.writeSaid(to: &json, showsAnnotations: showsAnnotations) }
    json.field("reply_to", replyTo)
    json.field("machine_only", isMachineOnly)
    json.field("created_at", Timestamp(createdAt))
    if case .live(let content) = state { content.writeTimes(to: &json) }
    json.field("revision", revision)
    if let movedFrom { json.field("moved_from", movedFrom) }
    switch state {
    case .live(let content):
      json.field("deleted", false)
      content.writeActions(to: &json, mine: mine)
    case .deleted(let tombstone):
      json.field("deleted", true)
      tombstone.write(to: &json)
    }
  }
}

extension Message.Content {
  fileprivate func writeSaid(to json: inout JSONWriter, showsAnnotations: Bool) {
    json.field("text", text)
    if let entities { json.field("entities", entities) } else { json.object("entities") { _ in } }
    if showsAnnotations {
      if let annotations { json.field("annotations", annotations) } else { json.array("annotations") { _ in } }
    }
    json.field("attachments", attachments)
  }

  fileprivate func writeTimes(to json: inout JSONWriter) {
    json.field("sent_at", sentAt.map { Timestamp($0) })
    json.field("edited_at", edit.map { Timestamp($0.at) })
    if let edit { json.field("edited_by", edit.by) }
  }

  fileprivate func writeActions(to json: inout JSONWriter, mine: Set<String>?) {
    json.object("actions") { json in
      for action in actions {
        json.object(action.type) { json in
          json.field("count", action.count)
          if let mine { json.field("mine", mine.contains(action.type)) }
        }
      }
      // Nobody else's star is counted.
      guard mine?.contains("star") == true else { return }
      json.object("star") { json in
        json.field("count", 1)
        json.field("mine", true)
      }
    }
  }
}

extension Message.Tombstone {
  fileprivate func write(to json: inout JSONWriter) {
    json.field("deleted_at", Timestamp(at))
    json.field("deleted_by", by)
    json.field("deletion", deletion.rawValue)
    json.field("reason", reason)
    if let movedTo { json.field("moved_to", movedTo) }
  }
}

extension Message: JSONReadable {
  /// Members that nobody knows here are left alone: a newer server may say more.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), conversation: try object.read("conversation_id"), author: try object.read("author_id"),
      clientID: try object.optional("client_id"), kind: try object.optional("kind") ?? .message,
      seq: try object.int("seq", in: 1...Int.max), previous: try object.optional("previous_message"),
      replyTo: try object.optional("reply_to"), isMachineOnly: try object.bool("machine_only"),
      createdAt: Int64(createdAt.milliseconds), revision: try object.int("revision", in: 1...Int.max),
      movedFrom: try object.optional("moved_from"),
      state: try object.bool("deleted") ? .deleted(Tombstone(&object)) : .live(Content(&object)))
  }
}

extension Message.Content {
  fileprivate init(_ object: inout JSONObject) throws(JSONError) {
    let sentAt: Timestamp? = try object.optional("sent_at")
    self.init(
      text: try object.string("text"), entities: try Self.filled(object.value("entities"), .object),
      annotations: try Self.annotations(&object), attachments: try object.read("attachments"),
      sentAt: sentAt.map { Int64($0.milliseconds) }, edit: try Message.Edit(&object),
      actions: try Message.ActionCount.all(object.object("actions")))
  }

  /// Absent where whoever asked wanted none.
  private static func annotations(_ object: inout JSONObject) throws(JSONError) -> JSONRaw? {
    try object.optional("annotations") { value throws(JSONError) in try filled(value, .array) } ?? nil
  }

  /// The value as it came; nil where it is empty.
  private static func filled(_ value: JSONValue, _ kind: JSONKind) throws(JSONError) -> JSONRaw? {
    guard value.kind == kind else { throw value.error(.wrongType(expected: kind)) }
    let raw = value.raw
    return raw.compact.bytes.count > 2 ? raw : nil
  }
}

extension Message.Edit {
  fileprivate init?(_ object: inout JSONObject) throws(JSONError) {
    guard let at: Timestamp = try object.optional("edited_at") else { return nil }
    self.init(at: Int64(at.milliseconds), by: try object.read("edited_by"))
  }
}

extension Message.ActionCount {
  static func all(_ object: consuming JSONObject) throws(JSONError) -> [Self] {
    var actions: [Self] = []
    for (type, value) in object.members() {
      var action = try value.object()
      actions.append(Self(type: type, count: try action.int("count", in: 1...Int.max)))
    }
    return actions
  }
}

extension Message.Tombstone {
  fileprivate init(_ object: inout JSONObject) throws(JSONError) {
    let at: Timestamp = try object.read("deleted_at")
    self.init(
      at: Int64(at.milliseconds), by: try object.optional("deleted_by"), deletion: try object.read("deletion"),
      reason: try object.optional("reason"), movedTo: try object.optional("moved_to"))
  }
}

extension Message.Kind: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let kind = Self(rawValue: try value.string()) else { throw value.error(.invalid) }
    self = kind
  }
}

extension Message.Deletion: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let deletion = Self(rawValue: try value.string()) else { throw value.error(.invalid) }
    self = deletion
  }
}
