// Forums: making and changing them, and the list that everyone starts from.

public import ParleyModel
import Storage

/// A forum that was asked for.
public struct MadeForum: Sendable {
  public let forum: SeenForum
  /// False when the same request had made it before.
  public let isNew: Bool
}

extension Community {
  public func createForum(_ draft: ForumDraft, by caller: Caller) async throws(Refusal) -> MadeForum {
    let creator = try caller.person(for: .write)
    let draft = try draft.checked(bounds)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if let earlier = try tx.earlierForum(draft, by: creator) {
        return MadeForum(forum: try tx.forum(earlier, for: caller), isNew: false)
      }
      guard Permissions.isIn(try tx.settings().mayCreateForums, caller.role) else { throw .forbidden }
      guard !draft.arranges || caller.role?.isStaff == true else { throw .forbidden }
      if let icon = draft.icon { try tx.checkPicture(icon, "icon_file", of: creator, bounds) }
      let made = try tx.add(draft, by: creator)
      if let clientID = draft.clientID { try tx.remember(.forum, by: creator, clientID, subject: made.id.number) }
      return MadeForum(forum: try tx.forum(made.id, for: caller), isNew: true)
    }
  }

  public func change(_ id: ID<Forum>, _ change: ForumChange, by caller: Caller) async throws(Refusal) -> SeenForum {
    let actor = try caller.person(for: .write)
    let change = try change.checked(bounds)
    let opened = try await opened(id, change, by: caller)
    let bounds = bounds
    let after = try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      try tx.checkRights(of: caller, to: change, id)
      guard let before = try tx.forum(id) else { throw .notFound }
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = change.applied(to: before)
      guard after != before else { return try tx.forum(id, for: caller) }
      if let icon = after.icon, icon != before.icon { try tx.checkPicture(icon, "icon_file", of: actor, bounds) }
      let job = try tx.move(before, to: after, change.from ?? .now, by: actor)
      _ = try tx.change(before, to: after, by: actor)
      try tx.audit(.forumChanged, by: actor, subject: id.number, in: id, reason: change.reason)
      var seen = try tx.forum(id, for: caller)
      seen.job = job
      return seen
    }
    var seen = after
    seen.opened = opened
    return seen
  }

  /// How many messages a change opens to those whom it lets in; nil where it lets nobody in. Counted aside, since there
  /// may be many.
  private func opened(
    _ id: ID<Forum>, _ change: ForumChange, by caller: Caller
  ) async throws(Refusal) -> Int? {
    guard let visibility = change.visibility else { return nil }
    return try await store.readInBackground { tx throws(Refusal) in
      try tx.checkRights(of: try tx.renewed(caller), to: change, id)
      guard let forum = try tx.forum(id), visibility.isWider(than: forum.visibility) else { return nil }
      return change.from == .beginning ? try tx.messageCount(of: id) : 0
    }
  }

  /// One that the caller has deleted already stays so. What was said in it is erased by the job that comes back; nil where
  /// that was done long ago.
  public func delete(_ id: ID<Forum>, by caller: Caller) async throws(Refusal) -> ID<Job>? {
    let actor = try caller.person(for: .write)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if try tx.deleter(of: id) == actor { return try tx.job(.forumErasure, about: id.number) }
      try tx.require(.manage, caller, in: id)
      guard let forum = try tx.forum(id) else { throw .notFound }
      try tx.delete(forum, by: actor)
      try tx.startLosses(of: id, by: actor)
      let job = try tx.startJob(
        kind: JobKind.forumErasure.name, subject: id.number, by: actor, state: ForumErasure(id, by: actor))
      try tx.audit(.forumDeleted, by: actor, subject: id.number, in: id)
      return job
    }
  }

  /// Those whose title has `text` in it, as far as the caller sees them. All titles are looked at, so it is done aside.
  public func forums(
    with text: String, before activity: Int?, limit: Int, for caller: Caller
  ) async throws(Refusal) -> [SeenForum] {
    let text = try Texts.line(text, "query", scalars: bounds.titleScalars, least: 0)
    return try await store.readInBackground { tx throws(Refusal) in
      try tx.forums(
        for: caller.account, seeing: Permissions.visible(to: caller.role), with: text, before: activity,
        limit: limit + 1)
    }
  }
}

extension CommunityView {
  /// The newest activity first: one more than `limit`, where there are more.
  public func forums(before activity: Int?, limit: Int, for caller: Caller) throws(Refusal) -> [SeenForum] {
    try read { tx throws(Refusal) in
      try tx.forums(
        for: caller.account, seeing: Permissions.visible(to: caller.role), before: activity, limit: limit + 1)
    }
  }

  public func forum(_ id: ID<Forum>, for caller: Caller) throws(Refusal) -> SeenForum {
    try read { tx throws(Refusal) in try tx.forum(id, for: caller) }
  }
}

