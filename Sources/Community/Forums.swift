public import Model
import Storage

/// A forum after it was changed.
public struct ChangedForum: Sendable {
  public let forum: Forum
  /// How many messages a wider visibility opened to those who could not read them.
  public let opened: Int
}

/// A forum that was asked for.
public struct MadeForum: Sendable {
  public let forum: Forum
  /// False when the same request had made it before.
  public let isNew: Bool
}

/// One page of forums.
public struct ForumPage: Sendable {
  public let forums: [Forum]
  public let next: ForumCursor?
}

extension Community {
  public func createForum(_ draft: NewForum, clientID: String?, by caller: Caller) async throws(Refusal) -> MadeForum {
    let creator = try caller.person(for: .write)
    var forum = draft
    forum.title = try Texts.line(draft.title, "title", scalars: bounds.titleScalars)
    forum.about = try Texts.block(draft.about, "description", scalars: bounds.descriptionScalars)
    forum.iconURL = try draft.iconURL.map { url throws(Refusal) in try webAddress(url, "icon_url") }
    forum.section = try draft.section.map { section throws(Refusal) in
      try Texts.line(section, "section", scalars: bounds.titleScalars)
    }
    return try await store.write { [forum] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if let clientID, let earlier = try tx.remembered(.forum, by: creator, clientID) {
        return MadeForum(forum: try tx.shown(ID(earlier.subject), to: caller), isNew: false)
      }
      guard Permissions.isIn(try tx.settings().mayCreateForums, caller.role) else { throw .forbidden }
      let arranges = forum.section != nil || forum.position != 0
      guard !arranges || caller.role?.isStaff == true else { throw .forbidden }
      let made = try tx.add(forum, by: creator)
      if let clientID { try tx.remember(.forum, by: creator, clientID, subject: made.id.number) }
      return MadeForum(forum: made, isNew: true)
    }
  }

  public func change(
    _ id: ID<Forum>, _ change: ForumChange, by caller: Caller
  ) async throws(Refusal) -> ChangedForum {
    let actor = try caller.person(for: .write)
    let change = try checked(change)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      try tx.require(change.needs, caller, in: id)
      guard let old = try tx.forum(id) else { throw .notFound }
      if let revision = change.ifRevision, revision != old.revision { throw .conflict }
      var new = old
      change.apply(to: &new)
      guard new != old else { return ChangedForum(forum: old, opened: 0) }
      let widens = new.visibility.isWider(than: old.visibility)
      var opened = 0
      if widens {
        if change.opensHistory == true {
          opened = try tx.messageCount(of: id)
        } else {
          try tx.hideHistory(of: id, from: old.visibility)
        }
      }
      return ChangedForum(forum: try tx.change(new, from: old, by: actor), opened: opened)
    }
  }

  public func delete(_ id: ID<Forum>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      try tx.require(.manage, caller, in: id)
      guard let forum = try tx.forum(id) else { throw .notFound }
      try tx.delete(forum, by: actor)
    }
  }

  // MARK: Members

  /// Adds somebody, or gives a member another role. Anybody may join what they may read.
  public func setMember(
    _ account: ID<Account>, _ role: ForumRole?, of id: ID<Forum>, by caller: Caller
  ) async throws(Refusal) -> ForumMember {
    let actor = try caller.person(for: .write)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let standing = try tx.require(.see, caller, in: id)
      let rights = Permissions.rights(of: caller.role, in: standing)
      let old = try tx.member(account, of: id)
      let role = role ?? old?.role ?? .member
      let joins = account == actor && role == .member && rights.contains(.read)
      guard joins || rights.contains(.manage) else { throw .forbidden }
      guard try tx.isActive(account) else { throw .invalid("user", .unknown) }
      if old?.role == .admin, role != .admin { try tx.requireAnotherLead(than: account, of: id, caller) }
      _ = try tx.setMember(account, role, of: id, by: actor)
      guard let member = try tx.member(account, of: id) else { throw .unavailable }
      return member
    }
  }

  /// Anybody may leave; others are taken out by who manages the forum.
  public func removeMember(_ account: ID<Account>, of id: ID<Forum>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      try tx.require(account == actor ? .see : .manage, caller, in: id)
      if try tx.member(account, of: id)?.role == .admin { try tx.requireAnotherLead(than: account, of: id, caller) }
      _ = try tx.removeMember(account, of: id, by: actor)
    }
  }

  // MARK: Checking

  private func checked(_ change: ForumChange) throws(Refusal) -> ForumChange {
    var checked = change
    if let title = change.title { checked.title = try Texts.line(title, "title", scalars: bounds.titleScalars) }
    if let about = change.about {
      checked.about = try Texts.block(about, "description", scalars: bounds.descriptionScalars)
    }
    if case .some(.some(let url)) = change.iconURL { checked.iconURL = try webAddress(url, "icon_url") }
    if case .some(.some(let url)) = change.callURL { checked.callURL = try webAddress(url, "call_url") }
    if case .some(.some(let section)) = change.section {
      checked.section = try Texts.line(section, "section", scalars: bounds.titleScalars)
    }
    return checked
  }

  /// An address that a browser may be sent to.
  private func webAddress(_ text: String, _ field: String) throws(Refusal) -> String {
    let text = try Texts.line(text, field, scalars: bounds.addressScalars)
    let start = text.prefix(8).lowercased()
    guard start.hasPrefix("https://") || start.hasPrefix("http://"), !text.contains(" "),
      text.dropFirst(start.hasPrefix("https://") ? 8 : 7).first.map({ $0 != "/" }) == true
    else { throw .invalid(field, .invalid) }
    return text
  }
}

