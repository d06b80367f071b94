public import Model
import SQLite

/// Somebody new, checked by the rules above.
public struct NewAccount: Sendable {
  /// As it is shown; it is compared without regard to case.
  public let name: String
  public let role: Role
  public var state: AccountState
  /// A hash with its salt and its cost; nil for who signs in by no password.
  public let password: String?
  /// Came with an import: no way in until an invite claims it.
  public var isImported = false

  public init(name: String, role: Role, state: AccountState = .active, password: String? = nil) {
    self.name = name
    self.role = role
    self.state = state
    self.password = password
  }
}

extension WriteTransaction {
  /// Refused as `conflict` when the name is taken.
  public func add(_ account: NewAccount) throws(Refusal) -> ID<Account> {
    let id = nextID()
    let isAdded = try run { connection in
      try connection.execute(
        """
        insert into account (id, name, name_key, role, state, imported, password, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (name_key) do nothing
        """, id, account.name, account.name.lowercased(), account.role.rawValue, account.state.rawValue,
        account.isImported, account.password, Int(now)) == 1
    }
    guard isAdded else { throw .conflict }
    try log(.userUpdated, in: .site, subject: id, revision: 1, actor: id)
    return ID(id)
  }
}

/// What signing in by name needs.
public struct Credentials: Sendable {
  public let account: ID<Account>
  public let state: AccountState
  public let password: String?
}

extension ReadTransaction {
  public func credentials(named name: String) throws(Refusal) -> Credentials? {
    try run { connection in
      try connection.first(
        """
        select id, state, password
        from account
        where name_key = $1
        """, name.lowercased()
      ) { row in
        Credentials(account: ID(try row.int(0)), state: try row.word(1), password: try row.optionalText(2))
      }
    }
  }
}
