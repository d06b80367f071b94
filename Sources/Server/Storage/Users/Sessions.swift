public import ParleyModel
import ParleySQLite

/// A session or token, as authentication looks it up at each request.
public struct StoredSession: Sendable, Hashable {
  public let id: ID<Session>
  public let user: ID<User>
  public let role: Role
  public let scope: Scope
  public let lastUsedAt: Int64?
  public let limits: TokenLimits
  /// Whether the user has no second factor a week after the site began to require one.
  public let lacksSecondFactor: Bool
}

/// A new session or token. Only the digest of its secret is stored.
public struct NewSession: Sendable {
  public let user: ID<User>
  public let kind: Session.Kind
  public let digest: [UInt8]
  public let name: String
  public let scope: Scope
  public let expiresAt: Int64?
  /// The token that created this token.
  public let parent: ID<Session>?
  /// The network of the client.
  public let address: String?
  public let limits: TokenLimits
  /// The grant of the access token of an app.
  public let grant: ID<AppGrant>?

  public init(
    user: ID<User>, kind: Session.Kind, digest: [UInt8], name: String, scope: Scope, expiresAt: Int64? = nil,
    parent: ID<Session>? = nil, address: String? = nil, limits: TokenLimits = TokenLimits(), grant: ID<AppGrant>? = nil
  ) {
    self.grant = grant
    self.user = user
    self.kind = kind
    self.digest = digest
    self.name = name
    self.scope = scope
    self.expiresAt = expiresAt
    self.parent = parent
    self.address = address
    self.limits = limits
  }
}

extension ReadTransaction {
  /// The session with this secret; nil if it has expired or the user is not active.
  public func session(withDigest digest: [UInt8]) throws(Refusal) -> StoredSession? {
    try run { connection in
      try connection.first(Self.sessionWithDigest, Int(SecondFactor.grace), Int(now), digest) { row in
        try StoredSession(row)
      }
    }
  }

  /// Whether the session with this secret was revoked.
  public func hasEndedSession(withDigest digest: [UInt8]) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from ended_session where digest = $1", digest) { _ in true } ?? false
    }
  }

  private static let sessionWithDigest = SQL(
    """
    select s.id, s.user_id, a.role, s.scope, s.last_used_at, \(SecondFactorRule.isBroken), s.forums, s.rate_limit
    from session s
    join account a on a.id = s.user_id
    where s.digest = $3 and a.state = 'active' and (s.expires_at is null or s.expires_at > $2) and \(isOfEnabledApp)
    """)

  /// Whether the session `s` is not the access token of a disabled app.
  private static let isOfEnabledApp = """
    (s.grant_id is null or exists (
      select 1
      from app_grant g
      join app p on p.id = g.app_id
      where g.id = s.grant_id and p.enabled = 1
    ))
    """

  /// The devices of a user count from this id on. It is later than the sign-ins before the password was changed or removed, or
  /// before the user reported a foreign one. Ids tell the order, also after a change of the clock.
  public func firstDeviceID(of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select devices_after from account where id = $1", user.number) { try $0.int(0) } ?? .max
    }
  }

  /// The same by id, for a connection that has already authenticated.
  public func activeSession(_ id: ID<Session>) throws(Refusal) -> StoredSession? {
    try run { connection in
      try connection.first(Self.sessionWithID, id.number, Int(now)) { row in try StoredSession(row) }
    }
  }

  private static let sessionWithID = SQL(
    """
    select s.id, s.user_id, a.role, s.scope, s.last_used_at, 0, s.forums, s.rate_limit
    from session s
    join account a on a.id = s.user_id
    where s.id = $1 and a.state = 'active' and (s.expires_at is null or s.expires_at > $2) and \(isOfEnabledApp)
    """)

  /// The same for a device with push messages, which an app may have subscribed: it lasts as long as the grant of the app.
  public func activeSubscriber(_ id: ID<Session>) throws(Refusal) -> StoredSession? {
    try run { connection in
      try connection.first(Self.subscriberWithID, id.number, Int(now)) { row in try StoredSession(row) }
    }
  }

  private static let subscriberWithID = SQL(
    """
    select s.id, s.user_id, a.role, s.scope, s.last_used_at, 0, s.forums, s.rate_limit
    from session s
    join account a on a.id = s.user_id
    where s.id = $1 and a.state = 'active'
      and (s.expires_at is null or s.expires_at > $2 or s.grant_id is not null) and \(isOfEnabledApp)
    """)

  /// A user's sessions of one kind, newest first, without the access tokens of apps.
  public func sessions(
    _ kind: Session.Kind, of user: ID<User>, _ slice: ListSlice, current: ID<Session>?
  ) throws(Refusal) -> [Session] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select id, kind, name, scope, created_at, last_used_at, expires_at, address, forums, rate_limit
          from session
          where user_id = $1 and kind = $2 and id \(page.comparison) $3 and (expires_at is null or expires_at > $4)
            and grant_id is null
          order by id \(page.order)
          limit $5
          """), user.number, kind.rawValue, page.number(), Int(now), slice.limit
      ) { row in try Session(row, current: current) }
    }
  }

  /// One session of a user; nil once it has ended.
  public func session(
    _ id: ID<Session>, of user: ID<User>, current: ID<Session>?
  ) throws(Refusal) -> Session? {
    try run { connection in
      try connection.first(
        """
        select id, kind, name, scope, created_at, last_used_at, expires_at, address, forums, rate_limit
        from session
        where id = $1 and user_id = $2 and (expires_at is null or expires_at > $3)
        """, id.number, user.number, Int(now)
      ) { row in try Session(row, current: current) }
    }
  }

  /// Without the access tokens of apps.
  public func sessionCount(_ kind: Session.Kind, of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from session
        where user_id = $1 and kind = $2 and grant_id is null
        """, user.number, kind.rawValue
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
      expiresAt: try row.optionalInt(6).map { Int64($0) }, address: try row.optionalText(7), isCurrent: id == current,
      limits: try TokenLimits(row))
  }
}

