// JSON decoding of model types that only clients decode.

public import ParleyJSON
public import ParleyModel

extension JobView: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      id: try object.read("id"), kind: try object.read("kind"), state: try object.word("state"),
      progress: try object.double("progress"), error: try object.optional("error"),
      startedAt: try object.moment("created_at"), finishedAt: try object.optionalMoment("finished_at"))
  }
}

extension MessageRevision: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      revision: try object.int("revision"), text: try object.string("text"),
      entities: try object.raw("entities").compact,
      edit: Message.Edit(at: try object.moment("edited_at"), by: try object.read("edited_by")))
  }
}

extension MessageReceipt: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      user: try object.read("user_id"), isDelivered: try object.bool("delivered"), isRead: try object.bool("read"))
  }
}

extension MessageAction: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      type: try object.string("type"), user: try object.read("user_id"), at: try object.moment("created_at"))
  }
}

extension ReadConversation: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      try object.read("conversation_id"),
      ReadPosition(readSeq: try object.int("read_up_to"), deliveredSeq: try object.int("delivered_up_to")),
      unread: try object.int("unread_count"))
  }
}

extension UnreadItem: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let kind = try object.string("kind")
    self.init(
      kind == "forum" ? .forum : .conversation(try object.word("kind")), try object.read("conversation_id"),
      forum: try object.optional("forum_id"))
    title = try object.optional("title")
    unread = try object.int("unread_count")
    firstUnread = try object.optional("first_unread")
    newTopics = try object.int("new_topics")
    topics = try object.read("topics")
    mentions = try object.int("mentions")
    replies = try object.int("replies")
    message = try object.optional("message")
  }
}

extension ConversationDigest: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let cursor: EventCursor = try object.read("cursor")
    self.init(digest: try object.string("digest"), parts: try object.read("parts"), lastEvent: cursor.event)
  }
}

extension ConversationDigest.Part: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let (first, last) = (try object.int("from_seq", in: 1...Int.max), try object.int("to_seq", in: 1...Int.max))
    guard first <= last else { throw value.error(.invalid) }
    self.init(first...last, digest: try object.string("digest"))
  }
}

// MARK: Moderation and administration

extension Removal: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      id: try object.read("id"), author: try object.optional("author_id"), invite: try object.optional("invite_id"),
      forum: try object.optional("forum_id"), since: try object.moment("since"),
      reason: try object.optional("reason"), createdBy: try object.read("created_by"),
      createdAt: try object.moment("created_at"), removedCount: try object.int("removed"),
      finishedAt: try object.optionalMoment("finished_at"), undoneBy: try object.optional("undone_by"),
      undoneAt: try object.optionalMoment("undone_at"), restoredCount: try object.int("restored"),
      restoredAt: try object.optionalMoment("restored_at"))
  }
}

extension Destruction: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(isPurged: try object.bool("purged"), copies: try object.read("copies"))
  }
}

extension Sanction: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      id: try object.read("id"), user: try object.read("user_id"), kind: try object.word("kind"),
      forum: try object.optional("forum_id"), until: try object.optionalMoment("until"),
      reason: try object.optional("reason"), createdBy: try object.read("created_by"),
      createdAt: try object.moment("created_at"), liftedAt: try object.optionalMoment("lifted_at"))
  }
}

extension Welcome: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      inviter: try object.read("inviter"), role: try object.word("role"), forum: try object.optional("forum_id"),
      forumTitle: try object.optional("forum_title"))
  }
}

extension LinkPurpose: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let word = try object.string("kind")
    guard let kind = Kind(rawValue: word) else { throw value.error(.invalid) }
    self.init(
      kind: kind, user: try object.optional("user"), expiresAt: try object.optionalMoment("expires_at"),
      invite: try object.optional("invite"))
  }
}

extension DataExport: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      id: try object.read("id"), state: try object.word("state"), createdAt: try object.moment("created_at"),
      finishedAt: try object.optionalMoment("finished_at"), expiresAt: try object.optionalMoment("expires_at"),
      size: try object.optional("size"), missingCount: try object.int("missing_files"),
      error: try object.optional("error"))
  }
}

extension StoredBackup: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      id: try object.read("id"), name: try object.string("name"), createdBy: try object.optional("created_by"),
      createdAt: try object.moment("created_at"), finishedAt: try object.optionalMoment("finished_at"),
      state: try object.word("state"), size: try object.optional("size"), missingCount: try object.int("missing_files"))
  }
}

extension Statistics: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    self.init()
    var object = try value.object()
    openReports = try object.int("open_reports")
    var users = try object.object("users")
    self.users = try users.int("all")
    pendingUsers = try users.int("pending")
    activeUsers = try users.int("active_this_week")
    messages = try object.int("messages")
    var storage = try object.object("storage")
    databaseSize = try storage.int("database_bytes")
    fileSize = try storage.int("files_bytes")
    backupSize = try storage.int("backups_bytes")
    replacedSize = try storage.int("replaced_bytes")
    folderSize = try storage.int("folder_bytes")
    freeSpace = try storage.optional("free_bytes")
    totalSpace = try storage.optional("total_bytes")
    lastRestoreTest = try object.optional("last_restore_test")
    lastOffSite = try object.optionalMoment("last_off_site_at")
    lastBackup = try object.optional("last_backup") { value throws(JSONError) in
      var backup = try value.object()
      return Backup(at: try backup.moment("at"), size: try backup.int("size"))
    }
  }
}

extension JSONObject {
  /// Milliseconds since 1970.
  fileprivate mutating func moment(_ name: String) throws(JSONError) -> Int64 {
    let time: Timestamp = try read(name)
    return Int64(time.milliseconds)
  }

  fileprivate mutating func optionalMoment(_ name: String) throws(JSONError) -> Int64? {
    let time: Timestamp? = try optional(name)
    return time.map { Int64($0.milliseconds) }
  }
}
