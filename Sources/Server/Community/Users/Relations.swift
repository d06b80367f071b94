// Whom people follow, mute and block.

public import ParleyModel
import Storage

extension Community {
  /// Once more changes nothing.
  public func set(
    _ relation: Relation, to reference: AccountReference, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { [bounds] tx throws(Refusal) in
      let (person, rights) = try tx.person(reference, for: try tx.renewed(caller))
      guard rights.contains(relation == .follow ? .follow : .avoid) else { throw .forbidden }
      let other = person.account.id
      guard try !tx.has(relation, actor, to: other) else { return }
      guard try tx.relationCount(relation, of: actor) < bounds.relations else {
        throw .tooMany(limit: bounds.relations)
      }
      try tx.set(relation, of: actor, to: other)
    }
  }

  /// Of somebody whom one does not see any longer too.
  public func end(
    _ relation: Relation, to reference: AccountReference, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if try tx.end(relation, of: actor, to: try tx.account(reference, for: caller)) { return }
      _ = try tx.person(reference, for: caller)
    }
  }
}

extension CommunityView {
  /// Whom the caller follows, mutes or blocks: one more than `limit`, where there are more.
  public func people(
    _ relation: Relation, after other: ID<Account>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Person] {
    let account = try caller.person()
    return try read { tx throws(Refusal) in
      try tx.people(relation, of: account, after: other, limit: limit + 1).map { $0.seen(by: caller) }
    }
  }

  /// Whom somebody follows.
  public func following(
    _ reference: AccountReference, after other: ID<Account>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Person] {
    try read { tx throws(Refusal) in
      let account = try tx.personToLookInto(reference, for: caller)
      return try tx.people(.follow, of: account, after: other, limit: limit + 1).map { $0.seen(by: caller) }
    }
  }

  public func followers(
    _ reference: AccountReference, after other: ID<Account>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Person] {
    try read { tx throws(Refusal) in
      let account = try tx.personToLookInto(reference, for: caller)
      return try tx.followers(of: account, after: other, limit: limit + 1).map { $0.seen(by: caller) }
    }
  }
}

extension ReadTransaction {
  fileprivate func personToLookInto(
    _ reference: AccountReference, for caller: Caller
  ) throws(Refusal) -> ID<Account> {
    let (person, rights) = try person(reference, for: caller)
    guard rights.contains(.seeFollowing) else { throw .forbidden }
    return person.account.id
  }
}

extension Person {
  /// In a list of somebody's own, whoever they are.
  fileprivate func seen(by caller: Caller) -> Person { seen(by: caller, caller.role ?? .guest) }
}
