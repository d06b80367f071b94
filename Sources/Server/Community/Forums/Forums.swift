// Forums and the forum list.

import ParleyJSON
public import ParleyModel
import Storage

/// The result of creating a forum.
public struct CreatedForum: Sendable {
  public let forum: ForumView
  /// False if an earlier request with the same `client_id` created it.
  public let isNew: Bool
}

extension Community {
  public func createForum(_ draft: ForumDraft, by caller: Caller) async throws(Refusal) -> CreatedForum {
    try await create(draft, by: caller) { _, _ throws(Refusal) in }
  }

  /// - Parameter finish: runs last, after a new forum.
  func create(
    _ draft: ForumDraft, by caller: Caller,
    finishing finish: @escaping @Sendable (WriteTransaction, Forum) throws(Refusal) -> Void
  ) async throws(Refusal) -> CreatedForum {
    let creator = try caller.requireUser(.write)
    let draft = try draft.checked(bounds)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if let earlier = try tx.earlierForum(draft, by: creator) {
        return CreatedForum(forum: try tx.forum(earlier, for: caller), isNew: false)
      }
      guard Permissions.includes(try tx.settings().mayCreateForums, caller.role) else { throw .forbidden }
      guard !draft.changesStaffFields || caller.role?.isStaff == true else { throw .forbidden }
      try tx.requireMayPublish(caller)
      if let icon = draft.fields[\.icon] ?? nil { try tx.checkPicture(icon, "icon_file", by: caller, bounds) }
      try tx.checkGroups(of: draft.fields.applied(to: .blank), since: .blank, by: caller, bounds)
      let created = try tx.add(draft, by: creator)
      try tx.startGroupAccessChange(about: created, to: created.groups, by: creator)
      if let clientID = draft.clientID { try tx.remember(.forum, by: creator, clientID, subject: created.id.number) }
      try finish(tx, created)
      return CreatedForum(forum: try tx.forum(created.id, for: caller), isNew: true)
    }
  }

  public func updateForum(_ id: ID<Forum>, _ change: ForumChange, by caller: Caller) async throws(Refusal) -> ForumView
  {
    let actor = try caller.requireUser(.write)
    let change = try change.checked(bounds)
    let opened = try await opened(id, change, by: caller)
    let bounds = bounds
    let after = try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      try tx.checkRights(of: caller, to: change, id)
      guard let before = try tx.forum(id) else { throw .notFound }
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = change.fields.applied(to: before)
      guard after != before else { return try tx.forum(id, for: caller) }
      if let icon = after.icon, icon != before.icon { try tx.checkPicture(icon, "icon_file", by: caller, bounds) }
      try tx.checkGroups(of: after, since: before, by: caller, bounds)
      let read = try tx.rights(of: caller, in: id).contains(.read)
      let job = try tx.move(before, to: after, change.from ?? .now, by: actor)
      _ = try tx.change(before, to: after, by: actor)
      try tx.startNotice(of: after, since: before, by: actor)
      try tx.audit(
        .forumChanged, by: actor, subject: id.number, in: id, reason: change.reason,
        changes: after.changes(since: before, texts: ["section"]))
      // Staff reads a private forum by joining, or by a group of its own.
      if after.visibility == .private, !read, try tx.rights(of: caller, in: id).contains(.read) {
        try tx.audit(.forumEntered, by: actor, subject: id.number, in: id)
      }
      var view = try tx.forum(id, for: caller)
      view.job = job
      return view
    }
    var view = after
    view.opened = opened
    return view
  }

  /// The number of messages that a wider visibility makes readable, or nil. Counted before the write, since there may
  /// be many.
  private func opened(
    _ id: ID<Forum>, _ change: ForumChange, by caller: Caller
  ) async throws(Refusal) -> Int? {
    guard let visibility = change.fields[\.visibility] else { return nil }
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.checkRights(of: try tx.reloadCaller(caller), to: change, id)
      guard let forum = try tx.forum(id), visibility.isWider(than: forum.visibility) else { return nil }
      return change.from == .beginning ? try tx.messageCount(of: id) : 0
    }
  }

  /// Deletes a forum. No-op if the caller already deleted it. Returns the job that erases its messages, or nil if that
  /// is done.
  public func deleteForum(_ id: ID<Forum>, by caller: Caller) async throws(Refusal) -> ID<Job>? {
    let actor = try caller.requireUser(.write)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if try tx.deleter(of: id) == actor { return try tx.job(.forumErasure, about: id.number) }
      try tx.require(.manage, caller, in: id)
      guard let forum = try tx.forum(id) else { throw .notFound }
      try tx.delete(forum, by: actor)
      try tx.startAccessCleanup(of: id, by: actor)
      try tx.startGroupAccessChange(about: forum, to: forum.groups, by: actor)
      let job = try tx.startJob(
        kind: JobKind.forumErasure.name, subject: id.number, by: actor, state: ForumErasure(id, by: actor))
      try tx.audit(.forumDeleted, by: actor, subject: id.number, in: id, reason: forum.title)
      return job
    }
  }

  /// Visible forums by latest activity, with the facts of tiles. With `text`: those with it in the title. With another user: those
  /// that both have joined. Runs in the background, since `text` scans all titles, and each forum counts topics, members and
  /// unread messages.
  public func listForums(
    with text: String?, sharedWith other: UserReference? = nil, _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<ForumView> {
    let text = try text.map { text throws(Refusal) in
      try Texts.line(text, "query", scalars: bounds.titleScalars, atLeast: 0)
    }
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      var found = try tx.forums(with: text, sharedWith: other, page, for: caller)
      try tx.addActivity(to: &found.items, for: caller)
      return found
    }
  }
}

