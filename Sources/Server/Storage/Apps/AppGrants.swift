// Grants of apps by users: authorization codes, the grants of their use, and the refresh tokens of grants. An access
// token is a session of the kind `token` with a grant.

public import ParleyModel
import ParleySQLite

/// A new authorization code.
public struct NewAppCode: Sendable {
  public let digest: [UInt8]
  public let app: ID<App>
  public let user: ID<User>
  public let scope: Scope
  public let forums: Set<ID<Forum>>?
  public let redirectURI: String
  public let challenge: String
  public let expiresAt: Int64

  public init(
    digest: [UInt8], app: ID<App>, user: ID<User>, scope: Scope, forums: Set<ID<Forum>>?, redirectURI: String,
    challenge: String, expiresAt: Int64
  ) {
    self.digest = digest
    self.app = app
    self.user = user
    self.scope = scope
    self.forums = forums
    self.redirectURI = redirectURI
    self.challenge = challenge
    self.expiresAt = expiresAt
  }
}

/// A stored authorization code.
public struct AppCode: Sendable, Hashable {
  public let app: ID<App>
  public let user: ID<User>
  public let scope: Scope
  public let forums: Set<ID<Forum>>?
  public let redirectURI: String
  public let challenge: String
  public let expiresAt: Int64
  /// The grant of its use; nil before.
  public let grant: ID<AppGrant>?
}

/// A user's consent to an app, once for each authorization: the family of its tokens.
public struct AppGrant: Sendable, Hashable {
  public let id: ID<AppGrant>
  public let app: ID<App>
  public let user: ID<User>
  public let scope: Scope
  public let forums: Set<ID<Forum>>?

  /// A grant ends after so many milliseconds without a refresh: 90 days.
  public static let idleTime: Int64 = 90 * 86_400_000
  /// The grants that a user gives one app, such as one for each device. A further one ends the one without use for the
  /// longest time.
  public static let grantsPerApp = 20
  /// The grants that a user gives all apps. They end in one write, as with a ban.
  public static let grantsPerUser = 200
  /// The access tokens of a grant that are valid at once. A further one ends the oldest.
  public static let accessTokens = 5
}

/// A stored refresh token.
public struct RefreshToken: Sendable, Hashable {
  public let grant: AppGrant
  /// Whether it was exchanged before.
  public let isUsed: Bool
}

/// A stored access token.
public struct AccessToken: Sendable, Hashable {
  public let session: ID<Session>
  public let grant: AppGrant
  public let scope: Scope
  public let forums: Set<ID<Forum>>?
  public let createdAt: Int64
  public let expiresAt: Int64
}

extension ReadTransaction {
  public func appCode(withDigest digest: [UInt8]) throws(Refusal) -> AppCode? {
    try run { connection in
      try connection.first(
        """
        select app_id, user_id, scope, forums, redirect_uri, challenge, expires_at, grant_id
        from app_code
        where digest = $1
        """, digest
      ) { row in
        AppCode(
          app: ID(try row.int("app_id")), user: ID(try row.int("user_id")), scope: try row.word("scope"),
          forums: try TokenLimits(forumsOf: row).forums, redirectURI: try row.text("redirect_uri"),
          challenge: try row.text("challenge"), expiresAt: Int64(try row.int("expires_at")),
          grant: try row.optionalInt("grant_id").map { ID($0) })
      }
    }
  }

  /// The refresh token with this digest. A grant without use for 90 days has none.
  public func refreshToken(withDigest digest: [UInt8]) throws(Refusal) -> RefreshToken? {
    try run { connection in
      try connection.first(
        """
        select g.id, g.app_id, g.user_id, g.scope, g.forums, r.used_at
        from app_refresh r
        join app_grant g on g.id = r.grant_id
        where r.digest = $1 and g.used_at > $2
        """, digest, Int(now - AppGrant.idleTime)
      ) { row in RefreshToken(grant: try AppGrant(row), isUsed: try row.optionalInt("used_at") != nil) }
    }
  }

  /// The valid access token with this digest.
  public func accessToken(withDigest digest: [UInt8]) throws(Refusal) -> AccessToken? {
    try run { connection in
      try connection.first(
        """
        select g.id, g.app_id, g.user_id, g.scope, s.id as session_id, s.scope as token_scope, s.forums, s.created_at,
          s.expires_at
        from session s
        join app_grant g on g.id = s.grant_id
        join account a on a.id = s.user_id
        where s.digest = $1 and s.expires_at > $2 and a.state = 'active'
        """, digest, Int(now)
      ) { row in
        AccessToken(
          session: ID(try row.int("session_id")), grant: try AppGrant(row), scope: try row.word("token_scope"),
          forums: try TokenLimits(forumsOf: row).forums, createdAt: Int64(try row.int("created_at")),
          expiresAt: Int64(try row.int("expires_at")))
      }
    }
  }