/// The times at which sessions end by themselves. Tokens of programs have no such end.
struct SessionLifetime {
  /// Without use, in milliseconds.
  let maxIdleTime: Int64
  /// Since the sign-in, in milliseconds.
  let maxTime: Int64
}

extension ReadTransaction {
  /// The lifetime that the settings give to sessions of the user.
  func sessionLifetime(of user: ID<User>) throws(Refusal) -> SessionLifetime {
    let settings = try settings()
    let isStaff = try activeRole(of: user)?.isStaff == true
    let day: Int64 = 86_400_000
    return SessionLifetime(
      maxIdleTime: Int64(isStaff ? settings.staffSessionIdleDays : settings.sessionIdleDays) * day,
      maxTime: Int64(isStaff ? settings.staffSessionMaxDays : settings.sessionMaxDays) * day)
  }
}

extension WriteTransaction {
  public func add(_ session: NewSession) throws(Refusal) -> ID<Session> {
    let id = nextID()
    let isToken = session.kind == .token
    var expiresAt = session.expiresAt
    if expiresAt == nil, !isToken {
      let lifetime = try sessionLifetime(of: session.user)
      expiresAt = now + min(lifetime.maxIdleTime, lifetime.maxTime)
    }
    try run { connection in
      try connection.execute(
        """
        insert into session (id, user_id, kind, digest, name, scope, created_at, last_used_at, expires_at, parent_id,
          proved_at, address, forums, rate_limit, grant_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $8, $11, $12, $13, $14)
        """, id, session.user.number, session.kind.rawValue, session.digest, session.name, session.scope.rawValue,
        Int(now), isToken ? nil : Int(now), expiresAt.map { Int($0) },
        session.parent?.number, session.address, session.limits.storedForums, session.limits.rate,
        session.grant?.number)
      // A token has not been used yet.
      guard !isToken else { return }
      try connection.execute("update account set last_seen_at = $1 where id = $2", Int(now), session.user.number)
    }
    return ID(id)
  }

  /// Records the use of a session and that its user was seen.
  ///
  /// - Parameter address: the network of the client; nil keeps the last one.
  public func touch(_ session: ID<Session>, of user: ID<User>, from address: String? = nil) throws(Refusal) {
    let lifetime = try sessionLifetime(of: user)
    try run { connection in
      try connection.execute(
        """
        update session
        set last_used_at = $1, address = coalesce($2, address),
          expires_at = case kind when 'session' then min($1 + $3, created_at + $4) else expires_at end
        where id = $5 and (expires_at is null or expires_at > $1)
        """, Int(now), address, Int(lifetime.maxIdleTime), Int(lifetime.maxTime), session.number)
      try connection.execute("update account set last_seen_at = $1 where id = $2", Int(now), user.number)
    }
  }

  /// Applies shorter lifetimes of the settings, or of the staff, to sessions that there are: their next use would extend
  /// them. Longer ones apply from the next use.
  ///
  /// - Parameter user: nil for all users.
  public func shortenSessions(of user: ID<User>? = nil) throws(Refusal) {
    let settings = try settings()
    let day = 86_400_000
    let (staffMax, staffIdle) = (settings.staffSessionMaxDays * day, settings.staffSessionIdleDays * day)
    let (max, idle) = (settings.sessionMaxDays * day, settings.sessionIdleDays * day)
    try run { connection in
      if let user {
        try connection.execute(Self.shortenOfUser, staffMax, staffIdle, max, idle, user.number)
      } else {
        try connection.execute(Self.shortenAll, staffMax, staffIdle, max, idle)
      }
    }
  }

  private static let shortenAll = shorten(where: "kind = 'session'")
  private static let shortenOfUser = shorten(where: "kind = 'session' and user_id = $5")

  private static func shorten(where condition: String) -> SQL {
    SQL(
      """
      update session
      set expires_at = min(
        coalesce(expires_at, created_at + $1),
        iif(
          exists (select 1 from account a where a.id = session.user_id and a.role in ('owner', 'admin')),
          min(created_at + $1, coalesce(last_used_at, created_at) + $2),
          min(created_at + $3, coalesce(last_used_at, created_at) + $4)
        )
      )
      where \(condition)
      """)
  }