extension CommunityView {
  /// Visible forums by latest activity.
  public func listForums(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<ForumView> {
    try read { tx throws(Refusal) in try tx.forums(page, for: caller) }
  }

  public func getForum(_ id: ID<Forum>, for caller: Caller) throws(Refusal) -> ForumView {
    try read { tx throws(Refusal) in try tx.forum(id, for: caller) }
  }

  /// The address of an icon that the caller may give a new forum; nil without one, and for a repeated request.
  public func newIconURL(of draft: ForumDraft, by caller: Caller) throws(Refusal) -> String? {
    let creator = try caller.requireUser(.write)
    guard let address = try draft.fields.checked(community.bounds)[\.iconURL] ?? nil else { return nil }
    return try read { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard Permissions.includes(try tx.settings().mayCreateForums, caller.role) else { throw .forbidden }
      return try tx.earlierForum(draft, by: creator) == nil ? address : nil
    }
  }

  /// The address of an icon that the caller may give a forum; nil if the change has none, or the forum's own.
  public func newIconURL(of change: ForumChange, in id: ID<Forum>, by caller: Caller) throws(Refusal) -> String? {
    _ = try caller.requireUser(.write)
    guard let address = try change.fields.checked(community.bounds)[\.iconURL] ?? nil else { return nil }
    return try read { tx throws(Refusal) in
      try tx.checkRights(of: try tx.reloadCaller(caller), to: change, id)
      return try tx.forum(id)?.iconURL == address ? nil : address
    }
  }
}

extension ReadTransaction {
  fileprivate func rights(of caller: Caller, in forum: ID<Forum>) throws(Refusal) -> ForumRights {
    guard let standing = try standing(of: caller, in: forum) else { return [] }
    return Permissions.rights(of: caller.role, in: standing)
  }

