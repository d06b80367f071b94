// Changes since a backup that its restore must not undo: bans and silences, roles, passwords, second factors, passkeys, linked
// accounts, email addresses, used and revoked invites. They are read from the replaced database before anything is written, since its pages may be
// damaged, and applied to the restored one in the transaction that starts its history.
//
// In the queries `main` is the replaced database and `restored` the restored one. Each may be of an older version.

import ParleySQLite

struct CarriedChanges: Sendable {
  typealias Change = @Sendable (Connection) throws(SQLiteError) -> Void

  struct Item: Hashable, Sendable {
    let count: Int
    let noun: String
    /// The reason why it is lost; nil for a change that is applied.
    var loss: String?
  }

  var items: [Item] = []
  private var changes: [Change] = []

  /// - Parameter connection: to the replaced database, with the restored one attached.
  init(_ connection: Connection, at now: Int) throws(SQLiteError) {
    let owners = try connection.keepsOwners() ? "not (r.role = 'owner' and r.state = 'active')" : "true"
    try addSanctions(connection, at: now, where: owners)
    try addStates(connection, where: owners)
    try addRoles(connection, where: owners)
    try addForumRoles(connection)
    try addPasswords(connection)
    try addClaims(connection)
    try addInvites(connection, at: now)
    try addSecondFactors(connection)
    try addEmails(connection)
    try addMailSettings(connection)
    try addDigestSettings(connection)
    try addPasskeys(connection)
    try addIdentities(connection)
  }

  func apply(to connection: Connection) throws(SQLiteError) {
    for change in changes { try change(connection) }
  }

  /// - Parameters:
  ///   - noun: nil for changes that are not counted.
  ///   - read: returns the change of a row.
  mutating func add<each Value: Bindable>(
    _ noun: String?, _ connection: Connection, _ sql: SQL, _ values: repeat each Value,
    read: (borrowing Row) throws -> Change
  ) throws(SQLiteError) {
    let found = try connection.all(sql, repeat each values, read: read)
    changes += found
    if let noun { items.append(Item(count: found.count, noun: noun)) }
  }

  // MARK: Moderation

  /// An expired ban is in force until it is lifted.
  private mutating func addSanctions(
    _ connection: Connection, at now: Int, where owners: String
  ) throws(SQLiteError) {
    try add(
      "lifted sanction", connection,
      """
      select m.id, m.lifted_at, m.lifted_by
      from main.sanction m
      join restored.sanction s on s.id = m.id
      where m.lifted_at is not null and s.lifted_at is null
      order by m.id
      """
    ) { row in
      let (id, at, by) = (try row.int(0), try row.int(1), try row.optionalInt(2))
      return { connection throws(SQLiteError) in
        try connection.execute("update sanction set lifted_at = $1, lifted_by = $2 where id = $3", at, by, id)
      }
    }
    for kind in ["ban", "silence"] {
      try add(
        kind, connection,
        SQL(
          """
          select m.id, m.user_id, m.forum_id, m.until, m.reason, m.created_by, m.created_at
          from main.sanction m
          join restored.account r on r.id = m.user_id
          where m.kind = $1 and m.lifted_at is null and (m.kind = 'ban' or m.until is null or m.until > $2)
            and r.state not in ('left', 'erased') and \(owners)
            and exists (select 1 from main.account a where a.id = m.user_id and a.state not in ('left', 'erased'))
            and (m.forum_id is null or exists (select 1 from restored.forum f where f.id = m.forum_id))
            and not exists (select 1 from restored.sanction s where s.id = m.id)
          order by m.id
          """), kind, now
      ) { row in
        let (id, user, forum) = (try row.int(0), try row.int(1), try row.optionalInt(2))
        let (until, reason) = (try row.optionalInt(3), try row.optionalText(4))
        let (actor, createdAt) = (try row.int(5), try row.int(6))
        return { connection throws(SQLiteError) in
          try connection.execute(
            """
            insert into sanction (id, user_id, kind, forum_id, until, reason, created_by, created_at)
            select $1, $2, $3, $4, $5, $6, $7, $8
            where not exists (
              select 1
              from sanction
              where user_id = $2 and kind = $3 and forum_id is $4 and lifted_at is null)
            """, id, user, kind, forum, until, reason, actor, createdAt)
          try connection.execute("update counter set value = max(value, $1) where name = 'id'", id)
        }
      }
    }
  }

