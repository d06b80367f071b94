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

extension WriteTransaction {
  /// Ends all that a user has made and that gives access without them: open invites, links to set a password, secrets of webhooks,
  /// outgoing webhooks, slash commands, and the tokens of their bots, with the tokens that these created.
  public func endAccess(madeBy user: ID<User>) throws(Refusal) {
    try revokeInvites(of: user)
    try revokeWebhooks(of: user)
    try disableWebhookEndpoints(of: user)
    try disableCommands(of: user)
    try run { connection in
      // Few links are open at a time.
      try connection.execute("delete from link where created_by = $1 and used_at is null", user.number)
    }
    try recordEnded { connection in
      try connection.all(
        EndedSession.deletion(
          of: """
            select s.id
            from account a
            join session s on s.user_id = a.id
            where a.owner_id = $1 and a.role = 'bot'
            """), user.number, read: EndedSession.init)
    }
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