extension ReadTransaction {
  func forum(_ id: ID<Forum>, for caller: Caller) throws(Refusal) -> SeenForum {
    let standing = try require(.see, caller, in: id)
    guard let forum = try forum(id) else { throw .notFound }
    let knowsMembers = !Permissions.rights(of: caller.role, in: standing).isDisjoint(with: [.read, .manage])
    return SeenForum(forum, role: standing.role, memberCount: knowsMembers ? try memberCount(of: id) : nil)
  }

  /// Slowing down and locking keep order; the rest changes what the forum is.
  fileprivate func checkRights(of caller: Caller, to change: ForumChange, _ id: ID<Forum>) throws(Refusal) {
    let rights = Permissions.rights(of: caller.role, in: try require(.see, caller, in: id))
    let suffices = rights.contains(change.arranges ? [.manage, .arrange] : .manage)
    guard suffices || !change.changesForum && rights.contains(.moderate) else { throw .forbidden }
  }

  /// What the same request made before. Once it was changed nothing is compared.
  fileprivate func earlierForum(_ draft: ForumDraft, by creator: ID<Account>) throws(Refusal) -> ID<Forum>? {
    guard let clientID = draft.clientID, let made = try remembered(.forum, by: creator, clientID) else { return nil }
    guard let earlier = try forum(ID(made.subject)) else { throw .gone }
    guard earlier.revision > 1 || earlier.title == draft.title && earlier.visibility == draft.visibility else {
      throw .clientIDReused
    }
    return earlier.id
  }
}

extension WriteTransaction {
  /// What another visibility means for what was said, and for those who may read no longer: these a job looks for.
  fileprivate func move(
    _ before: Forum, to after: Forum, _ from: ForumChange.HistoryStart, by actor: ID<Account>
  ) throws(Refusal) -> ID<Job>? {
    guard before.visibility != after.visibility else { return nil }
    guard after.visibility.isWider(than: before.visibility) else { return try startLosses(of: before.id, by: actor) }
    let start: ID<Message>? =
      switch from {
      case .now: presentMessage
      case .beginning: nil
      }
    try openHistory(of: before.id, after: start, from: before.visibility, to: after.visibility)
    return nil
  }
}

// MARK: @room

extension WriteTransaction {
  /// In milliseconds.
  static let timeBetweenRings: Int64 = 600_000

  /// Whether `@room`, said now by the caller, rings everyone in the forum: for who may, once in ten minutes.
  func rings(_ forum: ID<Forum>, for caller: Caller) throws(Refusal) -> Bool {
    guard let standing = try standing(of: caller.account, in: forum),
      Permissions.rights(of: caller.role, in: standing).contains(.ring)
    else { return false }
    return try ring(forum, atMostEvery: Self.timeBetweenRings)
  }
}

// MARK: Checking

extension ForumDraft {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> ForumDraft {
    var checked = self
    checked.title = try Texts.title(title, bounds)
    checked.about = try Texts.block(about, "description", scalars: bounds.descriptionScalars)
    checked.iconURL = try iconURL.map { url throws(Refusal) in try Texts.webAddress(url, "icon_url", bounds) }
    checked.section = try section.map { name throws(Refusal) in
      try Texts.label(name, "section", scalars: bounds.titleScalars)
    }
    if let clientID { try Texts.checkClientID(clientID, bounds) }
    return checked
  }
}

extension ForumChange {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> ForumChange {
    var checked = self
    if let title { checked.title = try Texts.title(title, bounds) }
    if let about { _ = try Texts.block(about, "description", scalars: bounds.descriptionScalars) }
    if case .set(let url) = iconURL { checked.iconURL = .set(try Texts.webAddress(url, "icon_url", bounds)) }
    if case .set(let url) = callURL { checked.callURL = .set(try Texts.webAddress(url, "call_url", bounds)) }
    if case .set(let name) = section {
      checked.section = .set(try Texts.label(name, "section", scalars: bounds.titleScalars))
    }
    if let reason { checked.reason = try Texts.line(reason, "reason", scalars: bounds.reasonScalars, least: 0) }
    if from != nil, visibility == nil { throw .invalid("from", .mismatch) }
    return checked
  }
}

extension Texts {
  /// An address that a browser may be sent to: of the web, in ASCII, with a host and without a name before it.
  static func webAddress(_ text: String, _ field: String, _ bounds: Bounds) throws(Refusal) -> String {
    let address = try line(text, field, scalars: bounds.addressScalars)
    let scheme = ["https://", "http://"].first { address.lowercased().hasPrefix($0) }
    guard let scheme, address.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !misplaced.contains($0) }) else {
      throw .invalid(field, .invalid)
    }
    let host = address.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    guard host.first?.isLetter == true || host.first?.isNumber == true || host.first == "[", !host.contains("@") else {
      throw .invalid(field, .invalid)
    }
    return address
  }

  /// What RFC 3986 §2 has no place for, and what ends an attribute.
  private static let misplaced = Array("\"'<>\\^`{|}".utf8)
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
