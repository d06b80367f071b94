// The email addresses of users, and the requests to reset a password.

public import ParleyModel
import ParleySQLite

/// An address that waits for its confirmation.
public struct PendingEmail: Sendable, Hashable {
  public let user: ID<User>
  public let address: String
  /// Nil until the mail with the code was sent.
  public let expiresAt: Int64?
}

/// The recipient of a user's mail.
public struct MailRecipient: Sendable, Hashable {
  public let user: ID<User>
  /// The confirmed address, unless mail to it has stopped.
  public let address: String?
  public let pending: String?
  /// The language of the user's app.
  public let language: String?
}

extension ReadTransaction {
  public func email(of user: ID<User>) throws(Refusal) -> Email {
    try run { connection in
      try connection.first("select address, pending, stopped_at from email where user_id = $1", user.number) { row in
        Email(
          address: try row.optionalText(0), pending: try row.optionalText(1),
          stoppedAt: try row.optionalInt(2).map { Int64($0) })
      } ?? Email()
    }
  }

  /// The address of a code for its confirmation.
  public func pendingEmail(withDigest digest: [UInt8]) throws(Refusal) -> PendingEmail? {
    try run { connection in
      try connection.first(
        "select user_id, pending, code_expires_at from email where code_digest = $1", digest
      ) { row in
        PendingEmail(
          user: ID(try row.int(0)), address: try row.text(1), expiresAt: try row.optionalInt(2).map { Int64($0) })
      }
    }
  }

  public func mailRecipient(_ user: ID<User>) throws(Refusal) -> MailRecipient? {
    try run { connection in
      try connection.first(
        """
        select case when e.stopped_at is null then e.address end, e.pending,
          cast(json_extract(a.preferences, '$.language') as text)
        from account a
        left join email e on e.user_id = a.id
        where a.id = $1
        """, user.number
      ) { row in
        MailRecipient(
          user: user, address: try row.optionalText(0), pending: try row.optionalText(1),
          language: try row.optionalText(2))
      }
    }
  }

  /// Users with this confirmed address.
  public func users(withEmail address: String, limit: Int) throws(Refusal) -> [ID<User>] {
    try run { connection in
      try connection.all(
        """
        select user_id
        from email
        where lower(address) = lower($1) and address is not null
        order by user_id
        limit $2
        """, address, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Requests to reset a password, longest first: the name of a user or an address.
  public func passwordResets(limit: Int) throws(Refusal) -> [String] {
    try run { connection in
      try connection.all("select login from password_reset order by requested_at, login limit $1", limit) { row in
        try row.text(0)
      }
    }
  }
}

extension WriteTransaction {
  /// Sets the address that waits for its confirmation. The confirmed one stays until then.
  ///
  /// - Returns: the number of requests of the user within `window` milliseconds, and when they began.
  public func setPendingEmail(
    _ address: String, of user: ID<User>, window: Int64
  ) throws(Refusal) -> (requests: Int, since: Int64) {
    let counted = try run { connection in
      try connection.execute(
        "delete from mail_delivery where user_id = $1 and topic = $2", user.number, MailKind.confirmation.rawValue)
      return try connection.first(
        """
        insert into email (user_id, pending, requests, requested_since)
        values ($1, $2, 1, $3)
        on conflict (user_id) do update
        set pending = excluded.pending, code_digest = null, code_expires_at = null,
          requests = case when requested_since > $4 then requests + 1 else 1 end,
          requested_since = case when requested_since > $4 then requested_since else excluded.requested_since end
        returning requests, requested_since
        """, user.number, address, Int(now), Int(now - window)
      ) { row in (requests: try row.int(0), since: Int64(try row.int(1))) }
    }
    return counted ?? (requests: 1, since: now)
  }

  /// Sets the code that confirms the waiting address.
  public func setEmailCode(digest: [UInt8], of user: ID<User>, expiresAt: Int64) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update email set code_digest = $1, code_expires_at = $2 where user_id = $3 and pending is not null", digest,
        Int(expiresAt), user.number)
    }
  }

  /// Makes the waiting address the confirmed one.
  public func confirmEmail(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update email
        set address = pending, pending = null, code_digest = null, code_expires_at = null, refusals = 0,
          stopped_at = null
        where user_id = $1 and pending is not null
        """, user.number)
      try connection.execute("delete from mail_bounce where user_id = $1", user.number)
    }
  }

  /// Deletes the address that waits for its confirmation, and its link.
  public func deletePendingEmail(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update email set pending = null, code_digest = null, code_expires_at = null where user_id = $1", user.number)
      try connection.execute(
        "delete from mail_delivery where user_id = $1 and topic = $2", user.number, MailKind.confirmation.rawValue)
    }
  }

  /// Deletes the address of a user, and the mail that waits for it. Notices that name their address stay: they tell the user of
  /// the change.
  public func deleteEmail(of user: ID<User>) throws(Refusal) {
    try run { connection in
      // The count of requests stays.
      try connection.execute(
        """
        update email
        set address = null, pending = null, code_digest = null, code_expires_at = null, refusals = 0, stopped_at = null
        where user_id = $1
        """, user.number)
      try connection.execute(
        "delete from mail_delivery where user_id = $1 and (address is null or kind = 'confirmation')", user.number)
    }
  }

  /// Notes that a mail server has refused the address of a user. Mail to it stops at `limit` in a row.
  public func noteEmailRefused(of user: ID<User>, limit: Int) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update email
        set refusals = refusals + 1, stopped_at = case when refusals + 1 >= $1 then coalesce(stopped_at, $2) else stopped_at end
        where user_id = $3
        """, limit, Int(now), user.number)
    }
  }

  /// Notes a request to reset a password, known or not, so that both take the same work. No-op while `limit` requests wait:
  /// a flood displaces no earlier one.
  public func addPasswordReset(_ login: String, limit: Int) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into password_reset (login, requested_at)
        select $1, $2
        where (select count(*) from password_reset) < $3
        on conflict (login) do nothing
        """, login, Int(now), limit)
    }
  }

  /// Counts a mailed reset link, or one to claim the account, whose user has no address yet.
  ///
  /// - Returns: the links of the user within `window` milliseconds.
  public func countMailedReset(of user: ID<User>, window: Int64) throws(Refusal) -> Int {
    let counted = try run { connection in
      try connection.first(
        """
        insert into email (user_id, resets, resets_since)
        values ($1, 1, $2)
        on conflict (user_id) do update
        set resets = case when resets_since > $3 then resets + 1 else 1 end,
          resets_since = case when resets_since > $3 then resets_since else $2 end
        returning resets
        """, user.number, Int(now), Int(now - window)
      ) { try $0.int(0) }
    }
    return counted ?? 1
  }

  /// Ends the pause after mailed links, which was that of claims: the user has claimed the account.
  public func forgetMailedResets(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "delete from mail_delivery where user_id = $1 and topic = $2", user.number, MailKind.reset.rawValue)
      try connection.execute("update email set resets = 0 where user_id = $1", user.number)
    }
  }

  /// Deletes requests to reset a password that no worker has looked at: mail is off.
  ///
  /// - Returns: whether more remain.
  func removeOldPasswordResets(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from password_reset
        where login in (
          select login
          from password_reset
          where requested_at <= $1
          order by requested_at, login
          limit $2
        )
        """, Int(now - Self.passwordResetAge), limit)
      return connection.changes == limit
    }
  }

  /// In milliseconds.
  private static var passwordResetAge: Int64 { 3_600_000 }

  public func deletePasswordReset(_ login: String) throws(Refusal) {
    try run { connection in try connection.execute("delete from password_reset where login = $1", login) }
  }
}
