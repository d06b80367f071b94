// Follows, mutes and blocks.

public import ParleyModel
import Storage

extension Community {
  /// Sets a relation. Idempotent.
  public func setRelation(
    _ relation: Relation, to reference: UserReference, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try await store.write { [bounds] tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      guard rights.contains(relation == .follow ? .follow : .muteAndBlock) else { throw .forbidden }
      let other = user.summary.id
      guard try !tx.has(relation, actor, to: other) else { return }
      guard try tx.relationCount(relation, of: actor) < bounds.relations else {
        throw .tooMany(limit: bounds.relations)
      }
      try tx.set(relation, of: actor, to: other)
    }
  }

  /// Removes a relation, even if the caller can no longer see the user.
  public func removeRelation(
    _ relation: Relation, to reference: UserReference, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if try tx.end(relation, of: actor, to: try tx.userID(reference, for: caller)) { return }
      _ = try tx.user(reference, for: caller)
    }
  }
}

extension CommunityView {
  /// The users that the caller follows, mutes or blocks.
  public func listRelatedUsers(
    _ relation: Relation, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<User> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try tx.users(page, for: caller) { slice throws(Refusal) in try tx.users(relation, of: user, slice) }
    }
  }

  public func listFollowing(
    _ reference: UserReference, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<User> {
    try read { tx throws(Refusal) in
      let user = try tx.userWithVisibleFollows(reference, for: caller)
      return try tx.users(page, for: caller) { slice throws(Refusal) in try tx.users(.follow, of: user, slice) }
    }
  }

  public func listFollowers(
    _ reference: UserReference, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<User> {
    try read { tx throws(Refusal) in
      let user = try tx.userWithVisibleFollows(reference, for: caller)
      return try tx.users(page, for: caller) { slice throws(Refusal) in try tx.followers(of: user, slice) }
    }
  }
}

extension ReadTransaction {
  fileprivate func users(
    _ page: PageRequest, for caller: Caller, _ read: (ListSlice) throws(Refusal) -> [User]
  ) throws(Refusal) -> ListPage<User> {
    try ListPage(page, by: { ListKey($0.summary.id) }, read).map { users in users.map { $0.redacted(for: caller) } }
  }

  fileprivate func userWithVisibleFollows(
    _ reference: UserReference, for caller: Caller
  ) throws(Refusal) -> ID<User> {
    let (user, rights) = try user(reference, for: caller)
    guard rights.contains(.seeFollowing) else { throw .forbidden }
    return user.summary.id
  }
}

extension User {
  /// A user in the caller's own list.
  fileprivate func redacted(for caller: Caller) -> User { redacted(for: caller, caller.role ?? .guest) }
}
