// Deactivating, deleting and erasing a user. Users do this themselves with their password; staff may do it with a
// reason.

public import ParleyModel
import Storage

/// The result of leaving.
public struct LeaveResult: Sendable {
  public let user: User
  /// The job that deletes the user's data. Nil if there is no work left.
  public let job: ID<Job>?
}

extension Community {
  /// Deactivates, deletes or erases a user. Idempotent. The job runs soon after.
  ///
  /// - Returns: the user as the caller may still see them.
  public func deleteUser(
    _ reference: UserReference, _ leaving: Leaving, by caller: Caller
  ) async throws(Refusal) -> LeaveResult {
    let actor = try caller.requireUser(.admin)
    if let reason = leaving.reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars, atLeast: 1) }
    let verifiedHash = try await verifiedHash(of: leaving, reference, caller)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (before, rights) = try tx.user(reference, for: caller)
      let userID = before.summary.id
      let isSelf = userID == actor
      guard rights.contains(isSelf ? .own : .dismiss) else { throw .forbidden }
      if isSelf {
        // The password may have been changed concurrently.
        guard try tx.password(of: userID) == verifiedHash else { throw .conflict }
        // With a second factor the password is not enough, and a user of an issuer has none.
        let hasSecondFactor = try tx.hasSecondFactor(userID)
        if verifiedHash == nil || hasSecondFactor {
          try tx.requireProof(of: caller, forbidsTokens: verifiedHash == nil)
        }
      } else {
        guard leaving.password == nil else { throw .invalid("password", .unknownField) }
        guard leaving.reason != nil else { throw .invalid("reason", .missing) }
      }
      guard let state = try before.state(after: leaving.how) else {
        return LeaveResult(user: before.redacted(for: rights), job: try tx.job(.departure, about: userID.number))
      }
      if !isSelf { try tx.requireProof(of: caller) }
      if before.isActiveOwner {
        guard try tx.hasOwner(except: userID) else { throw .lastOwner }
      }
      let (user, job) = try tx.move(before, to: state, by: actor)
      if !isSelf { try tx.audit(leaving.how.audited, by: actor, subject: userID.number, reason: leaving.reason) }
      return LeaveResult(user: user.redacted(for: rights), job: job)
    }
  }

  /// The stored hash that the password matches. Nil if staff acts on another user, and for a user without a password.
  private func verifiedHash(
    of leaving: Leaving, _ reference: UserReference, _ caller: Caller
  ) async throws(Refusal) -> String? {
    let user = try await store.readInBackground(.credentials) { tx throws(Refusal) in
      try tx.userID(reference, for: caller)
    }
    guard user == caller.user else { return nil }
    guard leaving.reason == nil else { throw .invalid("reason", .unknownField) }
    guard let password = leaving.password else {
      let (hash, accounts) = try await store.readInBackground(.credentials) { tx throws(Refusal) in
        (try tx.password(of: user), try tx.identityCount(of: user))
      }
      guard hash == nil, accounts > 0 else { throw .invalid("password", .missing) }
      return nil
    }
    return try await checkPassword(password, "password", of: user)
  }
}

extension User {
  /// Nil if the state does not change.
  fileprivate func state(after how: Leaving.How) throws(Refusal) -> UserState? {
    switch (how, standing?.state ?? .active) {
    // Pending users are approved or rejected instead.
    case (_, .pending): throw .conflict
    case (.deactivate, .active): return .deactivated
    case (.deactivate, .deactivated): return nil
    // Deactivation would let a banned or departed user sign in again.
    case (.deactivate, .disabled), (.deactivate, .left), (.deactivate, .erased): throw .conflict
    case (.leave, .left), (.leave, .erased), (.erase, .erased): return nil
    case (.leave, _): return .left
    case (.erase, _): return .erased
    }
  }
}

extension WriteTransaction {
  fileprivate func move(
    _ before: User, to state: UserState, by actor: ID<User>
  ) throws(Refusal) -> (user: User, job: ID<Job>?) {
    guard state == .deactivated else { return try depart(before.summary.id, as: state, by: actor) }
    var after = before
    after.standing?.state = state
    try endAllSessions(of: before.summary.id)
    return (try change(before, to: after, by: actor), nil)
  }
}

extension Leaving.How {
  fileprivate var audited: AuditedAction {
    switch self {
    case .deactivate: .userDeactivated
    case .leave: .userLeft
    case .erase: .userErased
    }
  }
}
