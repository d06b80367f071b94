public import ParleyJSON
public import ParleyModel

extension TopicChange {
  /// Omitted values stay unchanged. A value that may be cleared is `.set(…)` or `.cleared`.
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
      json.optional("title", title)
      json.optional("solved_by", solvedBy)
      json.optional("pinned", isPinned)
      json.optional("locked", isLocked)
      json.optional("slow_seconds", slowSeconds)
      json.optional("reason", reason)
      json.optional("if_revision", ifRevision)
    }
  }
}
