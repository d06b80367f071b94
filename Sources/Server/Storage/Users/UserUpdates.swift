public import ParleyModel
import ParleySQLite

/// A new user, validated by the Community layer.
public struct NewUser: Sendable {
  /// In display form; comparison ignores case.
  public let name: String
  public let role: Role
  public var state: UserState
  /// A password hash with salt and cost; nil without password sign-in.
  public let password: String?
  /// Created by an import: no sign-in until an invite claims the user.
  public var isImported = false
  public var bio = ""
  /// The time of an imported user; nil for now.
  public var createdAt: Int64?
  public var displayName: String?
  /// The member of the staff that creates a bot.
  public let owner: ID<User>?

  public init(
    name: String, role: Role, state: UserState = .active, password: String? = nil, displayName: String? = nil,
    owner: ID<User>? = nil
  ) {
    self.name = name
    self.displayName = displayName
    self.role = role
    self.state = state
    self.password = password
    self.owner = owner
  }
}

extension WriteTransaction {
  /// Throws `conflict` if the name is taken. A user awaiting approval is not announced.
  public func add(_ user: NewUser) throws(Refusal) -> ID<User> {
    let id = nextID()
    let isAdded = try run { connection in
      try connection.execute(
        """
        insert into account (
          id, name, name_key, display_name, bio, role, state, imported, password, owner_id, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        on conflict (name_key) do nothing
        """, id, user.name, UserName.key(user.name), user.displayName, user.bio,
        user.role.rawValue, user.state.rawValue,
        user.isImported, user.password, user.owner?.number, Int(user.createdAt ?? now)) == 1
    }
    guard isAdded else { throw .conflict }
    try setTerms(of: ID(id), name: user.name, displayName: user.displayName)
    if user.state != .pending { try log(.userUpdated, in: .site, subject: id, revision: 1, actor: id) }
    return ID(id)
  }

  /// Logs a change of a user that is outside of its row, such as a group.
  func logChange(of user: ID<User>, by actor: ID<User>) throws(Refusal) {
    guard let revision = try raiseRevision(of: user) else { throw .notFound }
    try log(.userUpdated, in: .site, subject: user.number, revision: revision, actor: actor.number)
  }

  /// Logs a change of a user's private data in the user's stream.
  public func logPrivateChange(of user: ID<User>, by actor: ID<User>) throws(Refusal) {
    guard let revision = try raiseRevision(of: user) else { return }
    try log(
      .preferencesUpdated, in: .user(user), subject: user.number, revision: revision, actor: actor.number)
  }

  private func raiseRevision(of user: ID<User>) throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        """
        update account
        set revision = revision + 1
        where id = $1
        returning revision
        """, user.number
      ) { row in try row.int(0) }
    }
  }
}

/// Data for sign-in by name.
public struct Credentials: Sendable {
  public let user: ID<User>
  public let state: UserState
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
        """, UserName.key(name)
      ) { row in
        Credentials(user: ID(try row.int(0)), state: try row.word(1), password: try row.optionalText(2))
      }
    }
  }

  /// Whether the user exists and is active.
  public func isActive(_ user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from account
        where id = $1 and state = 'active'
        """, user.number
      ) { _ in true } ?? false
    }
  }
}

extension ReadTransaction {
  /// The stored password hash of a user.
  public func password(of user: ID<User>) throws(Refusal) -> String? {
    try run { connection in
      try connection.first("select password from account where id = $1", user.number) { row in
        try row.optionalText(0)
      }
    }.flatMap(\.self)
  }
}

extension WriteTransaction {
  /// Stores the changed fields of a user. Logs the change in the site's stream, or in the user's own stream for
  /// private fields.
  ///
  /// - Parameter hasNewAddresses: the user's addresses, which are not part of `user`, have changed.
  /// - Returns: the user with the new revision.
  public func change(
    _ before: User, to user: User, by actor: ID<User>, hasNewAddresses: Bool = false
  ) throws(Refusal) -> User {
    guard user != before || hasNewAddresses, let own = user.own, let standing = user.standing else {
      return before
    }
    var user = user
    user.summary.revision = before.summary.revision + 1
    let summary = user.summary
    let columns: [StoredColumn] = [
      ("name", .text(summary.name ?? "")), ("name_key", summary.name.map { UserName.key($0) }.stored),
      ("state", .text(standing.state.rawValue)), ("imported", standing.isImported.stored),
      ("revision", .int(summary.revision)),
    ]
    try update(
      "account", summary.id.number,
      set: columns + summary.columns(since: before.summary) + own.columns(since: before.own))
    if summary.role.isStaff, !before.summary.role.isStaff {
      try noteStaffRole(of: summary.id)
      try shortenSessions(of: summary.id)
    }
    if before.summary.role.isStaff, !summary.role.isStaff || standing.state != .active {
      try disableWebhookEndpoints(of: summary.id)
      try disableCommands(of: summary.id)
    }
    if summary.name != before.summary.name || summary.displayName != before.summary.displayName {
      try setTerms(of: summary.id, name: summary.name, displayName: summary.displayName)
    }
    if !before.looksSame(user) {
      try log(
        .userUpdated, in: .site, subject: summary.id.number, revision: summary.revision, actor: actor.number)
    }
    if own != before.own || hasNewAddresses {
      try log(
        .preferencesUpdated, in: .user(summary.id), subject: summary.id.number, revision: summary.revision,
        actor: actor.number)
    }
    return user
  }

  /// Notes that an imported user has claimed the account.
  public func noteClaim(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("update account set claimed_at = $1 where id = $2", Int(now), user.number)
    }
  }

  /// Notes the time of the user's first role of the staff.
  private func noteStaffRole(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update account set role_since = $1 where id = $2 and role_since is null", Int(now), user.number)
    }
  }

  /// Clears statuses past their end. Returns whether more remain.
  func clearEndedStatuses(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select id
        from account
        where status_expires_at <= $1
        order by status_expires_at, id
        limit $2
        """, Int(now), limit
      ) { row in ID<User>(try row.int(0)) }
    }
    for user in due {
      guard let before = try self.user(user) else { continue }
      var after = before
      after.summary.clearStatus()
      // System action.
      _ = try change(before, to: after, by: ID(0))
    }
    return due.count == limit
  }

  /// Sets or removes a password, and forgets the devices of the user.
  public func setPassword(_ hash: String?, of user: ID<User>) throws(Refusal) {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        update account
        set password = $1, devices_after = $2
        where id = $3
        """, hash, id, user.number)
    }
  }

  /// Forgets the devices of a user: those of earlier sign-ins are new ones, and their cookies no longer count.
  public func forgetDevices(of user: ID<User>) throws(Refusal) {
    let id = nextID()
    try run { connection in
      try connection.execute("update account set devices_after = $1 where id = $2", id, user.number)
    }
  }

  /// Stores a costlier hash of the same password, unless the password was changed meanwhile.
  public func rehashPassword(_ hash: String, of user: ID<User>, from earlier: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update account
        set password = $1
        where id = $2 and password = $3
        """, hash, user.number, earlier)
    }
  }

  /// Removes a user awaiting approval, which frees the name. Returns whether there was one.
  public func removePending(_ user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from account
        where id = $1 and state = 'pending'
        """, user.number) == 1
    }
  }
}

extension User {
  /// Whether other users, moderators included, see no difference.
  fileprivate func looksSame(_ other: User) -> Bool {
    var summary = summary
    summary.revision = other.summary.revision
    return summary == other.summary && standing == other.standing
  }
}
