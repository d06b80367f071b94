public import ParleyModel
import ParleySQLite

/// What is kept of a new invite, checked by the rules above.
public struct NewInvite: Sendable {
  public let code: String
  public let digest: [UInt8]
  public let createdBy: ID<Account>
  public let role: Role
  public let forum: ID<Forum>?
  public let claims: ID<Account>?
  public let mostUses: Int?
  public let expiresAt: Int64?

  public init(
    code: String, digest: [UInt8], createdBy: ID<Account>, role: Role, forum: ID<Forum>?, claims: ID<Account>?,
    mostUses: Int?, expiresAt: Int64?
  ) {
    self.code = code
    self.digest = digest
    self.createdBy = createdBy
    self.role = role
    self.forum = forum
    self.claims = claims
    self.mostUses = mostUses
    self.expiresAt = expiresAt
  }
}

extension ReadTransaction {
  public func invite(withDigest digest: [UInt8]) throws(Refusal) -> Invite? {
    try run { connection in
      try connection.first(
        """
        select i.id, i.code, i.created_by, i.role, i.forum_id, i.claims_user_id, i.most_uses, i.created_at,
          i.expires_at, i.revoked_at, i.uses
        from invite i
        where i.digest = $1
        """, digest
      ) { row in try Invite(row) }
    }
  }

  public func invite(_ id: ID<Invite>) throws(Refusal) -> Invite? {
    try run { connection in
      try connection.first(
        """
        select i.id, i.code, i.created_by, i.role, i.forum_id, i.claims_user_id, i.most_uses, i.created_at,
          i.expires_at, i.revoked_at, i.uses
        from invite i
        where i.id = $1
        """, id.number
      ) { row in try Invite(row) }
    }
  }

  /// Everyone's, or those that one person made; the newest first, after the one with the id `before`.
  public func invites(
    by maker: ID<Account>?, before: ID<Invite>?, limit: Int
  ) throws(Refusal) -> [Invite] {
    guard let maker else { return try everyInvite(before: before, limit: limit) }
    return try run { connection in
      try connection.all(
        """
        select i.id, i.code, i.created_by, i.role, i.forum_id, i.claims_user_id, i.most_uses, i.created_at,
          i.expires_at, i.revoked_at, i.uses
        from invite i
        where i.created_by = $1 and i.id < $2
        order by i.id desc
        limit $3
        """, maker.number, before?.number ?? Int.max, limit
      ) { row in try Invite(row) }
    }
  }

  private func everyInvite(before: ID<Invite>?, limit: Int) throws(Refusal) -> [Invite] {
    try run { connection in
      try connection.all(
        """
        select i.id, i.code, i.created_by, i.role, i.forum_id, i.claims_user_id, i.most_uses, i.created_at,
          i.expires_at, i.revoked_at, i.uses
        from invite i
        where i.id < $1
        order by i.id desc
        limit $2
        """, before?.number ?? Int.max, limit
      ) { row in try Invite(row) }
    }
  }

  /// The one by which somebody came.
  public func invite(thatBrought account: ID<Account>) throws(Refusal) -> ID<Invite>? {
    try run { connection in
      try connection.first(
        """
        select invite_id
        from invite_use
        where user_id = $1
        """, account.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// How many of somebody's invites are open.
  public func openInviteCount(of maker: ID<Account>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from invite
        where created_by = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
        and (most_uses is null or uses < most_uses)
        """, maker.number, Int(now)
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Who came by it, the latest first.
  public func people(invitedBy invite: ID<Invite>, limit: Int) throws(Refusal) -> [ID<Account>] {
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

  /// What a forum is called, whoever may see it: for who holds an invite into it.
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
  /// It hangs below the invite by which its maker came.
  public func add(_ invite: NewInvite) throws(Refusal) -> ID<Invite> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into invite (
          id, digest, code, created_by, parent_id, role, forum_id, claims_user_id, most_uses, expires_at, created_at)
        values ($1, $2, $3, $4, (select invite_id from invite_use where user_id = $4), $5, $6, $7, $8, $9, $10)
        """, id, invite.digest, invite.code, invite.createdBy.number, invite.role.rawValue, invite.forum?.number,
        invite.claims?.number, invite.mostUses, invite.expiresAt.map { Int($0) }, Int(now))
    }
    return ID(id)
  }

  /// That somebody came by it.
  public func use(invite: ID<Invite>, by account: ID<Account>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into invite_use (user_id, invite_id, at)
        values ($1, $2, $3)
        on conflict (user_id) do nothing
        """, account.number, invite.number, Int(now))
      try connection.execute(
        """
        update invite
        set uses = uses + 1
        where id = $1
        """, invite.number)
    }
  }

  /// Lets nobody in by it any more, nor by those of who came by it, if `descendants`. How many were open.
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

  /// Makes somebody new a member of the forum that their invite names, if it is still there. Into a private one only who
  /// leads it invites, who shows them all; elsewhere they read what people with an account do.
  public func land(_ account: ID<Account>, in forum: ID<Forum>) throws(Refusal) {
    guard let found = try self.forum(forum) else { return }
    let start = found.visibility == .private ? nil : try historyStarts(of: forum)?.people
    _ = try setMember(account, .member, of: forum, after: start, by: account)
  }
}

extension Invite {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), code: try row.text(1), createdBy: ID(try row.int(2)), role: try row.word(3),
      forum: try row.optionalInt(4).map { ID($0) }, claims: try row.optionalInt(5).map { ID($0) },
      uses: try row.int(10), mostUses: try row.optionalInt(6), createdAt: Int64(try row.int(7)),
      expiresAt: try row.optionalInt(8).map { Int64($0) }, revokedAt: try row.optionalInt(9).map { Int64($0) })
  }
}