  /// Users disabled or enabled since the backup.
  private mutating func addStates(_ connection: Connection, where owners: String) throws(SQLiteError) {
    try add(
      nil, connection,
      SQL(
        """
        select m.id, m.state
        from main.account m
        join restored.account r on r.id = m.id
        where m.state <> r.state and (
          m.state = 'disabled' and r.state in ('active', 'pending', 'deactivated')
          or m.state = 'active' and r.state = 'disabled'
        ) and \(owners)
        """)
    ) { row in
      let (id, state) = (try row.int(0), try row.text(1))
      return { connection throws(SQLiteError) in
        try connection.execute(
          """
          update account
          set state = $1, revision = revision + 1
          where id = $2 and ($1 = 'disabled' or not exists (
            select 1
            from sanction
            where user_id = $2 and kind = 'ban' and lifted_at is null))
          """, state, id)
      }
    }
  }

  private mutating func addRoles(_ connection: Connection, where owners: String) throws(SQLiteError) {
    let hasTimes = try connection.bothHave(column: "role_since", of: "account")
    try add(
      "changed role", connection,
      SQL(
        """
        select m.id, m.role, \(hasTimes ? "m.role_since" : "null")
        from main.account m
        join restored.account r on r.id = m.id
        where m.role <> r.role and 'bot' not in (m.role, r.role)
          and m.state <> 'erased' and r.state not in ('left', 'erased') and \(owners)
        """)
    ) { row in
      let (id, role, since) = (try row.int(0), try row.text(1), try row.optionalInt(2))
      return { connection throws(SQLiteError) in
        try connection.execute("update account set role = $1, revision = revision + 1 where id = $2", role, id)
        if hasTimes { try connection.execute("update account set role_since = $1 where id = $2", since, id) }
      }
    }
  }

  /// Leaders of forums. The end of a membership ends the role of a leader.
  private mutating func addForumRoles(_ connection: Connection) throws(SQLiteError) {
    try add(
      "changed forum role", connection,
      """
      select r.forum_id, r.user_id, coalesce(m.role, 'member')
      from restored.forum_member r
      join main.forum f on f.id = r.forum_id and f.deleted_at is null
      left join main.forum_member m on m.forum_id = r.forum_id and m.user_id = r.user_id
      where r.role <> coalesce(m.role, 'member')
      """
    ) { row in
      let (forum, user, role) = (try row.int(0), try row.int(1), try row.text(2))
      return { connection throws(SQLiteError) in
        try connection.execute(
          "update forum_member set role = $1 where forum_id = $2 and user_id = $3", role, forum, user)
      }
    }
  }

  // MARK: Access

  private mutating func addPasswords(_ connection: Connection) throws(SQLiteError) {
    let hasDevices = try connection.bothHave(column: "devices_after", of: "account")
    try add(
      "changed password", connection,
      SQL(
        """
        select m.id, m.password, \(hasDevices ? "m.devices_after" : "0")
        from main.account m
        join restored.account r on r.id = m.id
        where (m.password is not r.password\(hasDevices ? " or m.devices_after > r.devices_after" : "")) and m.state not in ('left', 'erased') and r.state <> 'erased'
        """)
    ) { row in
      let (id, hash, devices) = (try row.int(0), try row.optionalText(1), try row.int(2))
      return { connection throws(SQLiteError) in
        try connection.execute("update account set password = $1 where id = $2", hash, id)
        if hasDevices { try connection.execute("update account set devices_after = $1 where id = $2", devices, id) }
      }
    }
  }

  /// Imported accounts that their users have claimed.
  private mutating func addClaims(_ connection: Connection) throws(SQLiteError) {
    let hasTimes = try connection.bothHave(column: "claimed_at", of: "account")
    try add(
      "claimed account", connection,
      SQL(
        """
        select m.id, \(hasTimes ? "m.claimed_at" : "null")
        from main.account m
        join restored.account r on r.id = m.id
        where m.imported = 0 and r.imported = 1 and m.state not in ('left', 'erased')
        """)
    ) { row in
      let (id, at) = (try row.int(0), try row.optionalInt(1))
      return { connection throws(SQLiteError) in
        try connection.execute("update account set imported = 0 where id = $1", id)
        if hasTimes { try connection.execute("update account set claimed_at = $1 where id = $2", at, id) }
      }
    }
  }

  private mutating func addInvites(_ connection: Connection, at now: Int) throws(SQLiteError) {
    try add(
      "revoked invite", connection,
      """
      select m.id, m.revoked_at
      from main.invite m
      join restored.invite r on r.id = m.id
      where m.revoked_at is not null and r.revoked_at is null and (r.expires_at is null or r.expires_at > $1)
      """, now
    ) { row in
      let (id, at) = (try row.int(0), try row.int(1))
      return { connection throws(SQLiteError) in
        try connection.execute("update invite set revoked_at = $1 where id = $2", at, id)
      }
    }
    try add(
      "used invite", connection,
      """
      select m.id, m.uses
      from main.invite m
      join restored.invite r on r.id = m.id
      where m.uses > r.uses
      """
    ) { row in
      let (id, uses) = (try row.int(0), try row.int(1))
      return { connection throws(SQLiteError) in
        try connection.execute("update invite set uses = $1 where id = $2", uses, id)
      }
    }
  }