  fileprivate func forums(
    with text: String? = nil, sharedWith other: UserReference? = nil, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<ForumView> {
    if let other {
      let (user, other) = (try caller.requireUser(.read), try userID(other, for: caller, "shared_with"))
      return try ListPage(page, by: { ListKey([$0.forum.activity]) }) { slice throws(Refusal) in
        try forums(joinedBy: user, and: other, with: text, slice, for: caller)
      }
    }
    if let forums = caller.forums { return try self.forums(of: forums, with: text, page, for: caller) }
    return try ListPage(page, by: { ListKey([$0.forum.activity]) }) { slice throws(Refusal) in
      try forums(for: caller.user, seeing: Permissions.visible(to: caller.role), with: text, slice)
    }
  }

  /// The first forums of a slice that both users have joined. Only these are read.
  private func forums(
    joinedBy user: ID<User>, and other: ID<User>, with text: String?, _ slice: ListSlice, for caller: Caller
  ) throws(Refusal) -> [ForumView] {
    var found: [ForumView] = []
    for id in try forums(joinedBy: user, and: other, with: text, slice) where caller.reaches(id) {
      do throws(Refusal) { found.append(try forum(id, for: caller)) } catch .notFound { continue }
      if found.count == slice.limit { break }
    }
    return found
  }

  /// The list of these forums.
  private func forums(
    of ids: Set<ID<Forum>>, with text: String?, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<ForumView> {
    let key = text.map { Forum.key($0) }
    var found: [ForumView] = []
    for id in ids {
      do throws(Refusal) {
        let view = try forum(id, for: caller)
        if key.map({ Forum.key(view.forum.title).contains($0) }) ?? true { found.append(view) }
      } catch .notFound { continue }
    }
    return try ListPage(page, by: { ListKey([$0.forum.activity]) }) { slice throws(Refusal) in
      let start = slice.key?.numbers.first
      let rest = found.filter { view in
        start.map { slice.isBackward ? view.forum.activity > $0 : view.forum.activity < $0 } ?? true
      }
      return Array(
        rest.sorted {
          slice.isBackward ? $0.forum.activity < $1.forum.activity : $0.forum.activity > $1.forum.activity
        }.prefix(slice.limit))
    }
  }

  func forum(_ id: ID<Forum>, for caller: Caller) throws(Refusal) -> ForumView {
    let standing = try require(.see, caller, in: id)
    guard let forum = try forum(id) else { throw .notFound }
    let seesMembers = !Permissions.rights(of: caller.role, in: standing).isDisjoint(with: [.read, .manage])
    return ForumView(
      forum, role: standing.role, groupAccess: standing.groupAccess,
      memberCount: seesMembers ? try memberCount(of: id) : nil)
  }

  /// Slow mode and lock need the right to moderate, all other fields the right to manage.
  fileprivate func checkRights(of caller: Caller, to change: ForumChange, _ id: ID<Forum>) throws(Refusal) {
    let rights = Permissions.rights(of: caller.role, in: try require(.see, caller, in: id))
    let suffices = rights.contains(change.changesStaffFields ? [.manage, .arrange] : .manage)
    guard suffices || !change.changesForum && rights.contains(.moderate) else { throw .forbidden }
  }

  /// The forum that an earlier request with the same `client_id` created. Not compared after it was changed.
  fileprivate func earlierForum(_ draft: ForumDraft, by creator: ID<User>) throws(Refusal) -> ID<Forum>? {
    guard let clientID = draft.clientID, let previous = try remembered(.forum, by: creator, clientID) else {
      return nil
    }
    guard let earlier = try forum(ID(previous.subject)) else { throw .gone }
    let drafted = draft.fields.applied(to: .blank)
    guard earlier.revision > 1 || drafted.title == earlier.title && drafted.visibility == earlier.visibility else {
      throw .clientIDReused
    }
    return earlier.id
  }
}

extension WriteTransaction {
  /// Applies a change of visibility and of groups: opens the history, and starts jobs that inform the members of the groups
  /// and remove participants without read access. Returns the latter.
  fileprivate func move(
    _ before: Forum, to after: Forum, _ from: ForumChange.HistoryStart, by actor: ID<User>
  ) throws(Refusal) -> ID<Job>? {
    let groups = after.groups(changedFrom: before)
    try startGroupAccessChange(about: after, to: groups, by: actor)
    let mayLose =
      before.visibility.isWider(than: after.visibility)
      || after.visibility != .public && groups.contains { after.access(of: $0) == nil }
    let job = mayLose ? try startAccessCleanup(of: before.id, by: actor) : nil
    guard after.visibility.isWider(than: before.visibility) else { return job }
    let start: ID<Message>? =
      switch from {
      case .now: latestMessageID
      case .beginning: nil
      }
    try openHistory(of: before.id, after: start, from: before.visibility, to: after.visibility, by: actor)
    return job
  }
}

// MARK: @room

extension WriteTransaction {
  /// Milliseconds between two `@room` notifications.
  static let roomMentionInterval: Int64 = 600_000

  /// Whether the caller may use `@room` here: needs the right, at most once per 10 minutes.
  func mayMentionRoom(_ forum: ID<Forum>, for caller: Caller) throws(Refusal) -> Bool {
    guard let standing = try standing(of: caller, in: forum),
      Permissions.rights(of: caller.role, in: standing).contains(.mentionRoom)
    else { return false }
    return try recordRoomMention(in: forum, minInterval: Self.roomMentionInterval)
  }
}

// MARK: Validation

extension Patch<Forum> {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> Patch<Forum> {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in
      try checked.revise(\.title) { title throws(Refusal) in try Texts.title(title, bounds) }
    }
    check { () throws(Refusal) in
      if let about = self[\.about] { _ = try Texts.block(about, "description", scalars: bounds.descriptionScalars) }
    }
    check { () throws(Refusal) in
      try checked.revise(\.iconURL) { url throws(Refusal) in try Texts.webAddress(url, "icon_url", bounds) }
    }
    check { () throws(Refusal) in
      try checked.revise(\.callURL) { url throws(Refusal) in try Texts.webAddress(url, "call_url", bounds) }
    }
    check { () throws(Refusal) in
      try checked.revise(\.section) { name throws(Refusal) in
        try Texts.label(name, "section", scalars: bounds.titleScalars)
      }
    }
    for (path, name) in [(\Forum.readGroups, "read_groups"), (\Forum.writeGroups, "write_groups")] {
      check { () throws(Refusal) in
        try checked.revise(path) { groups throws(Refusal) in
          guard groups.count <= bounds.forumGroups else { throw .invalid(name, .tooMany(limit: bounds.forumGroups)) }
          return Set(groups).sorted()
        }
      }
    }
    try check.finish()
    return checked
  }
}

extension ForumDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> ForumDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.fields = try fields.checked(bounds) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension ForumChange: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> ForumChange {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.fields = try fields.checked(bounds) }
    check { () throws(Refusal) in
      if let reason { checked.reason = try Texts.line(reason, "reason", scalars: bounds.reasonScalars, atLeast: 0) }
    }
    check { () throws(Refusal) in
      if from != nil, !fields.contains(\.visibility) { throw .invalid("from", .mismatch) }
    }
    try check.finish()
    return checked
  }
}

