import ParleySQLite

extension CarriedChanges {
  /// Accounts at issuers that were unlinked or linked since the backup.
  mutating func addIdentities(_ connection: Connection) throws(SQLiteError) {
    guard try connection.has(table: "identity", in: "main") else { return }
    guard try connection.has(table: "identity", in: "restored") else {
      let count = try connection.first(
        """
        select count(*)
        from main.identity m
        join restored.account r on r.id = m.user_id
        """
      ) { row in try row.int(0) }
      items.append(
        Item(count: count ?? 0, noun: "linked account", loss: "lost, because the backup is of an older version"))
      return
    }
    try add(
      "unlinked account", connection,
      """
      select r.issuer, r.subject
      from restored.identity r
      join main.account a on a.id = r.user_id and a.state not in ('left', 'erased')
      where not exists (
        select 1
        from main.identity m
        where m.issuer = r.issuer and m.subject = r.subject and m.user_id = r.user_id
      )
      """
    ) { row in
      let (issuer, subject) = (try row.text(0), try row.text(1))
      return { connection throws(SQLiteError) in
        try connection.execute("delete from identity where issuer = $1 and subject = $2", issuer, subject)
      }
    }
    try add(
      "linked account", connection,
      """
      select m.id, m.user_id, m.issuer, m.subject, m.name, m.created_at, m.last_used_at
      from main.identity m
      join restored.account a on a.id = m.user_id
      where a.state not in ('left', 'erased') and not exists (
        select 1
        from restored.identity r
        where r.issuer = m.issuer and r.subject = m.subject and r.user_id = m.user_id
      )
      """
    ) { row in
      let (id, user, issuer) = (try row.int(0), try row.int(1), try row.text(2))
      let (subject, name) = (try row.text(3), try row.text(4))
      let (createdAt, lastUsedAt) = (try row.int(5), try row.optionalInt(6))
      return { connection throws(SQLiteError) in
        try connection.execute(
          """
          insert into identity (id, user_id, issuer, subject, name, created_at, last_used_at)
          values ($1, $2, $3, $4, $5, $6, $7)
          on conflict (issuer, subject) do nothing
          """, id, user, issuer, subject, name, createdAt, lastUsedAt)
        try connection.execute("update counter set value = max(value, $1) where name = 'id'", id)
      }
    }
  }
}