  // MARK: Second factors

  private mutating func addSecondFactors(_ connection: Connection) throws(SQLiteError) {
    guard try connection.has(table: "totp", in: "main") else { return }
    guard try connection.has(table: "totp", in: "restored") else {
      let count = try connection.first(
        """
        select count(*)
        from main.totp m
        join restored.account r on r.id = m.user_id
        where m.confirmed_at is not null
        """
      ) { row in try row.int(0) }
      items.append(
        Item(count: count ?? 0, noun: "second factor", loss: "lost, because the backup is of an older version"))
      return
    }
    try add(
      "removed second factor", connection,
      """
      select r.user_id
      from restored.totp r
      join main.account a on a.id = r.user_id and a.state not in ('left', 'erased')
      where r.confirmed_at is not null and not exists (
        select 1
        from main.totp m
        where m.user_id = r.user_id and m.confirmed_at is not null)
      """
    ) { row in
      let user = try row.int(0)
      return { connection throws(SQLiteError) in
        try connection.execute("delete from totp where user_id = $1", user)
      }
    }
    for isNew in [true, false] {
      try add(
        isNew ? "second factor" : nil, connection,
        """
        select m.user_id, m.secret, m.created_at, m.confirmed_at, m.last_step
        from main.totp m
        join restored.account a on a.id = m.user_id
        left join restored.totp r on r.user_id = m.user_id
        where m.confirmed_at is not null and a.state <> 'erased'
          and (r.confirmed_at is null) = $1
          and (r.secret is not m.secret or r.confirmed_at is not m.confirmed_at or r.last_step is not m.last_step)
        """, isNew, read: Self.authenticator)
    }
    try addRecoveryCodes(connection)
  }

  private static func authenticator(_ row: borrowing Row) throws(SQLiteError) -> Change {
    let (user, secret, createdAt) = (try row.int(0), try row.bytes(1), try row.int(2))
    let (confirmedAt, step) = (try row.int(3), try row.int(4))
    return { connection throws(SQLiteError) in
      try connection.execute(
        """
        insert into totp (user_id, secret, created_at, confirmed_at, last_step)
        values ($1, $2, $3, $4, $5)
        on conflict (user_id) do update
        set secret = $2, created_at = $3, confirmed_at = $4, last_step = $5
        """, user, secret, createdAt, confirmedAt, step)
    }
  }

  // MARK: Email

  /// A link to an old address would open the account to the owner of that mailbox.
  private mutating func addEmails(_ connection: Connection) throws(SQLiteError) {
    guard try connection.has(table: "email", in: "main") else { return }
    guard try connection.has(table: "email", in: "restored") else {
      let count = try connection.first(
        """
        select count(*)
        from main.email m
        join restored.account r on r.id = m.user_id
        where m.address is not null
        """
      ) { row in try row.int(0) }
      items.append(
        Item(count: count ?? 0, noun: "email address", loss: "lost, because the backup is of an older version"))
      return
    }
    try add(
      "changed email address", connection,
      """
      select a.id, m.address, coalesce(m.refusals, 0), m.stopped_at
      from restored.account a
      join main.account o on o.id = a.id and o.state not in ('left', 'erased')
      left join main.email m on m.user_id = a.id
      left join restored.email r on r.user_id = a.id
      where a.state not in ('left', 'erased')
        and (m.address is not r.address or m.address is not null and m.stopped_at is not r.stopped_at)
      order by a.id
      """
    ) { row in
      let (user, address) = (try row.int(0), try row.optionalText(1))
      let (refusals, stoppedAt) = (try row.int(2), try row.optionalInt(3))
      return { connection throws(SQLiteError) in
        try connection.execute(
          """
          insert into email (user_id, address, refusals, stopped_at)
          values ($1, $2, $3, $4)
          on conflict (user_id) do update
          set address = $2, refusals = $3, stopped_at = $4
          """, user, address, refusals, stoppedAt)
      }
    }
  }

  /// Kinds of mail that users have switched off or on.
  private mutating func addMailSettings(_ connection: Connection) throws(SQLiteError) {
    guard try connection.bothHave(column: "mail", of: "notification_settings") else { return }
    try add(
      nil, connection,
      """
      select m.user_id, m.paused, m.snoozed_until, m.quiet_hours, m.push, m.push_shows, m.mail
      from main.notification_settings m
      join restored.account a on a.id = m.user_id and a.state not in ('left', 'erased')
      left join restored.notification_settings r on r.user_id = m.user_id
      where m.mail is not coalesce(r.mail, '')
      """
    ) { row in
      let (user, paused, snoozedUntil) = (try row.int(0), try row.int(1), try row.optionalInt(2))
      let (quietHours, push) = (try row.optionalText(3), try row.text(4))
      let (pushShows, mail) = (try row.text(5), try row.text(6))
      return { connection throws(SQLiteError) in
        try connection.execute(
          """
          insert into notification_settings (user_id, paused, snoozed_until, quiet_hours, push, push_shows, mail)
          values ($1, $2, $3, $4, $5, $6, $7)
          on conflict (user_id) do update
          set mail = $7
          """, user, paused, snoozedUntil, quietHours, push, pushShows, mail)
      }
    }
  }

