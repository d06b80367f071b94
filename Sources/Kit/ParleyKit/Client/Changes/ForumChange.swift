public import ParleyJSON
public import ParleyModel

extension ForumChange {
  /// Omitted values stay unchanged. A value that may be cleared is `.set(…)` or `.cleared`.
  public init(
    title: String? = nil, about: String? = nil, iconURL: Change<String> = .unchanged,
    icon: Change<ID<File>> = .unchanged, visibility: Visibility? = nil, from: ForumChange.HistoryStart? = nil,
    write: ForumPolicy? = nil, startTopics: ForumPolicy? = nil, roomMention: ForumPolicy? = nil,
    section: Change<String> = .unchanged, position: Int? = nil, slowSeconds: Int? = nil, isLocked: Bool? = nil,
    isArchived: Bool? = nil, isSolvable: Bool? = nil, showsRevisions: Bool? = nil,
    callURL: Change<String> = .unchanged, reason: String? = nil, ifRevision: Int? = nil
  ) {
    self.init()
    self.title = title
    self.about = about
    self.iconURL = iconURL
    self.icon = icon
    self.visibility = visibility
    self.from = from
    self.write = write
    self.startTopics = startTopics
    self.roomMention = roomMention
    self.section = section
    self.position = position
    self.slowSeconds = slowSeconds
    self.isLocked = isLocked
    self.isArchived = isArchived
    self.isSolvable = isSolvable
    self.showsRevisions = showsRevisions
    self.callURL = callURL
    self.reason = reason
    self.ifRevision = ifRevision
  }

  var body: RequestBody {
    .object { json in
      json.optional("title", title)
      json.optional("description", about)
      json.optional("icon_url", iconURL)
      json.optional("icon_file", icon)
      json.optional("visibility", visibility)
      json.optional("from", from)
      json.optional("write", write)
      json.optional("start_topics", startTopics)
      json.optional("room_mention", roomMention)
      json.optional("section", section)
      json.optional("position", position)
      json.optional("slow_seconds", slowSeconds)
      json.optional("locked", isLocked)
      json.optional("archived", isArchived)
      json.optional("solvable", isSolvable)
      json.optional("shows_revisions", showsRevisions)
      json.optional("call_url", callURL)
      json.optional("reason", reason)
      json.optional("if_revision", ifRevision)
    }
  }
}
