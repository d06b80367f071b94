public import ParleyModel
import ParleySQLite

/// The authenticator app of a user.
public struct StoredTOTP: Sendable, Hashable {
  /// Sealed.
  public let secret: [UInt8]
  /// Nil until a code has confirmed it.
  public let confirmedAt: Int64?
  /// The step of the last code in use.
  public let lastStep: Int
}

/// The setting that requires a second factor, as parts of a query of `account a`: whether it holds for the user and since when,
/// from the settings `rule` and `since`.
enum SecondFactorRule {
  static let settings = """
    setting rule
    join setting since on rule.name = 'require_second_factor' and since.name = 'second_factor_since'
    """
  /// The users under the requirement. A user without a password signs in by an issuer, which has second factors of its own.
  static let holds = """
    a.role <> 'bot' and a.password is not null
    and (rule.value = 'all' or rule.value = 'staff' and a.role in ('owner', 'admin'))
    """
  /// The start of the requirement: the latest time of the setting, the sign-up, the claim of an imported account and, for the
  /// rule `staff`, the first role of the staff.
  static let start = """
    max(
      cast(since.value as integer), a.created_at, coalesce(a.claimed_at, 0),
      iif(rule.value = 'staff', coalesce(a.role_since, 0), 0)
    )
    """
  /// Whether the grace period is over and the user has no confirmed authenticator app. $1 is the grace period, $2 the time.
  static let isBroken = """
    exists (
      select 1
      from \(settings)
      where \(holds) and \(start) + $1 <= $2
        and not exists (select 1 from totp t where t.user_id = a.id and t.confirmed_at is not null)
    )
    """
}

extension ReadTransaction {
  public func totp(of user: ID<User>) throws(Refusal) -> StoredTOTP? {
    try run { connection in
      try connection.first(
        """
        select secret, confirmed_at, last_step
        from totp
        where user_id = $1
        """, user.number
      ) { row in
        StoredTOTP(
          secret: try row.bytes(0), confirmedAt: try row.optionalInt(1).map { Int64($0) }, lastStep: try row.int(2))
      }
    }
  }

  /// Whether sign-in needs more than the password.
  public func hasSecondFactor(_ user: ID<User>) throws(Refusal) -> Bool {
    try totp(of: user)?.confirmedAt != nil
  }

  public func recoveryCodeCount(of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from recovery_code
        where user_id = $1 and used_at is null
        """, user.number
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Whether the user may change nothing before they set up the second factor that the site requires.
  public func lacksSecondFactor(_ user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(Self.lacksSecondFactor, Int(SecondFactor.grace), Int(now), user.number) { row in
        try row.int(0) == 1
      } ?? false
    }
  }

  private static let lacksSecondFactor = SQL("select \(SecondFactorRule.isBroken) from account a where a.id = $3")

  /// The time since which the site requires a second factor of a user: of all, at their sign-up, or with their first role of the
  /// staff.
  public func secondFactorRequiredSince(_ user: ID<User>) throws(Refusal) -> Int64? {
    try run { connection in
      try connection.first(Self.requiredSince, user.number) { row in Int64(try row.int(0)) }
    }
  }

  private static let requiredSince = SQL(
    """
    select \(SecondFactorRule.start)
    from account a
    join \(SecondFactorRule.settings)
    where a.id = $1 and \(SecondFactorRule.holds)
    """)

  /// The time of the last proof that the session is its user's; nil for a token.
  public func provedAt(_ session: ID<Session>) throws(Refusal) -> Int64? {
    try run { connection in
      try connection.first("select proved_at from session where id = $1", session.number) { row in
        try row.optionalInt(0)
      }
    }.flatMap { $0.map { Int64($0) } }
  }
}

extension WriteTransaction {
  /// Replaces an app that was not confirmed.
  public func setTOTP(_ secret: [UInt8], of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into totp (user_id, secret, created_at)
        values ($1, $2, $3)
        on conflict (user_id) do update
        set secret = excluded.secret, created_at = excluded.created_at, last_step = 0
        """, user.number, secret, Int(now))
    }
  }

  public func confirmTOTP(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("update totp set confirmed_at = $1 where user_id = $2", Int(now), user.number)
    }
  }

  /// Takes the codes of a step and of earlier ones out of use.
  public func useUp(step: Int, of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("update totp set last_step = $1 where user_id = $2", step, user.number)
    }
  }

  /// Removes the app and the recovery codes. Returns whether there was a confirmed app.
  @discardableResult
  public func removeSecondFactor(of user: ID<User>) throws(Refusal) -> Bool {
    let hadOne = try hasSecondFactor(user)
    try run { connection in
      try connection.execute("delete from totp where user_id = $1", user.number)
      try connection.execute("delete from recovery_code where user_id = $1", user.number)
    }
    return hadOne
  }

  /// Replaces all recovery codes of a user.
  public func setRecoveryCodes(digests: [[UInt8]], of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from recovery_code where user_id = $1", user.number)
      for digest in digests {
        try connection.execute(
          "insert into recovery_code (user_id, digest) values ($1, $2)", user.number, digest)
      }
    }
  }

  public enum CodeUse: Sendable, Hashable { case taken, alreadyUsed, unknown }

  /// Takes a recovery code out of use.
  public func useUp(recoveryCode digest: [UInt8], of user: ID<User>) throws(Refusal) -> CodeUse {
    let usedAt = try run { connection in
      try connection.first(
        """
        select used_at
        from recovery_code
        where user_id = $1 and digest = $2
        """, user.number, digest
      ) { row in try row.optionalInt(0) }
    }
    guard let usedAt else { return .unknown }
    guard usedAt == nil else { return .alreadyUsed }
    try run { connection in
      try connection.execute(
        "update recovery_code set used_at = $1 where user_id = $2 and digest = $3", Int(now), user.number, digest)
    }
    return .taken
  }

  /// Notes that the session's user has proved that it is theirs. No-op for a token.
  public func prove(_ session: ID<Session>) throws(Refusal) { try setProof(of: session, at: now) }

  /// - Parameter time: in milliseconds; nil for a session without a proof.
  public func setProof(of session: ID<Session>, at time: Int64?) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update session set proved_at = $1 where id = $2 and kind = 'session'", time.map { Int(min($0, now)) },
        session.number)
    }
  }
}

extension Connection {
  /// Whether a row of the database needs the key of the data folder.
  func hasSealedSecrets() throws(SQLiteError) -> Bool {
    if try first("select 1 from totp where user_id > 0 limit 1", read: { _ in true }) == true { return true }
    if try first("select 1 from webhook_endpoint where id > 0 limit 1", read: { _ in true }) == true { return true }
    return try first("select 1 from command where id > 0 limit 1") { _ in true } ?? false
  }
}
