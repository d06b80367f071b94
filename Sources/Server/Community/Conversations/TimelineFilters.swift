// Saved filters of timelines. They are private to their user.

public import ParleyModel
import Storage

extension Community {
  /// Stores a filter. A filter of that name is replaced.
  public func setTimelineFilter(
    _ name: String, _ draft: TimelineFilterDraft, by caller: Caller
  ) async throws(Refusal) -> (filter: TimelineFilter, isNew: Bool) {
    let user = try caller.requireUser(.write)
    let name = try Texts.line(name, "name", scalars: bounds.filterNameScalars)
    let draft = try draft.checked(bounds)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let filter = TimelineFilter(
        name: name, include: try tx.criteria(draft.include, "include", for: caller),
        exclude: try tx.criteria(draft.exclude, "exclude", for: caller))
      let isNew = try tx.timelineFilter(name, of: user) == nil
      if isNew, try tx.timelineFilterCount(of: user) >= bounds.timelineFilters {
        throw .tooMany(limit: bounds.timelineFilters)
      }
      try tx.set(filter, of: user)
      return (filter, isNew)
    }
  }

  /// Idempotent.
  public func deleteTimelineFilter(_ name: String, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    let name = try Texts.line(name, "name", scalars: bounds.filterNameScalars)
    try await store.write { tx throws(Refusal) in try tx.deleteTimelineFilters(name, of: user) }
  }

  /// Deletes all filters of the caller.
  public func deleteTimelineFilters(by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in try tx.deleteTimelineFilters(of: user) }
  }
}

extension CommunityView {
  /// The caller's filters by name.
  public func listTimelineFilters(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<TimelineFilter> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey([], text: $0.name) }) { slice throws(Refusal) in
        try tx.timelineFilters(of: user, slice)
      }
    }
  }
}

extension TimelineFilter {
  /// The query of an entry of `words`: one word, one phrase or one beginning.
  static func query(_ text: String) throws(Refusal) -> SearchQuery {
    do throws(SearchQuery.Fault) {
      let query = try SearchQuery(text)
      guard query.isSingle else { throw .onlyExclusions }
      return query
    } catch {
      throw .invalid("words", .invalid)
    }
  }
}

extension TimelineFilterDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> TimelineFilterDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.include = try include.checked("include", bounds) }
    check { () throws(Refusal) in checked.exclude = try exclude.checked("exclude", bounds) }
    try check.finish()
    return checked
  }
}

extension PostCriteria<UserReference> {
  fileprivate func checked(_ field: String, _ bounds: Bounds) throws(Refusal) -> Self {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.authors = try Self.list(authors, "\(field).authors", bounds.filterValues) }
    check { () throws(Refusal) in checked.mentions = try Self.list(mentions, "\(field).mentions", bounds.filterValues) }
    check { () throws(Refusal) in
      let name = "\(field).hashtags"
      checked.hashtags = try Self.list(hashtags, name, bounds.filterValues).map { tag throws(Refusal) in
        try Texts.hashtag(try Texts.line(tag, name, scalars: bounds.filterWordScalars), name)
      }
    }
    check { () throws(Refusal) in checked.words = try Self.words(words, "\(field).words", bounds) }
    check { () throws(Refusal) in checked.has = try Self.list(has, "\(field).has", ContentKind.allCases.count) }
    try check.finish()
    return checked
  }

  /// Without repetitions.
  private static func list<Value: Hashable>(
    _ values: [Value], _ field: String, _ limit: Int
  ) throws(Refusal) -> [Value] {
    var seen: Set<Value> = []
    let values = values.filter { seen.insert($0).inserted }
    guard values.count <= limit else { throw .invalid(field, .tooMany(limit: limit)) }
    return values
  }

  /// The index collects the words of a beginning, so their number is limited, too.
  private static func words(_ words: [String], _ field: String, _ bounds: Bounds) throws(Refusal) -> [String] {
    var beginnings = 0
    let words = try list(words, field, bounds.filterWords).map { word throws(Refusal) in
      let word = try Texts.line(word, field, scalars: bounds.filterWordScalars)
      do throws(Refusal) { beginnings += try TimelineFilter.query(word).beginnings } catch {
        throw .invalid(field, .invalid)
      }
      return word
    }
    guard beginnings <= SearchQuery.maxBeginnings else {
      throw .invalid(field, .tooMany(limit: SearchQuery.maxBeginnings))
    }
    return words
  }
}

extension ReadTransaction {
  /// The criteria with the ids of the users.
  fileprivate func criteria(
    _ draft: PostCriteria<UserReference>, _ field: String, for caller: Caller
  ) throws(Refusal) -> PostCriteria<ID<User>> {
    PostCriteria(
      authors: try ids(of: draft.authors, "\(field).authors", for: caller),
      mentions: try ids(of: draft.mentions, "\(field).mentions", for: caller), hashtags: draft.hashtags,
      words: draft.words, has: draft.has, reposts: draft.reposts)
  }

  private func ids(
    of references: [UserReference], _ field: String, for caller: Caller
  ) throws(Refusal) -> [ID<User>] {
    var ids: [ID<User>] = []
    for reference in references {
      let id: ID<User>
      do throws(Refusal) { id = try user(reference, for: caller).user.summary.id } catch {
        guard case .notFound = error else { throw error }
        throw .invalid(field, .unknown)
      }
      if !ids.contains(id) { ids.append(id) }
    }
    return ids
  }
}
