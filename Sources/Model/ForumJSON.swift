public import JSON

extension Forum: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeFields(to: &json) }
  }

  /// For an answer that says more beside them.
  public func writeFields(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("title", title)
    json.field("description", about)
    json.field("icon_url", iconURL)
    json.field("visibility", visibility.rawValue)
    json.field("write", write.rawValue)
    json.field("start_topics", startTopics.rawValue)
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
