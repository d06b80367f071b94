// A conversation as one JSON object; `OwnConversation` adds members to the same object.

public import ParleyJSON

extension Conversation: JSONMembers {
  /// Writes the members for all readers into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("kind", kind.rawValue)
    json.field("forum_id", forum)
    json.field("owner_id", owner)
    json.field("type", type)
    writeFields(to: &json)
    json.field("readers", readers)
    json.field("writers", writers)
    json.field("pinned", isPinned)
    json.field("solved_by", solvedBy)
    json.field("tags", tags)
    json.field("distinct", isDistinct)
    json.field("last_seq", lastSeq)
    json.field("last_message_id", lastMessage)
    json.field("created_by", createdBy)
    json.field("created_at", Timestamp(createdAt))
    json.field("revision", revision)
    if let participantCount { json.field("participant_count", participantCount) }
    if let participants { json.field("participants", participants) }
  }

  /// Decodes the members for all readers; unknown members are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), kind: try object.word("kind"), forum: try object.optional("forum_id"),
      owner: try object.optional("owner_id"), type: try object.optional("type"), readers: try object.read("readers"),
      writers: try object.read("writers"), isPinned: try object.bool("pinned"),
      solvedBy: try object.optional("solved_by"), isDistinct: try object.bool("distinct"),
      lastSeq: try object.int("last_seq", in: 0...Int.max - 1), lastMessage: try object.optional("last_message_id"),
      createdBy: try object.read("created_by"), createdAt: Int64(createdAt.milliseconds),
      revision: try object.int("revision", in: 1...Int.max),
      participantCount: try object.optional("participant_count"), participants: try object.optional("participants"))
    tags = try object.optional("tags") ?? []
    try readFields(from: &object)
  }
}

extension Conversation.Openness: JSONWritable {
  public func write(to json: inout JSONWriter) { json.object { writeFields(to: &$0) } }
}

extension Conversation.Openness: JSONReadable {
  /// Absent members have their defaults.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init()
    try readFields(from: &object, keepsAbsent: true)
  }
}

extension OwnConversation: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      conversation.writeMembers(to: &json)
      json.field("last_message", lastMessage)
      json.field("unread_count", unread)
      json.field("read_up_to", readSeq)
      json.field("delivered_up_to", deliveredSeq)
      json.field("last_offset", lastOffset)
      json.field("level", level.rawValue)
      participation?.writeMembers(to: &json)
    }
  }
}

extension OwnConversation: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      try Conversation(&object), lastMessage: try object.optional("last_message"),
      unread: try object.int("unread_count", in: 0...Int.max), readSeq: try object.int("read_up_to", in: 0...Int.max),
      deliveredSeq: try object.int("delivered_up_to", in: 0...Int.max),
      lastOffset: try object.int("last_offset", in: 0...Int.max), level: try object.word("level"),
      participation: try Participation(&object))
  }
}

extension OwnConversation.Participation {
  func writeMembers(to json: inout JSONWriter) {
    json.field("role", role.rawValue)
    json.field("from_seq", fromSeq)
    json.field("from_offset", fromOffset)
    json.field("joined_seq", joinedSeq)
    json.field("request", isRequest)
  }

  init?(_ object: inout JSONObject) throws(JSONError) {
    guard let role: ParticipantRole = try object.optionalWord("role") else { return nil }
    self.init(
      role: role, fromSeq: try object.int("from_seq", in: 1...Int.max),
      fromOffset: try object.int("from_offset", in: 1...Int.max),
      joinedSeq: try object.int("joined_seq", in: 0...Int.max), isRequest: try object.bool("request"))
  }
}

extension GainedConversation: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      conversation.writeMembers(to: &json)
      readPosition.writeMembers(to: &json)
      if let participation { return participation.writeMembers(to: &json) }
      json.field("from_seq", 1)
      json.field("from_offset", 1)
    }
  }
}

extension GainedConversation: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try Conversation(&object), try OwnConversation.Participation(&object), try ReadPosition(&object))
  }
}
