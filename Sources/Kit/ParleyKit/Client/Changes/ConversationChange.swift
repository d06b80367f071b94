public import ParleyJSON
public import ParleyModel

extension ConversationChange {
  /// Omitted values stay unchanged. A value that may be cleared is `.set(…)` or `.cleared`.
  public init(
    title: Change<String> = .unchanged, annotations: [Draft.Annotation]? = nil, readers: OpennessChange? = nil,
    writers: OpennessChange? = nil, from: ForumChange.HistoryStart? = nil, isHistoryVisible: Bool? = nil,
    slowSeconds: Int? = nil, isLocked: Bool? = nil, reason: String? = nil, ifRevision: Int? = nil
  ) {
    self.init()
    self.title = title
    self.annotations = annotations?.json
    self.readers = readers
    self.writers = writers
    self.from = from
    self.isHistoryVisible = isHistoryVisible
    self.slowSeconds = slowSeconds
    self.isLocked = isLocked
    self.reason = reason
    self.ifRevision = ifRevision
  }

  var body: RequestBody {
    .object { json in
      json.optional("title", title)
      json.optional("annotations", annotations)
      if let readers { json.object("readers", readers.write) }
      if let writers { json.object("writers", writers.write) }
      json.optional("from", from)
      json.optional("history_visible", isHistoryVisible)
      json.optional("slow_seconds", slowSeconds)
      json.optional("locked", isLocked)
      json.optional("reason", reason)
      json.optional("if_revision", ifRevision)
    }
  }
}

extension ConversationChange.OpennessChange {
  fileprivate func write(_ json: inout JSONWriter) {
    json.optional("open_to", audience)
    json.optional("immutable", isImmutable)
  }
}
