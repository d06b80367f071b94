import ParleySQLite

extension CarriedChanges {
  /// Passkeys that were removed or made since the backup, and the counters of the others.
  mutating func addPasskeys(_ connection: Connection) throws(SQLiteError) {
    guard try connection.has(table: "passkey", in: "main") else { return }
    guard try connection.has(table: "passkey", in: "restored") else {
      let count = try connection.first(
        """
        select count(*)
        from main.passkey m
        join restored.account r on r.id = m.user_id
        """
      ) { row in try row.int(0) }
      items.append(Item(count: count ?? 0, noun: "passkey", loss: "lost, because the backup is of an older version"))
      return
    }
    try add(
      "removed passkey", connection,
      """
      select r.credential_id
      from restored.passkey r
      join main.account a on a.id = r.user_id and a.state not in ('left', 'erased')
      where not exists (select 1 from main.passkey m where m.credential_id = r.credential_id)
      """
    ) { row in
      let credential = try row.bytes(0)
      return { connection throws(SQLiteError) in
        try connection.execute("delete from passkey where credential_id = $1", credential)
      }
    }
    for isNew in [true, false] {
      try add(
        isNew ? "new passkey" : nil, connection,
        """
        select m.id, m.user_id, m.credential_id, m.public_key, m.host, m.name, m.sign_count, m.backup_eligible,
          m.backed_up, m.transports, m.created_at, m.last_used_at
        from main.passkey m
        join restored.account a on a.id = m.user_id
        left join restored.passkey r on r.credential_id = m.credential_id
        where a.state not in ('left', 'erased') and (r.id is null) = $1
          and (r.id is null or r.last_used_at is not m.last_used_at or r.name <> m.name)
        """, isNew, read: Self.passkey)
    }
  }

  private static func passkey(_ row: borrowing Row) throws(SQLiteError) -> Change {
    let (id, user) = (try row.int("id"), try row.int("user_id"))
    let (credential, key, host) = (try row.bytes("credential_id"), try row.bytes("public_key"), try row.text("host"))
    let (name, signCount, transports) = (try row.text("name"), try row.int("sign_count"), try row.text("transports"))
    let (isEligible, isBackedUp) = (try row.int("backup_eligible"), try row.int("backed_up"))
    let (createdAt, lastUsedAt) = (try row.int("created_at"), try row.optionalInt("last_used_at"))
    return { connection throws(SQLiteError) in
      try connection.execute(
        """
        insert into passkey (id, user_id, credential_id, public_key, host, name, sign_count, backup_eligible, backed_up,
          transports, created_at, last_used_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        on conflict (credential_id) do update
        set name = $6, sign_count = $7, backed_up = $9, last_used_at = $12
        """, id, user, credential, key, host, name, signCount, isEligible, isBackedUp, transports, createdAt, lastUsedAt
      )
      try connection.execute("update counter set value = max(value, $1) where name = 'id'", id)
    }
  }
}
