// A forum as one JSON object: public members first, then members that depend on the viewer.

public import ParleyJSON

extension Forum: JSONWritable {
  public func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }

  fileprivate func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("title", title)
    json.field("description", about)
    json.field("icon_url", iconURL)
    json.field("icon_file", icon)
    json.field("visibility", visibility.rawValue)
    json.field("write", write.rawValue)
    json.field("start_topics", startTopics.rawValue)
    json.field("room_mention", roomMention.rawValue)
    json.field("section", section)
    json.field("position", position)
    json.field("slow_seconds", slowSeconds)
    json.field("locked", isLocked)
    json.field("archived", isArchived)
    json.field("solvable", isSolvable)
    json.field("shows_revisions", showsRevisions)
    json.field("call_url", callURL)
    json.field("room_id", room)
    json.field("last_message_id", lastMessage)
    json.field("created_by", createdBy)
    json.field("created_at", Timestamp(createdAt))
    json.field("revision", revision)
  }
}

extension Forum: JSONReadable {
  /// Ignores unknown members: a newer server may send more.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    try self.init(&object)
  }

  fileprivate init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), title: try object.string("title"), about: try object.string("description"),
      iconURL: try object.optional("icon_url"), icon: try object.optional("icon_file"),
      visibility: try object.word("visibility"),
      write: try object.word("write"), startTopics: try object.word("start_topics"),
      roomMention: try object.word("room_mention"),
      section: try object.optional("section"), position: try object.int("position"),
      slowSeconds: try object.int("slow_seconds"), isLocked: try object.bool("locked"),
      isArchived: try object.bool("archived"), isSolvable: try object.bool("solvable"),
      showsRevisions: try object.bool("shows_revisions"), callURL: try object.optional("call_url"),
      room: try object.read("room_id"), createdBy: try object.read("created_by"),
      createdAt: Int64(createdAt.milliseconds), lastMessage: try object.optional("last_message_id"),
      revision: try object.int("revision", in: 1...Int.max))
  }
}

extension ForumView: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      forum.writeMembers(to: &json)
      json.field("role", role?.rawValue)
      if let memberCount { json.field("member_count", memberCount) }
      if let opened { json.field("opened", opened) }
      if let job { json.field("job_id", job) }
    }
  }
}

extension ForumView: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      try Forum(&object), role: try object.optionalWord("role"), memberCount: try object.optional("member_count"),
      opened: try object.optional("opened"))
    job = try object.optional("job_id")
  }
}