extension Texts {
  /// A link that browsers may open: HTTP or HTTPS, ASCII, with a host and without user information.
  static func webAddress(_ text: String, _ field: String, _ bounds: Bounds) throws(Refusal) -> String {
    let address = try line(text, field, scalars: bounds.addressScalars)
    let scheme = ["https://", "http://"].first { address.lowercased().hasPrefix($0) }
    guard let scheme, address.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !forbiddenBytes.contains($0) }) else {
      throw .invalid(field, .invalid)
    }
    let host = address.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    guard host.first?.isLetter == true || host.first?.isNumber == true || host.first == "[", !host.contains("@") else {
      throw .invalid(field, .invalid)
    }
    return address
  }

  /// A link by which people reach the operator: a web address, or `mailto:` with one address.
  static func contactAddress(_ text: String, _ field: String, _ bounds: Bounds) throws(Refusal) -> String {
    let scheme = "mailto:"
    guard text.lowercased().hasPrefix(scheme) else { return try webAddress(text, field, bounds) }
    let address = try line(text, field, scalars: bounds.addressScalars)
    let parts = address.dropFirst(scheme.count).split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
      address.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !forbiddenBytes.contains($0) }),
      !address.contains(where: { "?#/,;".contains($0) })
    else { throw .invalid(field, .invalid) }
    return address
  }

  /// Characters that RFC 3986 §2 does not allow, and quotes, which end an attribute.
  private static let forbiddenBytes = Array("\"'<>\\^`{|}".utf8)
}

extension Visibility {
  func isWider(than other: Visibility) -> Bool { width > other.width }

  private var width: Int {
    switch self {
    case .private: 0
    case .members: 1
    case .public: 2
    }
  }
}
