// What whoever has the data folder may do: everything, since the files are theirs. What needs somebody to have done it is
// done in the name of the owner who came first.

public import ParleyModel
import Storage

/// Somebody whom the host puts into the place.
public struct Newcomer: Sendable {
  public let name: String
  public let role: Role
  public let password: String

  public init(name: String, role: Role, password: String) {
    self.name = name
    self.role = role
    self.password = password
  }
}

extension CommunityView {
  /// The host, as the owner; `lastOwner` where there is none.
  public func host() throws(Refusal) -> Caller {
    guard let owner = try read({ tx throws(Refusal) in try tx.owner() }) else { throw .lastOwner }
    return Caller(account: owner, role: .owner, scope: .admin, session: nil)
  }

  /// All who have an account, however they stand with the place, after that one: one more than `limit`, where there are
  /// more.
  public func everyone(after id: ID<Account>?, limit: Int) throws(Refusal) -> [Person] {
    try read { tx throws(Refusal) in
      try tx.everyone(after: id, limit: limit + 1).map { $0.seen(with: [.see, .inspect]) }
    }
  }
}

extension Community {
  public func add(_ newcomer: Newcomer) async throws(Refusal) -> Person {
    try Texts.checkName(newcomer.name)
    try Texts.checkPassword(newcomer.password, bounds)
    let hash = try await passwords.hash(newcomer.password)
    return try await store.write { tx throws(Refusal) in
      guard try tx.account(named: newcomer.name) == nil else { throw .invalid("name", .taken) }
      let id = try tx.add(NewAccount(name: newcomer.name, role: newcomer.role, password: hash))
      guard let person = try tx.person(id) else { throw .unavailable }
      return person.seen(with: [.see, .inspect])
    }
  }

  /// For a program that comes as somebody else, without their password.
  public func makeToken(
    _ draft: TokenDraft, for reference: AccountReference, by host: Caller
  ) async throws(Refusal) -> MadeToken {
    let draft = try draft.checked(bounds)
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      let (person, rights) = try tx.person(reference, for: try tx.renewed(host))
      guard rights.contains(.govern) else { throw .forbidden }
      try person.standing?.state.checkAdmission()
      return try tx.addToken(draft, secret, for: person.account.id, atMost: bounds.tokens)
    }
  }
}
