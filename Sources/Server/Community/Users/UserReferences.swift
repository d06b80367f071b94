public import ParleyModel
import Storage

extension ReadTransaction {
  /// Resolves a user reference. Throws `notFound` for an unknown name.
  func userID(_ reference: UserReference, for caller: Caller) throws(Refusal) -> ID<User> {
    switch reference {
    case .me: return try caller.requireUser()
    case .id(let id): return id
    case .name(let name):
      guard let id = try user(named: name) else { throw .notFound }
      return id
    }
  }
}

extension CommunityView {
  /// Resolves a user reference to an id.
  public func userID(_ reference: UserReference, for caller: Caller) throws(Refusal) -> ID<User> {
    switch reference {
    case .me, .id: return try read { tx throws(Refusal) in try tx.userID(reference, for: caller) }
    case .name: return try read { tx throws(Refusal) in try tx.user(reference, for: caller).user.summary.id }
    }
  }
}