  /// Whether a session is the access token of an app.
  public func isOfApp(_ session: ID<Session>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from session where id = $1 and grant_id is not null", session.number) { _ in true }
        ?? false
    }
  }

  /// The apps that a user has allowed, in the order of their creation.
  public func connectedApps(of user: ID<User>, _ slice: ListSlice) throws(Refusal) -> [ConnectedApp] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select a.id, a.name, a.website, a.verified, count(*) as grants, min(g.created_at) as connected_at,
            max(coalesce((select max(s.last_used_at) from session s where s.grant_id = g.id), g.used_at), g.used_at)
              as used_at,
            max(
              case g.scope
              when 'profile' then 0
              when 'read' then 1
              when 'write' then 2
              else 3
              end
            ) as scope,
            iif(count(*) = count(g.forums), group_concat(g.forums), null) as forums
          from app_grant g
          join app a on a.id = g.app_id
          where g.user_id = $1 and g.app_id \(page.comparison) $2
          group by g.app_id
          order by g.app_id \(page.order)
          limit $3
          """), user.number, page.number(), slice.limit
      ) { row in
        ConnectedApp(
          id: ID(try row.int("id")), name: try row.text("name"), website: try row.optionalText("website"),
          isVerified: try row.bool("verified"), scope: Scope.allCases[min(max(try row.int("scope"), 0), 3)],
          forums: try TokenLimits(forumsOf: row).forums?.sorted(), grantCount: try row.int("grants"),
          connectedAt: Int64(try row.int("connected_at")), lastUsedAt: Int64(try row.int("used_at")))
      }
    }
  }
}

extension WriteTransaction {
  public func add(_ code: NewAppCode) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into app_code (digest, app_id, user_id, scope, forums, redirect_uri, challenge, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        """, code.digest, code.app.number, code.user.number, code.scope.rawValue,
        TokenLimits(forums: code.forums).storedForums, code.redirectURI, code.challenge, Int(code.expiresAt))
    }
  }

  /// Uses a code: adds its grant.
  public func addGrant(of code: AppCode, withDigest digest: [UInt8]) throws(Refusal) -> AppGrant {
    let id = ID<AppGrant>(nextID())
    try run { connection in
      try connection.execute(
        """
        insert into app_grant (id, app_id, user_id, scope, forums, created_at, used_at)
        values ($1, $2, $3, $4, $5, $6, $6)
        """, id.number, code.app.number, code.user.number, code.scope.rawValue,
        TokenLimits(forums: code.forums).storedForums, Int(now))
      try connection.execute("update app_code set grant_id = $1 where digest = $2", id.number, digest)
    }
    return AppGrant(id: id, app: code.app, user: code.user, scope: code.scope, forums: code.forums)
  }

  /// Adds the next refresh token of a grant.
  ///
  /// - Parameter used: the token that it replaces.
  public func addRefreshToken(_ digest: [UInt8], replacing used: [UInt8]?, of grant: ID<AppGrant>) throws(Refusal) {
    try run { connection in
      if let used {
        try connection.execute("update app_refresh set used_at = $1 where digest = $2", Int(now), used)
      }
      try connection.execute(
        "insert into app_refresh (digest, grant_id, created_at) values ($1, $2, $3)", digest, grant.number, Int(now))
      try connection.execute("update app_grant set used_at = $1 where id = $2", Int(now), grant.number)
    }
  }

  /// Ends the oldest access tokens of a grant beyond the limit. They were not revoked: the app has a newer one. One that has
  /// created something expires, but its row stays.
  public func trimAccessTokens(of grant: ID<AppGrant>) throws(Refusal) {
    let kept = try run { connection in
      try connection.all(Self.expireOldAccessTokens, Int(now), grant.number, AppGrant.accessTokens) { row in
        ID<Session>(try row.int(0))
      }
    }
    endedSessions += kept
    try recordEnded { connection in
      try connection.all(
        Self.deleteOldAccessTokens, grant.number, Int(now), AppGrant.accessTokens, read: EndedSession.init)
    }
  }

  private static let expireOldAccessTokens = SQL(
    """
    update session as s
    set expires_at = $1
    where id in (
      select id
      from session
      where grant_id = $2 and expires_at > $1
      order by id desc
      limit -1 offset $3
    ) and \(hasDependents)
    returning id
    """)

  private static let deleteOldAccessTokens = SQL(
    """
    delete from session as s
    where id in (
      select id
      from session
      where grant_id = $1 and expires_at > $2
      order by id desc
      limit -1 offset $3
    ) and not \(hasDependents)
    returning id, digest, 0
    """)

  /// Whether the access token `s` has created tokens, webhooks, slash commands or a subscription, which end with its grant:
  /// its row stays until then.
  static let hasDependents = """
    (
      s.grant_id is not null
      and (
        exists (select 1 from session c where c.parent_id = s.id)
        or exists (select 1 from webhook w where w.token_id = s.id)
        or exists (select 1 from webhook_endpoint e where e.token_id = s.id)
        or exists (select 1 from command o where o.token_id = s.id)
        or exists (select 1 from push_subscription u where u.session_id = s.id)
      )
    )
    """

  /// Ends a grant with its tokens, and the tokens that these created.
  public func endGrant(_ grant: ID<AppGrant>) throws(Refusal) {
    try recordEnded { connection in
      try connection.all(
        EndedSession.deletion(
          of: """
            select id
            from session
            where grant_id = $1
            """), grant.number, read: EndedSession.init)
    }
    try run { connection in
      try connection.execute("delete from app_refresh where grant_id = $1 and used_at is null", grant.number)
      try connection.execute("delete from app_grant where id = $1", grant.number)
    }
  }

  /// Ends grants of an app with their tokens, and voids its codes. Returns whether more may remain: an app can have more
  /// grants than one write may end.
  public func endGrants(of app: ID<App>, limit: Int) throws(Refusal) -> Bool {
    let grants: [ID<AppGrant>] = try run { connection in
      try connection.execute("delete from app_code where app_id = $1 and grant_id is null", app.number)
      return try connection.all("select id from app_grant where app_id = $1 limit $2", app.number, limit) { row in
        ID(try row.int(0))
      }
    }
    try endGrants(grants)
    return grants.count == limit
  }

  /// Ends the grants that a user has given an app. Returns whether there was one.
  @discardableResult
  public func endGrants(of app: ID<App>, by user: ID<User>) throws(Refusal) -> Bool {
    let grants = try run { connection in
      try connection.execute(
        "delete from app_code where user_id = $1 and app_id = $2 and grant_id is null", user.number, app.number)
      return try connection.all(
        "select id from app_grant where user_id = $1 and app_id = $2", user.number, app.number
      ) { row in ID<AppGrant>(try row.int(0)) }
    }
    try endGrants(grants)
    return !grants.isEmpty
  }

  /// Ends the grants of a user with their tokens, and voids the codes.
  func endGrants(ofUser user: ID<User>) throws(Refusal) {
    try endGrants(
      try run { connection in
        try connection.execute("delete from app_code where user_id = $1 and grant_id is null", user.number)
        return try connection.all("select id from app_grant where user_id = $1", user.number) { row in
          ID(try row.int(0))
        }
      })
  }

  /// Ends the oldest grants that a user has given an app, and all apps, beyond the limits.
  public func trimGrants(of app: ID<App>, by user: ID<User>) throws(Refusal) {
    try endGrants(
      try run { connection in
        try connection.all(
          """
          select id
          from app_grant
          where user_id = $1
          order by used_at desc, id desc
          limit -1 offset $2
          """, user.number, AppGrant.grantsPerUser
        ) { row in ID(try row.int(0)) }
      })
    try endGrants(
      try run { connection in
        try connection.all(
          """
          select id
          from app_grant
          where user_id = $1 and app_id = $2
          order by used_at desc, id desc
          limit -1 offset $3
          """, user.number, app.number, AppGrant.grantsPerApp
        ) { row in ID(try row.int(0)) }
      })
  }

  private func endGrants(_ grants: [ID<AppGrant>]) throws(Refusal) {
    for grant in grants { try endGrant(grant) }
  }

  /// Deletes codes without use after their end. Returns whether more may remain.
  func removeExpiredAppCodes(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from app_code
        where digest in (
          select digest
          from app_code
          where grant_id is null and expires_at <= $1
          order by expires_at
          limit $2
        )
        """, Int(now), limit) == limit
    }
  }

  /// Forgets refresh tokens that were exchanged 30 days ago. Returns whether more may remain.
  func removeUsedRefreshTokens(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from app_refresh
        where digest in (
          select digest
          from app_refresh
          where used_at <= $1
          order by used_at
          limit $2
        )
        """, Int(now) - 30 * 86_400_000, limit) == limit
    }
  }

  /// Ends grants without a refresh for 90 days. Returns whether more may remain.
  func removeIdleGrants(limit: Int) throws(Refusal) -> Bool {
    let idle = try run { connection in
      try connection.all(
        "select id from app_grant where used_at <= $1 order by used_at, id limit $2", Int(now - AppGrant.idleTime),
        limit
      ) { row in ID<AppGrant>(try row.int(0)) }
    }
    for grant in idle { try endGrant(grant) }
    return idle.count == limit
  }
}

extension AppGrant {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int("id")), app: ID(try row.int("app_id")), user: ID(try row.int("user_id")),
      scope: try row.word("scope"), forums: try TokenLimits(forumsOf: row).forums)
  }
}
