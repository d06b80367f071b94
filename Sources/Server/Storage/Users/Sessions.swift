public import ParleyModel
import ParleySQLite

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
  public let account: ID<Account>
  public let kind: Session.Kind
  public let digest: [UInt8]
  public let name: String
  public let scope: Scope
  public let expiresAt: Int64?

  public init(
    account: ID<Account>, kind: Session.Kind, digest: [UInt8], name: String, scope: Scope, expiresAt: Int64? = nil
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
      ) { row in try KnownSession(row) }
    }
  }

  /// The same by its id, for who has shown the secret before.
  public func openSession(_ id: ID<Session>) throws(Refusal) -> KnownSession? {
    try run { connection in
      try connection.first(
        """
        select s.id, s.user_id, a.role, s.scope, s.last_used_at
        from session s
        join account a on a.id = s.user_id
        where s.id = $1 and a.state = 'active' and (s.expires_at is null or s.expires_at > $2)
        """, id.number, Int(now)
      ) { row in try KnownSession(row) }
    }
  }

  /// A person's ways in of one kind, the newest first, after the one with the id `before`.
  public func sessions(
    _ kind: Session.Kind, of account: ID<Account>, before: ID<Session>?, limit: Int, current: ID<Session>?
  ) throws(Refusal) -> [Session] {
    try run { connection in
      try connection.all(
        """
        select id, kind, name, scope, created_at, last_used_at, expires_at
        from session
        where user_id = $1 and kind = $2 and id < $3 and (expires_at is null or expires_at > $4)
        order by id desc
        limit $5
        """, account.number, kind.rawValue, before?.number ?? Int.max, Int(now), limit
      ) { row in try Session(row, current: current) }
    }
  }

  /// One way in of a person's; nil once it has ended.
  public func session(
    _ id: ID<Session>, of account: ID<Account>, current: ID<Session>?
  ) throws(Refusal) -> Session? {
    try run { connection in
      try connection.first(
        """
        select id, kind, name, scope, created_at, last_used_at, expires_at
        from session
        where id = $1 and user_id = $2 and (expires_at is null or expires_at > $3)
        """, id.number, account.number, Int(now)
      ) { row in try Session(row, current: current) }
    }
  }

  public func sessionCount(_ kind: Session.Kind, of account: ID<Account>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from session
        where user_id = $1 and kind = $2
        """, account.number, kind.rawValue
      ) { row in try row.int(0) } ?? 0
    }
  }
}

extension Session {
  fileprivate init(_ row: borrowing Row, current: ID<Session>?) throws {
    let id = ID<Session>(try row.int(0))
    self.init(
      id: id, kind: try row.word(1), name: try row.text(2), scope: try row.word(3),
      createdAt: Int64(try row.int(4)), lastUsedAt: try row.optionalInt(5).map { Int64($0) },
      expiresAt: try row.optionalInt(6).map { Int64($0) }, isCurrent: id == current)
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

  /// That it was used, for its owner to see, and that its person was here.
  public func touch(_ session: ID<Session>, of account: ID<Account>) throws(Refusal) {
    try run { connection in
      try connection.execute("update session set last_used_at = $1 where id = $2", Int(now), session.number)
      try connection.execute("update account set last_seen_at = $1 where id = $2", Int(now), account.number)
    }
  }

  /// Ends a way in, if it is this person's and of this kind.
  public func end(_ session: ID<Session>, _ kind: Session.Kind, of account: ID<Account>) throws(Refusal) {
    try noteEnded { connection in
      try connection.all(
        """
        delete from session
        where id = $1 and user_id = $2 and kind = $3
        returning id
        """, session.number, account.number, kind.rawValue
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Ends the sessions of a person but one.
  public func endSessions(of account: ID<Account>, but kept: ID<Session>?) throws(Refusal) {
    try noteEnded { connection in
      try connection.all(
        """
        delete from session
        where user_id = $1 and kind = 'session' and id is distinct from $2
        returning id
        """, account.number, kept?.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Ends every way in of a person, tokens too.
  public func endAll(of account: ID<Account>) throws(Refusal) {
    try noteEnded { connection in
      try connection.all(
        """
        delete from session
        where user_id = $1
        returning id
        """, account.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Ends the sessions that were used longest ago, so that `most` stay, and what has expired.
  public func trimSessions(of account: ID<Account>, most: Int) throws(Refusal) {
    try noteEnded { connection in
      try connection.all(
        """
        delete from session
        where user_id = $1 and kind = 'session' and (
          expires_at <= $2 or id not in (
            select id
            from session
            where user_id = $1 and kind = 'session'
            order by last_used_at desc, id desc
            limit $3
          )
        )
        returning id
        """, account.number, Int(now), most
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Whoever follows along by one of these is told so once it is committed.
  @discardableResult
  func noteEnded(_ end: (Connection) throws -> [ID<Session>]) throws(Refusal) -> Int {
    let ended = try run(end)
    endedSessions += ended
    return ended.count
  }
}

extension KnownSession {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), account: ID(try row.int(1)), role: try row.word(2), scope: try row.word(3),
      lastUsedAt: try row.optionalInt(4).map { Int64($0) })
  }
}
