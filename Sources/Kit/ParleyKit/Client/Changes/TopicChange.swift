public import ParleyJSON
public import ParleyModel

extension TopicChange {
  /// What is not named stays; what may be cleared is `.set(…)` or `.cleared`.
  public init(
    title: String? = nil, solvedBy: Change<ID<Message>> = .unchanged, isPinned: Bool? = nil, isLocked: Bool? = nil,
    slowSeconds: Int? = nil, reason: String? = nil, ifRevision: Int? = nil
  ) {
    self.init()
    self.title = title
    self.solvedBy = solvedBy
    self.isPinned = isPinned
    self.isLocked = isLocked
    self.slowSeconds = slowSeconds
    self.reason = reason
    self.ifRevision = ifRevision
  }

  var body: RequestBody {
    .object { json in
      json.given("title", title)
      json.given("solved_by", solvedBy)
      json.given("pinned", isPinned)
      json.given("locked", isLocked)
      json.given("slow_seconds", slowSeconds)
      json.given("reason", reason)
      json.given("if_revision", ifRevision)
    }
  }
}
