public import ParleyModel
import ParleySQLite

/// A one-time link: site setup or password reset.
public struct OneTimeLink: Sendable, Hashable {
  public let kind: LinkPurpose.Kind
  /// The user of a password reset.
  public let user: ID<User>?
  public let expiresAt: Int64?
  public let usedAt: Int64?
}

extension ReadTransaction {
  public func link(withDigest digest: [UInt8]) throws(Refusal) -> OneTimeLink? {
    try run { connection in
      try connection.first(
        """
        select kind, user_id, expires_at, used_at
        from link
        where digest = $1
        """, digest
      ) { row in
        OneTimeLink(
          kind: try row.word(0), user: try row.optionalInt(1).map { ID($0) },
          expiresAt: try row.optionalInt(2).map { Int64($0) }, usedAt: try row.optionalInt(3).map { Int64($0) })
      }
    }
  }
}

extension WriteTransaction {
  /// Replaces earlier links of the same kind and user, unless the link is mailed: anybody can request a
  /// mailed link, so it must not void an earlier one. Deletes expired links.
  public func addLink(
    _ kind: LinkPurpose.Kind, for user: ID<User>? = nil, digest: [UInt8], by actor: ID<User>? = nil,
    expiresAt: Int64? = nil, isMailed: Bool = false
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        delete from link
        where (kind = $1 and user_id is not distinct from $2 and not $3) or expires_at <= $4
        """, kind.rawValue, user?.number, isMailed, Int(now))
      try connection.execute(
        """
        insert into link (digest, kind, user_id, created_by, created_at, expires_at)
        values ($1, $2, $3, $4, $5, $6)
        """, digest, kind.rawValue, user?.number, actor?.number, Int(now), expiresAt.map { Int($0) })
    }
  }

  /// Voids the links that were mailed to a user, but not a used one, which stays `gone`.
  public func deleteMailedLinks(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "delete from link where user_id = $1 and created_by is null and used_at is null", user.number)
    }
  }

  public func useUp(linkWithDigest digest: [UInt8]) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update link
        set used_at = $1
        where digest = $2
        """, Int(now), digest)
    }
  }
}
