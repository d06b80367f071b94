public import Model
import SQLite

/// A way in, as it is looked up at each request.
public struct KnownSession: Sendable, Hashable {
  public let id: ID<Session>
  public let account: ID<Account>
  public let role: Role
  public let scope: Scope
  public let lastUsedAt: Int64?
}

/// What is kept of a new way in. Of the secret only the digest.
public struct NewSession: Sendable {
  public enum Kind: String, Sendable, Hashable {
    /// Of a device, by name and password.
    case session
    /// Made by a person for a program.
    case token
  }

  public let account: ID<Account>
  public let kind: Kind
  public let digest: [UInt8]
  public let name: String
  public let scope: Scope
  public let expiresAt: Int64?

  public init(
    account: ID<Account>, kind: Kind, digest: [UInt8], name: String, scope: Scope, expiresAt: Int64? = nil
  ) {
    self.account = account
    self.kind = kind
    self.digest = digest
    self.name = name
    self.scope = scope
    self.expiresAt = expiresAt
  }
}

extension ReadTransaction {
  /// Whose secret it is: nobody's, if it has ended or its person may not come in.
  public func session(withDigest digest: [UInt8]) throws(Refusal) -> KnownSession? {
    try run { connection in
      try connection.first(
        """
        select s.id, s.user_id, a.role, s.scope, s.last_used_at
        from session s
        join account a on a.id = s.user_id
        where s.digest = $1 and a.state = 'active' and (s.expires_at is null or s.expires_at > $2)
        """, digest, Int(now)
      ) { row in
        KnownSession(
          id: ID(try row.int(0)), account: ID(try row.int(1)), role: try row.word(2), scope: try row.word(3),
          lastUsedAt: try row.optionalInt(4).map { Int64($0) })
      }
    }
  }
}

extension WriteTransaction {
  public func add(_ session: NewSession) throws(Refusal) -> ID<Session> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into session (id, user_id, kind, digest, name, scope, created_at, last_used_at, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """, id, session.account.number, session.kind.rawValue, session.digest, session.name, session.scope.rawValue,
        Int(now), Int(now), session.expiresAt.map { Int($0) })
    }
    return ID(id)
  }

  /// That it was used, for its owner to see.
  public func touch(_ session: ID<Session>) throws(Refusal) {
    try run { connection in
      try connection.execute("update session set last_used_at = $1 where id = $2", Int(now), session.number)
    }
  }

  /// Ends a way in, if it is this person's: whether there was one.
  public func end(_ session: ID<Session>, of account: ID<Account>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from session
        where id = $1 and user_id = $2
        """, session.number, account.number) == 1
    }
  }
}
