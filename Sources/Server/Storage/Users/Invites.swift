public import ParleyModel
import ParleySQLite

/// A new invite, validated by the Community layer.
public struct NewInvite: Sendable {
  public let digest: [UInt8]
  public let createdBy: ID<User>
  public let role: Role
  public let forum: ID<Forum>?
  public let claims: ID<User>?
  public let maxUses: Int?
  public let expiresAt: Int64?
  /// Whether it is that of a mail. It does not count as one of its maker.
  public let isMailed: Bool

  public init(
    digest: [UInt8], createdBy: ID<User>, role: Role, forum: ID<Forum>?, claims: ID<User>?, maxUses: Int?,
    expiresAt: Int64?, isMailed: Bool = false
  ) {
    self.digest = digest
    self.createdBy = createdBy
    self.role = role
    self.forum = forum
    self.claims = claims
    self.maxUses = maxUses
    self.expiresAt = expiresAt
    self.isMailed = isMailed
  }
}

extension ReadTransaction {
  public func invite(withDigest digest: [UInt8]) throws(Refusal) -> Invite? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Invite.columns)
          from invite
          where digest = $1
          """), digest
      ) { row in try Invite(row) }
    }
  }

  public func invite(_ id: ID<Invite>) throws(Refusal) -> Invite? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Invite.columns)
          from invite
          where id = $1
          """), id.number
      ) { row in try Invite(row) }
    }
  }

  /// Invites, newest first: all, or those created by one user. Those of mails are omitted.
  public func invites(
    by maker: ID<User>?, _ slice: ListSlice
  ) throws(Refusal) -> [Invite] {
    guard let maker else { return try allInvites(slice) }
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(Invite.columns)
          from invite
          where created_by = $1 and id \(page.comparison) $2 and mailed = 0
          order by id \(page.order)
          limit $3
          """), maker.number, page.number(), slice.limit
      ) { row in try Invite(row) }
    }
  }

  private func allInvites(_ slice: ListSlice) throws(Refusal) -> [Invite] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(Invite.columns)
          from invite
          where id \(page.comparison) $1 and mailed = 0
          order by id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try Invite(row) }
    }
  }

  /// The invite that a user signed up with.
  public func invite(signUpOf user: ID<User>) throws(Refusal) -> ID<Invite>? {
    try run { connection in
      try connection.first(
        """
        select invite_id
        from invite_use
        where user_id = $1
        """, user.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Number of usable invites of a user, without those of mails.
  public func openInviteCount(of maker: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from invite
        where created_by = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
        and (max_uses is null or uses < max_uses) and mailed = 0
        """, maker.number, Int(now)
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Users that signed up with an invite, latest first.
  public func users(invitedBy invite: ID<Invite>, limit: Int) throws(Refusal) -> [ID<User>] {
    try run { connection in
      try connection.all(
        """
        select user_id
        from invite_use
        where invite_id = $1
        order by at desc, user_id desc
        limit $2
        """, invite.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Title of a forum regardless of visibility, for the holder of an invite to it.
  public func title(of forum: ID<Forum>) throws(Refusal) -> String? {
    try run { connection in
      try connection.first(
        """
        select title
        from forum
        where id = $1 and deleted_at is null
        """, forum.number
      ) { row in try row.text(0) }
    }
  }
}

extension WriteTransaction {
  /// Creates an invite. Its parent is the invite that its creator signed up with.
  public func add(_ invite: NewInvite) throws(Refusal) -> ID<Invite> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into invite (
          id, digest, created_by, parent_id, role, forum_id, claims_user_id, max_uses, expires_at, created_at, mailed)
        values ($1, $2, $3, (select invite_id from invite_use where user_id = $3), $4, $5, $6, $7, $8, $9, $10)
        """, id, invite.digest, invite.createdBy.number, invite.role.rawValue, invite.forum?.number,
        invite.claims?.number, invite.maxUses, invite.expiresAt.map { Int($0) }, Int(now), invite.isMailed)
    }
    return ID(id)
  }

  /// Records that a user signed up with an invite.
  public func use(invite: ID<Invite>, by user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into invite_use (user_id, invite_id, at)
        values ($1, $2, $3)
        on conflict (user_id) do nothing
        """, user.number, invite.number, Int(now))
      try connection.execute(
        """
        update invite
        set uses = uses + 1
        where id = $1
        """, invite.number)
    }
  }

  /// Revokes an invite, and with `descendants` those of the users it brought. Returns the number revoked.
  public func revoke(invite: ID<Invite>, descendants: Bool) throws(Refusal) -> Int {
    try run { connection in
      guard descendants else {
        return try connection.execute(
          """
          update invite
          set revoked_at = $1
          where id = $2 and revoked_at is null
          """, Int(now), invite.number)
      }
      return try connection.execute(
        """
        with recursive branch (id) as (
          select $1
          union
          select i.id
          from invite i
          join branch b on i.parent_id = b.id
        )
        update invite
        set revoked_at = $2
        where id in (select id from branch) and revoked_at is null
        """, invite.number, Int(now))
    }
  }

  /// Revokes the open invites of a maker.
  func revokeInvites(of maker: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update invite
        set revoked_at = $1
        where created_by = $2 and revoked_at is null
        """, Int(now), maker.number)
    }
  }

  /// Revokes the mailed invites that claim a user.
  public func revokeMailedInvites(claiming user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update invite
        set revoked_at = $1
        where claims_user_id = $2 and mailed = 1 and revoked_at is null
        """, Int(now), user.number)
    }
  }

  /// Makes a new user a member of the forum named by the invite, if it still exists. The invites of a private forum are
  /// those of its admins: the member sees all of its history; elsewhere the history of signed-in users.
  public func joinForum(_ user: ID<User>, in forum: ID<Forum>, by actor: ID<User>? = nil) throws(Refusal) {
    guard let found = try self.forum(forum) else { return }
    let start = found.visibility == .private ? nil : try historyStarts(of: forum)?.users
    _ = try setMember(user, .member, of: forum, after: start, by: actor ?? user)
  }

  /// Makes a new user a member of all default forums.
  public func joinDefaultForums(_ user: ID<User>) throws(Refusal) {
    for forum in try defaultForums() { try joinForum(user, in: forum) }
  }
}

extension ReadTransaction {
  public func defaultForums() throws(Refusal) -> [ID<Forum>] {
    try run { connection in
      try connection.all(
        """
        select id
        from forum
        where is_default = 1 and deleted_at is null
        order by id
        """
      ) { row in ID(try row.int(0)) }
    }
  }
}

extension Invite {
  fileprivate static let columns = columns()

  fileprivate init(_ row: borrowing Row) throws {
    self = .blank
    try readFields(row, from: 0)
  }
}
