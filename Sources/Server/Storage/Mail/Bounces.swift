// Mails that came back.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The number of addresses to which mail has stopped.
  public func stoppedEmailCount() throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from email where stopped_at is not null") { try $0.int(0) } ?? 0
    }
  }
}

extension WriteTransaction {
  /// Notes that a mail came back. Mail to the user stops at `limit` mails within a week.
  ///
  /// - Parameter mail: its id in the queue. Another report on it changes nothing.
  /// - Returns: whether mail to the user has stopped by this.
  public func noteBounce(of mail: Int, to user: ID<User>, limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        insert into mail_bounce (user_id, mail_id, bounced_at)
        values ($1, $2, $3)
        on conflict (user_id, mail_id) do nothing
        """, user.number, mail, Int(now))
      return try connection.execute(
        """
        update email
        set stopped_at = $1
        where user_id = $2 and address is not null and stopped_at is null
          and (select count(*) from mail_bounce where user_id = $2 and bounced_at > $3) >= $4
        """, Int(now), user.number, Int(now - Self.bounceAge), limit) > 0
    }
  }

  /// - Returns: whether more remain.
  func removeOldBounces(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from mail_bounce
        where (user_id, mail_id) in (
          select user_id, mail_id
          from mail_bounce
          where bounced_at <= $1
          order by bounced_at
          limit $2
        )
        """, Int(now - Self.bounceAge), limit) == limit
    }
  }

  /// In milliseconds: a week.
  private static var bounceAge: Int64 { 7 * 86_400_000 }
}