  /// Ends a session, if it belongs to this user and is of this kind, and the tokens that a token created.
  public func end(_ session: ID<Session>, _ kind: Session.Kind, of user: ID<User>) throws(Refusal) {
    try recordEnded { connection in
      try connection.all(
        EndedSession.deletion(
          of: """
            select id
            from session
            where id = $1 and user_id = $2 and kind = $3
            """), session.number, user.number, kind.rawValue, read: EndedSession.init)
    }
  }

  /// Ends all sessions of a user but one, and all tokens and connected apps unless `keepsTokens`, with the tokens that
  /// these created, also those of bots.
  public func endSessions(of user: ID<User>, except current: ID<Session>?, keepsTokens: Bool) throws(Refusal) {
    if !keepsTokens { try endGrants(ofUser: user) }
    try recordEnded { connection in
      try connection.all(
        EndedSession.deletion(
          of: """
            select id
            from session
            where user_id = $1 and id is distinct from $2 and (kind = 'session' or not $3)
            """, and: "id is distinct from $2"), user.number, current?.number, keepsTokens, read: EndedSession.init)
    }
  }

  /// Ends the sessions of a user but one, and no token.
  public func endOtherSessions(of user: ID<User>, except current: ID<Session>?) throws(Refusal) {
    try endSessions(of: user, except: current, keepsTokens: true)
  }

  /// Ends all sessions and tokens of a user, and the tokens that these created, also those of bots.
  public func endAllSessions(of user: ID<User>) throws(Refusal) {
    try endSessions(of: user, except: nil, keepsTokens: false)
  }

  /// Ends expired sessions and the least recently used ones beyond `most`.
  public func trimSessions(of user: ID<User>, limit: Int) throws(Refusal) {
    try recordEnded { connection in
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
        returning id, digest, 0
        """, user.number, Int(now), limit, read: EndedSession.init)
    }
  }

  /// Notes ended sessions, so that connections authenticated by them are closed after the commit. Secrets of webhooks end
  /// with the token that made them.
  @discardableResult
  func recordEnded(_ end: (Connection) throws -> [EndedSession]) throws(Refusal) -> Int {
    let ended = try run(end)
    try run { connection in
      for session in ended where session.isRevoked {
        try connection.execute(
          "insert into ended_session (digest, ended_at) values ($1, $2) on conflict (digest) do nothing",
          session.digest, Int(now))
      }
    }
    let ids = ended.map(\.id)
    try revokeWebhooks(ofTokens: ids)
    try disableWebhookEndpoints(ofTokens: ids)
    try disableCommands(ofTokens: ids)
    endedSessions += ids
    return ended.count
  }

  /// Forgets sessions that ended longer ago than any session lasts. Returns whether more remain.
  func removeOldEndedSessions(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from ended_session
        where digest in (
          select digest
          from ended_session
          where ended_at <= $1
          order by ended_at
          limit $2
        )
        """, Int(now) - SiteSettings.sessionDays.upperBound * 86_400_000, limit) == limit
    }
  }
}

/// A session or token that has just ended.
struct EndedSession {
  let id: ID<Session>
  let digest: [UInt8]
  /// Whether the session was ended before its expiry.
  let isRevoked: Bool

  init(_ row: borrowing Row) throws {
    id = ID(try row.int(0))
    digest = try row.bytes(1)
    isRevoked = try row.bool(2)
  }

  /// Deletes the sessions of a query, with the tokens that these created.
  ///
  /// - Parameter condition: of the sessions that may be deleted.
  static func deletion(of query: String, and condition: String = "true") -> SQL {
    SQL(
      """
      with recursive family (id) as (
        \(query)
        union
        select s.id
        from session s
        join family f on s.parent_id = f.id
      )
      delete from session
      where id in (select id from family) and \(condition)
      returning id, digest, 1
      """)
  }
}

extension StoredSession {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), user: ID(try row.int(1)), role: try row.word(2), scope: try row.word(3),
      lastUsedAt: try row.optionalInt(4).map { Int64($0) }, limits: try TokenLimits(row),
      lacksSecondFactor: try row.int(5) == 1)
  }
}

extension TokenLimits {
  fileprivate init(_ row: borrowing Row) throws {
    try self.init(forumsOf: row)
    rate = try row.optionalInt("rate_limit")
  }

  /// Reads the column `forums` alone.
  init(forumsOf row: borrowing Row) throws {
    self.init()
    guard let text = try row.optionalText("forums") else { return }
    var forums: Set<ID<Forum>> = []
    for part in text.split(separator: ",") {
      guard let forum = ID<Forum>(String(part)) else { throw row.unexpected(try row.position("forums")) }
      forums.insert(forum)
    }
    self.forums = forums
  }

  var storedForums: String? { forums?.sorted().map(\.description).joined(separator: ",") }
}
