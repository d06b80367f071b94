public import ParleyModel
import ParleySQLite

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
  public var displayName: String?

  public init(
    name: String, role: Role, state: AccountState = .active, password: String? = nil, displayName: String? = nil
  ) {
    self.name = name
    self.displayName = displayName
    self.role = role
    self.state = state
    self.password = password
  }
}

extension WriteTransaction {
  /// Refused as `conflict` when the name is taken. Who waits is announced to nobody.
  public func add(_ account: NewAccount) throws(Refusal) -> ID<Account> {
    let id = nextID()
    let isAdded = try run { connection in
      try connection.execute(
        """
        insert into account (id, name, name_key, display_name, role, state, imported, password, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        on conflict (name_key) do nothing
        """, id, account.name, AccountName.key(account.name), account.displayName,
        account.role.rawValue, account.state.rawValue,
        account.isImported, account.password, Int(now)) == 1
    }
    guard isAdded else { throw .conflict }
    if account.state != .waiting { try log(.userUpdated, in: .site, subject: id, revision: 1, actor: id) }
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
        """, AccountName.key(name)
      ) { row in
        Credentials(account: ID(try row.int(0)), state: try row.word(1), password: try row.optionalText(2))
      }
    }
  }

  /// Whether there is such a person, and they have not gone.
  public func isActive(_ account: ID<Account>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from account
        where id = $1 and state = 'active'
        """, account.number
      ) { _ in true } ?? false
    }
  }
}

extension ReadTransaction {
  /// The hash that is kept of somebody's password.
  public func password(of account: ID<Account>) throws(Refusal) -> String? {
    try run { connection in
      try connection.first("select password from account where id = $1", account.number) { row in
        try row.optionalText(0)
      }
    }.flatMap(\.self)
  }
}

extension WriteTransaction {
  /// Keeps what of `person` is other than `before`: the account, its state, and what is their own. Says to everyone that
  /// it changed, or to the person alone where only they see what did.
  ///
  /// - Parameter hasNewAddresses: something of their own has changed that is not part of `person`.
  /// - Returns: the person with the new revision.
  public func change(
    _ before: Person, to person: Person, by actor: ID<Account>, hasNewAddresses: Bool = false
  ) throws(Refusal) -> Person {
    guard person != before || hasNewAddresses, let own = person.own, let standing = person.standing else {
      return before
    }
    var person = person
    person.account.revision = before.account.revision + 1
    let account = person.account
    let key = account.name.map { AccountName.key($0) }
    try run { connection in
      try connection.execute(
        """
        update account
        set name = $1, name_key = $2, display_name = $3, bio = $4, role = $5, state = $6, imported = $7,
          discoverable = $8, reachable_by = $9, shows_receipts = $10, shows_presence = $11, preferences = $12,
          revision = $13
        where id = $14
        """, account.name ?? "", key, account.displayName, account.bio, account.role.rawValue,
        standing.state.rawValue, standing.isImported, own.isDiscoverable, own.reachableBy.rawValue,
        own.showsReceipts, own.showsPresence, String(decoding: own.preferences.bytes, as: UTF8.self), account.revision,
        account.id.number)
    }
    if !before.isSeenAs(person) {
      try log(
        .userUpdated, in: .site, subject: account.id.number, revision: account.revision, actor: actor.number)
    }
    if own != before.own || hasNewAddresses {
      try log(
        .preferencesUpdated, in: .user(account.id), subject: account.id.number, revision: account.revision,
        actor: actor.number)
    }
    return person
  }

  public func setPassword(_ hash: String, of account: ID<Account>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update account
        set password = $1
        where id = $2
        """, hash, account.number)
    }
  }

  /// Keeps a dearer hash of the same password, unless another one was set meanwhile.
  public func renewPassword(_ hash: String, of account: ID<Account>, from earlier: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update account
        set password = $1
        where id = $2 and password = $3
        """, hash, account.number, earlier)
    }
  }

  /// Takes back what somebody asked for who still waits: whether there was such a one. Their name is free again.
  public func removeWaiting(_ account: ID<Account>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from account
        where id = $1 and state = 'waiting'
        """, account.number) == 1
    }
  }
}

extension Person {
  /// Whether others see no difference, those who keep order among them.
  fileprivate func isSeenAs(_ other: Person) -> Bool {
    var account = account
    account.revision = other.account.revision
    return account == other.account && standing == other.standing
  }
}