  /// Weekly digests that users have switched off or on.
  private mutating func addDigestSettings(_ connection: Connection) throws(SQLiteError) {
    guard try connection.bothHave(column: "weekly_digest", of: "notification_settings") else { return }
    try add(
      nil, connection,
      """
      select m.user_id, m.paused, m.snoozed_until, m.quiet_hours, m.push, m.push_shows, m.mail, m.time_zone,
        m.weekly_digest
      from main.notification_settings m
      join restored.account a on a.id = m.user_id and a.state not in ('left', 'erased')
      left join restored.notification_settings r on r.user_id = m.user_id
      where m.weekly_digest is not r.weekly_digest
      """
    ) { row in
      let (user, paused, snoozedUntil) = (try row.int(0), try row.int(1), try row.optionalInt(2))
      let (quietHours, push) = (try row.optionalText(3), try row.text(4))
      let (pushShows, mail) = (try row.text(5), try row.text(6))
      let (timeZone, weeklyDigest) = (try row.optionalText(7), try row.int(8))
      return { connection throws(SQLiteError) in
        try connection.execute(
          """
          insert into notification_settings (
            user_id, paused, snoozed_until, quiet_hours, push, push_shows, mail, time_zone, weekly_digest)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
          on conflict (user_id) do update
          set weekly_digest = $9
          """, user, paused, snoozedUntil, quietHours, push, pushShows, mail, timeZone, weeklyDigest)
      }
    }
  }

  private mutating func addRecoveryCodes(_ connection: Connection) throws(SQLiteError) {
    try add(
      nil, connection,
      """
      select r.user_id, r.digest
      from restored.recovery_code r
      join main.account a on a.id = r.user_id and a.state not in ('left', 'erased')
      where not exists (select 1 from main.recovery_code m where m.user_id = r.user_id and m.digest = r.digest)
      """
    ) { row in
      let (user, digest) = (try row.int(0), try row.bytes(1))
      return { connection throws(SQLiteError) in
        try connection.execute("delete from recovery_code where user_id = $1 and digest = $2", user, digest)
      }
    }
    for isUsed in [true, false] {
      try add(
        isUsed ? "used recovery code" : nil, connection,
        """
        select m.user_id, m.digest, m.used_at
        from main.recovery_code m
        join restored.account a on a.id = m.user_id
        left join restored.recovery_code r on r.user_id = m.user_id and r.digest = m.digest
        where a.state <> 'erased' and (m.used_at is not null) = $1
          and (r.user_id is null or m.used_at is not null and r.used_at is null)
        """, isUsed
      ) { row in
        let (user, digest, usedAt) = (try row.int(0), try row.bytes(1), try row.optionalInt(2))
        return { connection throws(SQLiteError) in
          try connection.execute(
            """
            insert into recovery_code (user_id, digest, used_at)
            values ($1, $2, $3)
            on conflict (user_id, digest) do update
            set used_at = $3
            """, user, digest, usedAt)
        }
      }
    }
  }
}

extension Connection {
  /// Whether the owners of the restored database stay owners: no owner of the replaced one is among its users.
  fileprivate func keepsOwners() throws(SQLiteError) -> Bool {
    try first(
      """
      select 1
      from main.account m
      join restored.account r on r.id = m.id
      where m.role = 'owner' and m.state = 'active' and m.imported = 0 and r.state in ('active', 'disabled')
      """
    ) { _ in true } == nil
  }

  func has(table: String, in schema: String) throws(SQLiteError) -> Bool {
    try first("select 1 from pragma_table_list where schema = $1 and name = $2", schema, table) { _ in true } ?? false
  }

  func bothHave(table: String) throws(SQLiteError) -> Bool {
    guard try has(table: table, in: "main") else { return false }
    return try has(table: table, in: "restored")
  }

  func has(column: String, of table: String, in schema: String) throws(SQLiteError) -> Bool {
    try first(
      "select 1 from pragma_table_info where arg = $1 and schema = $2 and name = $3", table, schema, column
    ) { _ in true } ?? false
  }

  fileprivate func bothHave(column: String, of table: String) throws(SQLiteError) -> Bool {
    guard try has(column: column, of: table, in: "main") else { return false }
    return try has(column: column, of: table, in: "restored")
  }
}
