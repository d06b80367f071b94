// Going: away for a while, for good, or with everything that one wrote. One goes by oneself, and proves it with the
// password; or the staff sends somebody away, and says why.

public import ParleyModel
import Storage

/// What is left of somebody who went, or was sent.
public struct Departed: Sendable {
  public let person: Person
  /// What does the rest; nil where nothing is left to do, or it was done long ago.
  public let job: ID<Job>?
}

extension Community {
  /// Once more changes nothing. What a departure leaves to do is done soon after.
  ///
  /// - Returns: what is left of the person for who asks.
  public func leave(
    _ reference: AccountReference, _ leaving: Leaving, by caller: Caller
  ) async throws(Refusal) -> Departed {
    let actor = try caller.person(for: .admin)
    if let reason = leaving.reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars, least: 1) }
    let proof = try await proof(of: leaving, reference, caller)
    return try await store.write { tx throws(Refusal) in
      let (before, rights) = try tx.person(reference, for: try tx.renewed(caller))
      let account = before.account.id
      let isSelf = account == actor
      guard rights.contains(isSelf ? .own : .dismiss) else { throw .forbidden }
      if isSelf {
        // Another password may have been set meanwhile.
        guard let proof, try tx.password(of: account) == proof else { throw .conflict }
      } else {
        guard leaving.password == nil else { throw .invalid("password", .unknownField) }
        guard leaving.reason != nil else { throw .invalid("reason", .missing) }
      }
      guard let state = try before.state(after: leaving.how) else {
        return Departed(person: before.seen(with: rights), job: try tx.job(.departure, about: account.number))
      }
      if before.looksAfter {
        guard try tx.hasOwner(but: account) else { throw .lastOwner }
      }
      let (person, job) = try tx.take(before, to: state, by: actor)
      if !isSelf { try tx.audit(leaving.how.audited, by: actor, subject: account.number, reason: leaving.reason) }
      return Departed(person: person.seen(with: rights), job: job)
    }
  }

  /// What is kept of the password that was shown; nil where somebody else is meant.
  private func proof(
    of leaving: Leaving, _ reference: AccountReference, _ caller: Caller
  ) async throws(Refusal) -> String? {
    let (isSelf, kept) = try await store.readInBackground { tx throws(Refusal) -> (Bool, String?) in
      let account = try tx.account(reference, for: caller)
      guard account == caller.account else { return (false, nil) }
      return (true, try tx.password(of: account))
    }
    guard isSelf else { return nil }
    guard leaving.reason == nil else { throw .invalid("reason", .unknownField) }
    guard let password = leaving.password else { throw .invalid("password", .missing) }
    guard password.utf8.count <= bounds.passwordBytes, try await passwords.isRight(password, for: kept) else {
      throw .invalid("password", .invalid)
    }
    return kept
  }
}

extension Person {
  /// Nil where nothing changes.
  fileprivate func state(after how: Leaving.How) throws(Refusal) -> AccountState? {
    switch (how, standing?.state ?? .active) {
    // Who waits is approved or refused.
    case (_, .waiting): throw .conflict
    case (.deactivate, .active): return .deactivated
    case (.deactivate, .deactivated): return nil
    // It would let in who is kept out.
    case (.deactivate, .disabled), (.deactivate, .left), (.deactivate, .erased): throw .conflict
    case (.leave, .left), (.leave, .erased), (.erase, .erased): return nil
    case (.leave, _): return .left
    case (.erase, _): return .erased
    }
  }
}

extension WriteTransaction {
  fileprivate func take(
    _ before: Person, to state: AccountState, by actor: ID<Account>
  ) throws(Refusal) -> (person: Person, job: ID<Job>?) {
    guard state == .deactivated else { return try depart(before.account.id, as: state, by: actor) }
    var after = before
    after.standing?.state = state
    try endAll(of: before.account.id)
    return (try change(before, to: after, by: actor), nil)
  }
}

extension Leaving.How {
  fileprivate var audited: AuditedAction {
    switch self {
    case .deactivate: .personDeactivated
    case .leave: .personLeft
    case .erase: .personErased
    }
  }
}
