public import ParleyModel
import ParleySQLite

/// An account at an issuer, and its user here.
public struct StoredIdentity: Sendable, Hashable {
  public let id: ID<Identity>
  public let user: ID<User>
  /// `iss`.
  public let issuer: String
  /// `sub`.
  public let subject: String
  /// The user there in words.
  public let name: String
  public let createdAt: Int64
  public let lastUsedAt: Int64?
}

extension ReadTransaction {
  /// The accounts of a user, in the order of their creation.
  public func identities(of user: ID<User>, _ slice: ListSlice) throws(Refusal) -> [StoredIdentity] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select id, user_id, issuer, subject, name, created_at, last_used_at
          from identity
          where user_id = $1 and id \(page.comparison) $2
          order by id \(page.order)
          limit $3
          """), user.number, page.number(), slice.limit
      ) { row in try StoredIdentity(row) }
    }
  }

  public func identity(_ id: ID<Identity>, of user: ID<User>) throws(Refusal) -> StoredIdentity? {
    try run { connection in
      try connection.first(
        """
        select id, user_id, issuer, subject, name, created_at, last_used_at
        from identity
        where id = $1 and user_id = $2
        """, id.number, user.number
      ) { row in try StoredIdentity(row) }
    }
  }

  public func identity(at issuer: String, subject: String) throws(Refusal) -> StoredIdentity? {
    try run { connection in
      try connection.first(
        """
        select id, user_id, issuer, subject, name, created_at, last_used_at
        from identity
        where issuer = $1 and subject = $2
        """, issuer, subject
      ) { row in try StoredIdentity(row) }
    }
  }

  public func identityCount(of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from identity where user_id = $1", user.number) { row in
        try row.int(0)
      } ?? 0
    }
  }

  /// Whether one of these issuers signs a user in.
  ///
  /// - Parameter identity: an account that does not count.
  public func hasIdentity(
    at issuers: [String], of user: ID<User>, except identity: ID<Identity>? = nil
  ) throws(Refusal) -> Bool {
    try run { connection in
      try connection.all(
        "select issuer from identity where user_id = $1 and id is distinct from $2", user.number, identity?.number
      ) { row in try row.text(0) }
    }.contains { issuers.contains($0) }
  }

  /// The issuers of a user's accounts, each once.
  public func issuers(of user: ID<User>) throws(Refusal) -> [String] {
    try run { connection in
      try connection.all(
        """
        select issuer
        from identity
        where user_id = $1
        group by issuer
        order by min(id)
        """, user.number
      ) { row in try row.text(0) }
    }
  }
}

extension WriteTransaction {
  public func addIdentity(
    of user: ID<User>, at issuer: String, subject: String, name: String
  ) throws(Refusal) -> ID<Identity> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into identity (id, user_id, issuer, subject, name, created_at)
        values ($1, $2, $3, $4, $5, $6)
        """, id, user.number, issuer, subject, name, Int(now))
    }
    return ID(id)
  }

  /// Notes a sign-in with the account, and the words for it.
  public func noteUse(of identity: ID<Identity>, name: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update identity set name = $1, last_used_at = $2 where id = $3", name, Int(now), identity.number)
    }
  }

  /// Notes that a sign-in with the account has opened a session.
  ///
  /// - Parameter sid: the session at the issuer.
  public func note(_ session: ID<Session>, of identity: ID<Identity>, sid: String?) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "insert into issuer_session (session_id, identity_id, sid) values ($1, $2, $3)", session.number,
        identity.number,
        sid)
    }
  }

  public func deleteIdentity(_ id: ID<Identity>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from identity where id = $1", id.number)
    }
  }

  /// Deletes the accounts of a user but one. Returns whether there were others.
  public func deleteIdentities(of user: ID<User>, except kept: ID<Identity>?) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        "delete from identity where user_id = $1 and id is distinct from $2", user.number, kept?.number) > 0
    }
  }

  /// Ends the sessions that an account has opened, but one.
  public func endSessions(openedBy identity: ID<Identity>, except current: ID<Session>? = nil) throws(Refusal) {
    try recordEnded { connection in
      try connection.all(
        """
        delete from session
        where id in (select session_id from issuer_session where identity_id = $1) and id is distinct from $2
        returning id, digest, 1
        """, identity.number, current?.number, read: EndedSession.init)
    }
  }

  /// Ends sessions that an account of an issuer has opened.
  ///
  /// - Parameter sid: the session at the issuer; nil for all.
  public func endSessions(at issuer: String, subject: String, sid: String?) throws(Refusal) {
    try recordEnded { connection in
      try connection.all(
        """
        delete from session
        where id in (
          select s.session_id
          from identity a
          join issuer_session s on s.identity_id = a.id
          where a.issuer = $1 and a.subject = $2 and ($3 is null or s.sid = $3)
        )
        returning id, digest, 1
        """, issuer, subject, sid, read: EndedSession.init)
    }
  }

  /// Ends the sessions of a session at an issuer.
  public func endSessions(at issuer: String, sid: String) throws(Refusal) {
    try recordEnded { connection in
      try connection.all(
        """
        delete from session
        where id in (
          select s.session_id
          from issuer_session s
          join identity a on a.id = s.identity_id
          where s.sid = $1 and a.issuer = $2
        )
        returning id, digest, 1
        """, sid, issuer, read: EndedSession.init)
    }
  }
}

extension StoredIdentity {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), user: ID(try row.int(1)), issuer: try row.text(2), subject: try row.text(3),
      name: try row.text(4), createdAt: Int64(try row.int(5)), lastUsedAt: try row.optionalInt(6).map { Int64($0) })
  }
}
