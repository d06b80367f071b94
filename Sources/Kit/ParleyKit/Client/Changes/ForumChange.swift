public import ParleyJSON
public import ParleyModel

extension ForumChange {
  /// What is not named stays; what may be cleared is `.set(…)` or `.cleared`.
  public init(
    title: String? = nil, about: String? = nil, iconURL: Change<String> = .unchanged,
    icon: Change<ID<File>> = .unchanged, visibility: Visibility? = nil, from: ForumChange.HistoryStart? = nil,
    write: ForumPolicy? = nil, startTopics: ForumPolicy? = nil, ring: ForumPolicy? = nil,
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
    self.ring = ring
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
      json.given("title", title)
      json.given("description", about)
      json.given("icon_url", iconURL)
      json.given("icon_file", icon)
      json.given("visibility", visibility)
      json.given("from", from)
      json.given("write", write)
      json.given("start_topics", startTopics)
      json.given("ring", ring)
      json.given("section", section)
      json.given("position", position)
      json.given("slow_seconds", slowSeconds)
      json.given("locked", isLocked)
      json.given("archived", isArchived)
      json.given("solvable", isSolvable)
      json.given("shows_revisions", showsRevisions)
      json.given("call_url", callURL)
      json.given("reason", reason)
      json.given("if_revision", ifRevision)
    }
  }
}
