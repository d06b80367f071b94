// A message as a JSON object, both ways. Only rare members may be absent: `kind` of a user's message, `edited_by` of an
// unedited message, `moved_from` of an original, `descriptions`, `poll` and `buttons` of a message without any, `repost_of`
// of a message that is no repost, and the tombstone's members of a live message. A tombstone has no content members.

public import ParleyJSON

extension Message: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeFields(to: &json) }
  }

  /// Member names of every message, encoded once for speed.
  fileprivate enum Name {
    static let id = JSONName("id")
    static let conversation = JSONName("conversation_id")
    static let author = JSONName("author_id")
    static let clientID = JSONName("client_id")
    static let seq = JSONName("seq")
    static let previous = JSONName("previous_message")
    static let text = JSONName("text")
    static let entities = JSONName("entities")
    static let annotations = JSONName("annotations")
    static let attachments = JSONName("attachments")
    static let replyTo = JSONName("reply_to")
    static let isMachineOnly = JSONName("machine_only")
    static let createdAt = JSONName("created_at")
    static let sentAt = JSONName("sent_at")
    static let editedAt = JSONName("edited_at")
    static let revision = JSONName("revision")
    static let deleted = JSONName("deleted")
    static let actions = JSONName("actions")
    static let emptyObject = JSONRaw(trusted: Array("{}".utf8))
    static let emptyArray = JSONRaw(trusted: Array("[]".utf8))
  }

  /// - Parameters:
  ///   - mine: the viewer's own actions; nil without a viewer.
  ///   - vote: the viewer's vote in the poll; nil without a viewer.
  func writeFields(
    to json: inout JSONWriter, mine: Set<String>? = nil, vote: [Int]? = nil, showsAnnotations: Bool = true
  ) {
    json.field(Name.id, id)
    json.field(Name.conversation, conversation)
    json.field(Name.author, author)
    json.field(Name.clientID, clientID)
    if kind != .message { json.field("kind", kind.rawValue) }
    json.field(Name.seq, seq)
    json.field(Name.previous, previous)
    // Matched once: each match copies the content.
    switch state {
    case .live(let content):
      content.writeSaid(to: &json, showsAnnotations: showsAnnotations)
      writePlace(to: &json)
      content.writeTimes(to: &json)
      writeRevision(to: &json, isDeleted: false)
      content.writeActions(to: &json, mine: mine)
      content.writeRare(to: &json, vote: vote)
    case .deleted(let tombstone):
      writePlace(to: &json)
      writeRevision(to: &json, isDeleted: true)
      tombstone.write(to: &json)
    }
  }

  private func writePlace(to json: inout JSONWriter) {
    json.field(Name.replyTo, replyTo)
    json.field(Name.isMachineOnly, isMachineOnly)
    json.field(Name.createdAt, Timestamp(createdAt))
  }

  private func writeRevision(to json: inout JSONWriter, isDeleted: Bool) {
    json.field(Name.revision, revision)
    if let movedFrom { json.field("moved_from", movedFrom) }
    json.field(Name.deleted, isDeleted)
  }
}

extension Message.Content {
  fileprivate typealias Name = Message.Name

  fileprivate func writeSaid(to json: inout JSONWriter, showsAnnotations: Bool) {
    json.field(Name.text, text)
    json.field(Name.entities, entities ?? MessageEntities.none)
    if showsAnnotations { json.field(Name.annotations, annotations ?? Name.emptyArray) }
    json.field(Name.attachments, attachments)
    if !descriptions.isEmpty { json.field("descriptions", descriptions) }
  }

  fileprivate func writeTimes(to json: inout JSONWriter) {
    json.field(Name.sentAt, sentAt.map { Timestamp($0) })
    json.field(Name.editedAt, edit.map { Timestamp($0.at) })
    if let edit { json.field("edited_by", edit.by) }
  }

  fileprivate func writeRare(to json: inout JSONWriter, vote: [Int]?) {
    if let poll { json.object("poll") { json in poll.writeMembers(to: &json, vote: vote) } }
    if !buttons.isEmpty { json.field("buttons", buttons) }
    if let repostOf { json.field("repost_of", repostOf) }
  }

  fileprivate func writeActions(to json: inout JSONWriter, mine: Set<String>?) {
    guard !actions.isEmpty || mine?.contains("star") == true else {
      return json.field(Name.actions, Name.emptyObject)
    }
    json.object("actions") { json in
      for action in actions {
        json.object(action.type) { json in
          json.field("count", action.count)
          if let mine { json.field("mine", mine.contains(action.type)) }
        }
      }
      // Only the viewer's own star is counted.
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
  /// Ignores unknown members: a newer server may send more.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), conversation: try object.read("conversation_id"), author: try object.read("author_id"),
      clientID: try object.optional("client_id"), kind: try object.optional("kind") ?? .message,
      seq: try object.int("seq", in: 1...Int.max - 1), previous: try object.optional("previous_message"),
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
      text: try object.string("text"), entities: try Self.entities(object.value("entities")),
      annotations: try Self.annotations(&object), attachments: try object.read("attachments"),
      descriptions: try object.optional("descriptions") ?? [],
      sentAt: sentAt.map { Int64($0.milliseconds) }, edit: try Message.Edit(&object),
      actions: try Message.ActionCount.all(object.object("actions")), poll: try object.optional("poll"),
      buttons: try object.optional("buttons") ?? [], repostOf: try object.optional("repost_of"))
  }

  /// Nil without entities.
  private static func entities(_ value: JSONValue) throws(JSONError) -> JSONRaw? {
    try filled(value, .object).flatMap { $0.compact == MessageEntities.none ? nil : $0 }
  }

  /// Absent if the request excluded annotations.
  private static func annotations(_ object: inout JSONObject) throws(JSONError) -> JSONRaw? {
    try object.optional("annotations") { value throws(JSONError) in try filled(value, .array) } ?? nil
  }

  /// The raw value; nil if empty.
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
