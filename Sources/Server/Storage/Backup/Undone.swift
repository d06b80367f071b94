import ParleySQLite

/// What a restore undoes: rows of the replaced database that the restored one does not have.
struct Undone: Hashable, Sendable {
  var messages = 0
  /// Deletions by authors and moderators. The messages are back.
  var deletions = 0
  var bans = 0
  var revokedInvites = 0
  /// The sessions and tokens of the restored database that have ended since: revoked, or lost with a new password.
  var endedSessions: [Int] = []
  var revokedTokens: [Int] = []

  /// Compares two databases that no process writes. Throws `Incomparable` with the reason why that is impossible.
  static func compare(replaced: String, restored: String, at now: Int64) throws(Incomparable) -> (
    Undone, erasures: [Erasure]
  ) {
    do {
      let connection = try Connection.reader(replaced)
      defer { connection.close() }
      _ = try Migrator.level(of: connection, known: MigrationHashes.all)
      try connection.execute("attach database $1 as restored", restored.hasPrefix("/") ? restored : "./\(restored)")
      guard try connection.sharesHistory() else {
        throw Incomparable(reason: "its history is not that of the backup")
      }
      return (try connection.undone(at: Int(now)), try connection.erasures())
    } catch let incomparable as Incomparable {
      throw incomparable
    } catch let error as SQLiteError {
      throw Incomparable(reason: "it can't be read: \(error.message)")
    } catch {
      throw Incomparable(reason: "\(error)")
    }
  }

  struct Incomparable: Error, Hashable {
    let reason: String
  }

  /// Counts with nouns, without zeros.
  func items(erasedAgain: Int) -> [String] {
    [
      Self.item(messages, "message"),
      Self.item(deletions, "message deletion"),
      Self.item(bans, "ban"),
      Self.item(revokedInvites, "revoked invite"),
      Self.item(revokedTokens.count, "revoked token", note: "still revoked"),
      Self.item(endedSessions.count, "ended session", note: "still ended"),
      Self.erasedUsers(erasedAgain),
    ].compactMap(\.self)
  }

  static func erasedUsers(_ count: Int) -> String? {
    item(count, "erased user", note: "erased again at the next start")
  }

  private static func item(_ count: Int, _ noun: String, note: String? = nil) -> String? {
    guard count > 0 else { return nil }
    return "\(count) \(noun)\(count == 1 ? "" : "s")\(note.map { " (\($0))" } ?? "")"
  }
}

extension Connection {
  /// Whether the database and the attached one are of the same history: they share the epoch or a start.
  fileprivate func sharesHistory() throws(SQLiteError) -> Bool {
    let sharesEpoch = try first(
      """
      select 1
      from main.setting m
      join restored.setting r on r.name = m.name and r.value = m.value
      where m.name = 'epoch'
      """
    ) { _ in true }
    if sharesEpoch == true { return true }
    // Databases of older versions have no starts.
    let tables = try first("select count(*) from pragma_table_list where name = 'start'") { row in try row.int(0) }
    guard tables == 2 else { return false }
    return try first(
      """
      select 1
      from main.start m
      join restored.start r on r.number = m.number
      limit 1
      """
    ) { _ in true } ?? false
  }

  fileprivate func undone(at now: Int) throws(SQLiteError) -> Undone {
    Undone(
      messages: try number(
        """
        select count(*)
        from main.message m
        where m.kind = 'message' and m.deletion is null
          and not exists (select 1 from restored.message r where r.id = m.id)
        """),
      deletions: try number(
        """
        select count(*)
        from main.message m
        join restored.message r on r.id = m.id
        where m.deletion in ('author', 'moderator') and r.deletion is null
        """),
      bans: try number(
        """
        select count(*)
        from main.sanction m
        where m.kind = 'ban' and m.lifted_at is null and (m.until is null or m.until > $1)
          and not exists (select 1 from restored.sanction r where r.id = m.id)
        """, now),
      revokedInvites: try number(
        """
        select count(*)
        from main.invite m
        join restored.invite r on r.id = m.id
        where m.revoked_at is not null and r.revoked_at is null and (r.expires_at is null or r.expires_at > $1)
        """, now),
      endedSessions: try endedSessions("session", at: now), revokedTokens: try endedSessions("token", at: now))
  }

  private func endedSessions(_ kind: String, at now: Int) throws(SQLiteError) -> [Int] {
    try all(
      """
      select r.id
      from restored.session r
      where r.kind = $1 and (r.expires_at is null or r.expires_at > $2)
        and not exists (select 1 from main.session m where m.id = r.id)
      order by r.id
      """, kind, now
    ) { row in try row.int(0) }
  }

  private func number<each Value: Bindable>(
    _ sql: SQL, _ values: repeat each Value
  ) throws(SQLiteError) -> Int {
    try first(sql, repeat each values) { row in try row.int(0) } ?? 0
  }
}
