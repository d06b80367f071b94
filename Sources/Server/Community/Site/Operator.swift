// Operations of the host's operator, who has the data folder and so all rights. They are recorded as actions of the
// first owner.

public import ParleyModel
import Storage

/// A user created by the operator.
public struct OperatorUser: Sendable {
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
  /// The operator as a caller, acting as the owner. Throws `lastOwner` if there is none.
  public func operatorCaller() throws(Refusal) -> Caller {
    guard let owner = try read({ tx throws(Refusal) in try tx.owner() }) else { throw .lastOwner }
    return Caller(user: owner, role: .owner, scope: .admin, session: nil)
  }

  /// All users in any state, by id.
  public func listAllUsers(_ page: PageRequest) throws(Refusal) -> ListPage<User> {
    try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.summary.id) }) { slice throws(Refusal) in
        try tx.everyone(slice).map { $0.redacted(for: [.see, .inspect]) }
      }
    }
  }
}

extension Community {
  public func addUser(_ new: OperatorUser) async throws(Refusal) -> User {
    try Texts.checkName(new.name)
    try Texts.checkPassword(new.password, bounds)
    let hash = try await passwords.hash(new.password)
    return try await store.write { tx throws(Refusal) in
      try tx.checkIsFree(new.name)
      let id = try tx.add(NewUser(name: new.name, role: new.role, password: hash))
      guard let user = try tx.user(id) else { throw .unavailable }
      return user.redacted(for: [.see, .inspect])
    }
  }

  /// Creates a token for another user without their password.
  public func createToken(
    _ draft: TokenDraft, for reference: UserReference, by operatorCaller: Caller
  ) async throws(Refusal) -> CreatedToken {
    let draft = try draft.checked(bounds)
    let secret = try Secret.makeToken()
    let actor = try operatorCaller.requireUser()
    return try await store.write { [bounds] tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(operatorCaller))
      // The bot of a webhook has the secret of its URL alone: lists of bots do not show it.
      guard rights.contains(.govern), try !tx.isBotOfWebhook(user.summary.id) else { throw .forbidden }
      if let state = user.standing?.state { try tx.checkMaySignIn(user.summary.id, state) }
      try tx.checkForums(of: draft.limits, for: try tx.reloadCaller(operatorCaller))
      return try tx.addToken(draft, secret, for: user.summary.id, atMost: bounds.tokens, by: actor)
    }
  }
}