extension CommunityView {
  public func forum(_ id: ID<Forum>, for caller: Caller) throws(Refusal) -> Forum {
    try read { tx throws(Refusal) in try tx.shown(id, to: caller) }
  }

  public func forums(
    query: String?, after cursor: ForumCursor?, limit: Int, for caller: Caller
  ) throws(Refusal) -> ForumPage {
    let found = try read { tx throws(Refusal) in
      try tx.forums(
        for: caller.account, seeing: Permissions.visible(to: caller.role), query: query, after: cursor,
        limit: limit + 1)
    }
    let page = Array(found.prefix(limit))
    let next = found.count > limit ? page.last : nil
    return ForumPage(
      forums: page, next: next.map { ForumCursor(lastMessage: $0.lastMessage?.number ?? 0, forum: $0.id) })
  }

  public func members(
    of id: ID<Forum>, after account: ID<Account>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> (members: [ForumMember], more: Bool) {
    try read { tx throws(Refusal) in
      try tx.require(.read, caller, in: id)
      let found = try tx.members(of: id, after: account, limit: limit + 1)
      return (Array(found.prefix(limit)), found.count > limit)
    }
  }
}

extension ReadTransaction {
  fileprivate func shown(_ id: ID<Forum>, to caller: Caller) throws(Refusal) -> Forum {
    try require(.see, caller, in: id)
    guard let forum = try self.forum(id) else { throw .notFound }
    return forum
  }
}

extension WriteTransaction {
  /// A forum is never left without anyone who leads it, except by the place's own staff.
  fileprivate func requireAnotherLead(
    than account: ID<Account>, of forum: ID<Forum>, _ caller: Caller
  ) throws(Refusal) {
    guard caller.role?.isStaff != true else { return }
    guard try hasLead(of: forum, besides: account) else { throw .conflict }
  }
}

extension ForumChange {
  fileprivate var needs: ForumRights {
    if section != nil || position != nil { return [.manage, .arrange] }
    var rest = self
    rest.slowSeconds = nil
    rest.isLocked = nil
    rest.ifRevision = nil
    // Slowing down and locking keep order; the rest changes what the forum is.
    return rest.isEmpty ? .moderate : .manage
  }

  private var isEmpty: Bool {
    title == nil && about == nil && iconURL == nil && visibility == nil && opensHistory == nil && write == nil
      && startTopics == nil && section == nil && position == nil && slowSeconds == nil && isLocked == nil
      && isArchived == nil && isSolvable == nil && showsRevisions == nil && callURL == nil
  }

  fileprivate func apply(to forum: inout Forum) {
    if let title { forum.title = title }
    if let about { forum.about = about }
    if let iconURL { forum.iconURL = iconURL }
    if let visibility { forum.visibility = visibility }
    if let write { forum.write = write }
    if let startTopics { forum.startTopics = startTopics }
    if let section { forum.section = section }
    if let position { forum.position = position }
    if let slowSeconds { forum.slowSeconds = slowSeconds }
    if let isLocked { forum.isLocked = isLocked }
    if let isArchived { forum.isArchived = isArchived }
    if let isSolvable { forum.isSolvable = isSolvable }
    if let showsRevisions { forum.showsRevisions = showsRevisions }
    if let callURL { forum.callURL = callURL }
  }
}

extension Visibility {
  fileprivate func isWider(than other: Visibility) -> Bool { width > other.width }

  private var width: Int {
    switch self {
    case .private: 0
    case .members: 1
    case .public: 2
    }
  }
}
