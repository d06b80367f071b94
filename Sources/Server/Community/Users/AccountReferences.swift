public import ParleyModel
import Storage

extension ReadTransaction {
  /// Whom a request means. Nobody of that name is `notFound`.
  func account(_ reference: AccountReference, for caller: Caller) throws(Refusal) -> ID<Account> {
    switch reference {
    case .me: return try caller.person()
    case .id(let id): return id
    case .name(let name):
      guard let id = try account(named: name) else { throw .notFound }
      return id
    }
  }
}

extension CommunityView {
  /// Whom a request means, so that what follows has an id.
  public func account(_ reference: AccountReference, for caller: Caller) throws(Refusal) -> ID<Account> {
    switch reference {
    case .me, .id: return try read { tx throws(Refusal) in try tx.account(reference, for: caller) }
    case .name: return try read { tx throws(Refusal) in try tx.person(reference, for: caller).person.account.id }
    }
  }
}
