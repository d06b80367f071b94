// The forums as a hypothetical user sees them: a member of one group, a newcomer, a guest or a visitor. The standing of that
// user goes through the same functions of `Permissions` as that of a caller, so the answer is what a real user may do.

public import ParleyModel
import Storage

extension Community {
  /// All forums of the site by latest activity, with the permitted operations. For staff.
  public func listForumAccess(
    of viewer: ForumViewer, _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<ForumAccess> {
    let user = try caller.requireUser(.admin)
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      try tx.requireGroupManager(caller)
      if case .group(let group) = viewer {
        guard try tx.userGroup(group) != nil else { throw .invalid("viewer", .unknown) }
      }
      let isSilent: Bool = if viewer == .newcomer { try tx.settings().silencesNewcomers(at: tx.now) } else { false }
      let forums = try ListPage(page, by: { ListKey([$0.forum.activity]) }) { slice throws(Refusal) in
        try tx.forums(for: user, seeing: Permissions.visible(to: caller.role), slice)
      }
      return try forums.map { views throws(Refusal) in
        try views.map { view throws(Refusal) in
          var operations = Permissions.operations(of: viewer, in: view.forum)
          if isSilent { operations.removeAll { [.write, .startTopics, .mentionRoom].contains($0) } }
          let topics = operations.contains(.read) ? try tx.topicCount(of: view.forum.id, max: Forum.maxCounted) : 0
          return ForumAccess(
            view.forum.id, title: view.forum.title, visibility: view.forum.visibility, operations: operations,
            topicCount: topics)
        }
      }
    }
  }
}

extension SiteSettings {
  /// Whether users on probation post nothing.
  fileprivate func silencesNewcomers(at time: Int64) -> Bool {
    guard newcomers.days > 0 || newcomers.messages > 0 else { return false }
    return newcomers.messagesPerHour == 0 || newcomersPausedUntil.map { $0 > time } ?? false
  }
}
