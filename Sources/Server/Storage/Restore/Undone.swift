import ParleySQLite

/// The changes that a restore undoes: rows of the replaced database that the restored one does not have.
struct Undone: Sendable {
  var messages = 0
  /// Events of the replaced database, also of changes without a message.
  var events = 0
  /// Deletions by authors and moderators. The messages are back.
  var deletions = 0
  /// Rows that stay as in the replaced database.
  var carried: CarriedChanges
  /// The sessions and tokens of the restored database that have ended since: revoked, or lost with a new password.
  var endedSessions: [Int] = []
  var revokedTokens: [Int] = []
  /// The webhooks of the restored database whose secrets have been revoked since, or that were disabled.
  var revokedWebhooks: [Int] = []
  /// The outgoing webhooks of the restored database that were disabled, deleted or sent elsewhere since.
  var endedEndpoints: [Int] = []
  /// The same of slash commands.
  var endedCommands: [Int] = []
  /// The apps of the restored database that were disabled, deleted or limited since, or have another secret.
  var endedApps: [Int] = []

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
      guard try connection.continuesHistory() else {
        throw Incomparable(reason: "it does not continue the backup, which may be newer")
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

  /// Losses of the restored site: counts with nouns, without zeros.
  var lost: [String] {
    ([Self.item(messages, "later message"), Self.item(deletions, "message deletion")]
      + carried.items.filter { $0.loss != nil }.map { Self.item($0.count, $0.noun, note: $0.loss) })
      .compactMap(\.self)
  }

  /// Changes that the restore applies again, in the same form.
  func appliedAgain(_ missing: MissingErasures) -> [String] {
    (carried.items.filter { $0.loss == nil }.map { Self.item($0.count, $0.noun) }
      + [
        Self.item(revokedTokens.count, "revoked token"),
        Self.item(revokedWebhooks.count, "revoked webhook"),
        Self.item(endedEndpoints.count, "changed outgoing webhook", note: "disabled"),
        Self.item(endedCommands.count, "changed slash command", note: "disabled"),
        Self.item(endedApps.count, "changed app", note: "disabled"),
        Self.item(endedSessions.count, "ended session"),
      ]).compactMap(\.self) + Self.appliedAgain(missing)
  }

  static func appliedAgain(_ missing: MissingErasures) -> [String] {
    let note = "at the next start"
    return [
      item(missing.users.count, "erased user", note: note),
      item(missing.destroyedUsers.count, "destroyed user", note: note),
      item(missing.messages.count, "destroyed message", note: note),
      item(missing.contents.count, "destroyed file", note: note),
    ].compactMap(\.self)
  }

  private static func item(_ count: Int, _ noun: String, note: String? = nil) -> String? {
    guard count > 0 else { return nil }
    let plural = noun.hasSuffix("s") ? "es" : "s"
    return "\(count) \(noun)\(count == 1 ? "" : plural)\(note.map { " (\($0))" } ?? "")"
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
    guard try bothHave(table: "start") else { return false }
    return try first(
      """
      select 1
      from main.start m
      join restored.start r on r.number = m.number
      limit 1
      """
    ) { _ in true } ?? false
  }

  /// Whether the database has gone on from the state of the attached one. A database that an older backup was restored into
  /// has not, if the attached one is newer: its starts begin before the end of the attached one, or it has fewer events.
  fileprivate func continuesHistory() throws(SQLiteError) -> Bool {
    let end = try number("select value from restored.counter where name = 'event'")
    guard try number("select value from main.counter where name = 'event'") >= end else { return false }
    guard try bothHave(table: "start") else { return true }
    return try number(
      """
      select count(*)
      from main.start m
      where m.first_event <= $1 and not exists (select 1 from restored.start r where r.number = m.number)
      """, end) == 0
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
      events: try number(
        """
        select m.value - r.value
        from main.counter m
        join restored.counter r on r.name = m.name
        where m.name = 'event'
        """),
      deletions: try number(
        """
        select count(*)
        from main.message m
        join restored.message r on r.id = m.id
        where m.deletion in ('author', 'moderator') and r.deletion is null
        """),
      carried: try CarriedChanges(self, at: now),
      endedSessions: try endedSessions("session", at: now), revokedTokens: try endedSessions("token", at: now),
      revokedWebhooks: try revokedWebhooks(), endedEndpoints: try endedEndpoints(),
      endedCommands: try endedCommands(), endedApps: try endedApps())
  }

  private func endedEndpoints() throws(SQLiteError) -> [Int] {
    // Databases of older versions have no outgoing webhooks.
    guard try bothHave(table: "webhook_endpoint") else { return [] }
    return try all(
      """
      select r.id
      from restored.webhook_endpoint r
      left join main.webhook_endpoint m on m.id = r.id
      where r.enabled = 1 and (
        m.enabled is not 1 or m.url <> r.url or m.topics <> r.topics or m.events <> r.events
        or m.secret is not r.secret
      )
      order by r.id
      """
    ) { row in try row.int(0) }
  }

  private func endedCommands() throws(SQLiteError) -> [Int] {
    // Databases of older versions have no slash commands.
    guard try bothHave(table: "command") else { return [] }
    return try all(
      """
      select r.id
      from restored.command r
      left join main.command m on m.id = r.id
      where r.enabled = 1 and (
        m.enabled is not 1 or m.url <> r.url or m.bot_id <> r.bot_id or m.is_limited > r.is_limited
        or m.secret is not r.secret
      )
      order by r.id
      """
    ) { row in try row.int(0) }
  }

  private func endedApps() throws(SQLiteError) -> [Int] {
    // Databases of older versions have no apps.
    guard try bothHave(table: "app") else { return [] }
    return try all(
      """
      select r.id
      from restored.app r
      left join main.app m on m.id = r.id
      where r.enabled = 1 and (
        m.enabled is not 1 or m.redirect_uris <> r.redirect_uris or m.scope <> r.scope or m.digest is not r.digest
        or m.verified < r.verified
      )
      order by r.id
      """
    ) { row in try row.int(0) }
  }

  private func revokedWebhooks() throws(SQLiteError) -> [Int] {
    // Databases of older versions have no webhooks.
    guard try bothHave(table: "webhook") else { return [] }
    return try all(
      """
      select r.id
      from restored.webhook r
      left join main.webhook m on m.id = r.id
      where r.digest is not null and (m.digest is not r.digest or m.enabled < r.enabled)
      order by r.id
      """
    ) { row in try row.int(0) }
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
