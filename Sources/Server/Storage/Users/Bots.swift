public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Removes a departing user as the owner of bots. The bots stay, without an owner.
  func removeOwner(_ user: ID<User>, by actor: ID<User>) throws(Refusal) {
    let bots = try run { connection in
      try connection.all(
        """
        update account
        set owner_id = null
        where owner_id = $1
        returning id
        """, user.number
      ) { row in ID<User>(try row.int(0)) }
    }
    for bot in bots { try logChange(of: bot, by: actor) }
  }
}

extension ReadTransaction {
  /// Without the bots of webhooks.
  public func botCount() throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from account a
        where a.role = 'bot' and not exists (select 1 from webhook w where w.bot_id = a.id)
        """
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Bots in any state, oldest first, without those of webhooks.
  public func bots(_ slice: ListSlice) throws(Refusal) -> [Bot] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns), (
              select count(*)
              from session s
              where s.user_id = a.id and s.kind = 'token' and (s.expires_at is null or s.expires_at > $1)
            ) as token_count, (
              select max(s.last_used_at)
              from session s
              where s.user_id = a.id and s.kind = 'token' and (s.expires_at is null or s.expires_at > $1)
            ) as last_used_at
          from account a
          where a.role = 'bot' and a.id \(page.comparison) $2
            and not exists (select 1 from webhook w where w.bot_id = a.id)
          order by a.id \(page.order)
          limit $3
          """), Int(now), page.number(), slice.limit
      ) { row in
        Bot(
          try User(row), tokenCount: try row.int("token_count"),
          lastUsedAt: try row.optionalInt("last_used_at").map { Int64($0) })
      }
    }
  }
}
