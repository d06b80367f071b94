// The times of weekly digests.

public import ParleyModel
import ParleySQLite

/// A user whose digest is due or not planned yet.
public struct DigestRecipient: Sendable, Hashable {
  public let user: ID<User>
  /// 0 before it is planned.
  public let dueAt: Int64
  /// The time of the last digest.
  public let digestedAt: Int64?
}

extension ReadTransaction {
  /// Users with a confirmed address whose digest is due or not planned yet, longest first.
  public func digestRecipients(limit: Int) throws(Refusal) -> [DigestRecipient] {
    try run { connection in
      try connection.all(
        """
        select user_id, digest_due_at, digested_at
        from email
        where address is not null and stopped_at is null and digest_due_at <= $1
        order by digest_due_at, user_id
        limit $2
        """, Int(now), limit
      ) { row in
        DigestRecipient(
          user: ID(try row.int(0)), dueAt: Int64(try row.int(1)), digestedAt: try row.optionalInt(2).map { Int64($0) })
      }
    }
  }
}

extension WriteTransaction {
  /// Sets the time of the next digest of a user; nil for one that is to be planned. No-op without an address.
  public func setDigestTime(_ time: Int64?, of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("update email set digest_due_at = $1 where user_id = $2", Int(time ?? 0), user.number)
    }
  }

  /// Queues the digest of a user.
  public func enqueueDigest(of user: ID<User>) throws(Refusal) {
    try enqueueMail(.account(.weeklyDigest), of: user)
    try run { connection in
      try connection.execute("update email set digested_at = $1 where user_id = $2", Int(now), user.number)
    }
  }
}
