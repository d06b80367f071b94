// Groups of users. Staff creates them and adds members; users join and leave those that are self-chosen. The settings
// list all groups, so every client knows their names and colours.

public import ParleyModel
import Storage

/// The result of creating a group.
public struct CreatedUserGroup: Sendable {
  public let group: UserGroup
  /// False if an earlier request with the same `client_id` created it.
  public let isNew: Bool
}

extension Community {
  public func createUserGroup(_ draft: UserGroupDraft, by caller: Caller) async throws(Refusal) -> CreatedUserGroup {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    guard draft.fields.contains(\.name) else { throw .invalid("name", .missing) }
    let new = draft.fields.applied(to: .blank)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      try tx.requireGroupManager(caller)
      if let clientID = draft.clientID, let previous = try tx.remembered(.userGroup, by: actor, clientID) {
        guard let earlier = try tx.userGroup(ID(previous.subject)) else { throw .gone }
        guard earlier.revision > 1 || draft.fields.applied(to: earlier) == earlier else { throw .clientIDReused }
        return CreatedUserGroup(group: earlier, isNew: false)
      }
      guard try tx.userGroupCount() < bounds.userGroups else { throw .tooMany(limit: bounds.userGroups) }
      try tx.checkIsFree(new.name)
      let group = try tx.add(new, by: actor)
      if let clientID = draft.clientID { try tx.remember(.userGroup, by: actor, clientID, subject: group.id.number) }
      try tx.audit(.userGroupCreated, by: actor, subject: group.id.number, reason: group.name)
      return CreatedUserGroup(group: group, isNew: true)
    }
  }

  public func updateUserGroup(
    _ id: ID<UserGroup>, _ change: UserGroupChange, by caller: Caller
  ) async throws(Refusal) -> UserGroup {
    let actor = try caller.requireUser(.admin)
    let change = try change.checked(bounds)
    return try await store.write { tx throws(Refusal) in
      try tx.requireGroupManager(caller)
      guard let before = try tx.userGroup(id) else { throw .notFound }
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = change.fields.applied(to: before)
      guard after != before else { return before }
      if after.name != before.name { try tx.checkIsFree(after.name, exceptForGroup: id) }
      try tx.audit(
        .userGroupChanged, by: actor, subject: id.number, reason: after.name,
        changes: after.changes(since: before, texts: ["name"]))
      return try tx.change(before, to: after, by: actor)
    }
  }

  /// Idempotent. A stored job removes the members.
  public func deleteUserGroup(_ id: ID<UserGroup>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      try tx.requireGroupManager(caller)
      guard let group = try tx.userGroup(id) else { return }
      for id in try tx.endAccess(ofGroup: id, by: actor) {
        guard let forum = try tx.forum(id), forum.visibility != .public else { continue }
        try tx.startAccessCleanup(of: id, by: actor)
        try tx.startNotice(of: forum, since: forum, by: actor)
      }
      try tx.remove(id, by: actor)
      _ = try tx.startJob(
        kind: JobKind.groupRemoval.name, subject: id.number, by: actor, state: UserGroupRemoval(of: id, by: actor))
      try tx.audit(.userGroupDeleted, by: actor, subject: id.number, reason: group.name)
    }
  }

  /// Staff adds an active user; users join a self-chosen group, except guests. Returns the user.
  public func addUserGroupMember(
    _ reference: UserReference, to id: ID<UserGroup>, by caller: Caller
  ) async throws(Refusal) -> User {
    let actor = try caller.requireUser(.write)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard let group = try tx.userGroup(id) else { throw .notFound }
      let member = try tx.user(reference, for: caller).user.summary
      let user = member.id
      let joins = user == actor && Permissions.mayJoin(group, caller.role)
      if !joins { try tx.requireGroupManager(caller) }
      guard try tx.isActive(user) else { throw .notFound }
      if try !tx.isMember(user, ofGroup: id), try tx.memberCount(ofGroup: id) >= bounds.userGroupMembers {
        throw .tooMany(limit: bounds.userGroupMembers)
      }
      // Staff may read a private forum by a group, or with the token of a bot; the audit log records it.
      let isStaffEntry = Permissions.mayManageGroups(caller.role) && (user == actor || member.role == .bot)
      let entered = isStaffEntry ? try tx.privateForums(openedTo: user, byGroup: id) : []
      if try tx.addMember(user, toGroup: id, by: actor) {
        if !joins { try tx.audit(.userGroupMemberAdded, by: actor, subject: user.number, reason: group.name) }
        for forum in entered { try tx.audit(.forumEntered, by: actor, subject: forum.number, in: forum) }
      }
      let (changed, rights) = try tx.user(.id(user), for: caller)
      return try tx.withEntities(changed.redacted(for: rights))
    }
  }

  /// Staff removes a member; users leave a self-chosen group. No-op for a user that is no member.
  public func removeUserGroupMember(
    _ reference: UserReference, of id: ID<UserGroup>, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard let group = try tx.userGroup(id) else { throw .notFound }
      let user = try tx.user(reference, for: caller).user.summary.id
      let leaves = user == actor && group.isSelfChosen
      if !leaves { try tx.requireGroupManager(caller) }
      guard try tx.removeMember(user, ofGroup: id, by: actor) else { return }
      try tx.removeUnreadable(ofGroup: id, user, by: actor)
      if !leaves {
        try tx.audit(.userGroupMemberRemoved, by: actor, subject: user.number, reason: group.name)
      }
    }
  }
}

extension CommunityView {
  public func listUserGroups(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<UserGroup> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.userGroups(slice) }
    }
  }

  public func getUserGroup(_ id: ID<UserGroup>, for caller: Caller) throws(Refusal) -> UserGroup {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      guard let group = try tx.userGroup(id) else { throw .notFound }
      return group
    }
  }

  /// The members by id, for users that may see all users.
  public func listUserGroupMembers(
    of id: ID<UserGroup>, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<User> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let role = try caller.requireFullUser()
      guard try tx.userGroup(id) != nil else { throw .notFound }
      let found = try ListPage(page, by: { ListKey($0.summary.id) }) { slice throws(Refusal) in
        try tx.users(inGroup: id, slice)
      }
      return try found.map { users in users.map { $0.redacted(for: caller, role) } }
    }
  }
}

extension ReadTransaction {
  func requireGroupManager(_ caller: Caller) throws(Refusal) {
    guard caller.scope >= .admin, Permissions.mayManageGroups(try reloadCaller(caller).role) else { throw .forbidden }
  }
}

// MARK: Removing the members of a deleted group

extension JobKind {
  /// Members per chunk.
  private static let groupChunk = 200

  static let groupRemoval = JobKind("group.removal") { (tx, removal: inout UserGroupRemoval) throws(Refusal) in
    try !tx.removeMembers(ofGroup: removal.group, limit: groupChunk, by: removal.actor)
  }
}

// MARK: Validation

extension UserGroup: CheckedRecord {
  public static func checked(_ fields: Patch<UserGroup>, _ bounds: Bounds) throws(Refusal) -> Patch<UserGroup> {
    if let name = fields[\.name] { try Texts.checkName(name) }
    return fields
  }
}
