// Restores a backup into a data folder: verifies all of it, unpacks it beside the existing contents, checks the
// database, compares it with the one that it replaces, ends the sessions, starts a new history and then switches
// (PendingRestore).

import ParleyJSON
import ParleyModel
import ParleySQLite

struct Restoration {
  let source: BackupSource
  /// The locked data folder.
  let folder: DataFolder
  let isReplacing: Bool
  /// Suffix, after `replaced-`, of the folder for the existing contents.
  let aside: String
  let keepsSessions: Bool
  /// Whether uploaded files are restored. A test of a backup only verifies them.
  var restoresFiles = true
  /// Whether only the database is replaced. Uploaded files without a row in the restored one are kept with what is replaced, and so are
  /// the texts of its missing messages.
  var keepsFiles = false
  /// In milliseconds since 1970.
  let now: Int64
  let report: BackupProgress.Report

  /// Advance of the id counter: objects created after the backup had lower ids, and none of these is issued again.
  static let idGap = 1_000_000_000

  private var unpacked: String { "\(folder.path)/\(PendingRestore.unpacking)" }
  private var ready: String { "\(folder.path)/\(PendingRestore.ready)" }
  private var replaced: String { PendingRestore.replacedPrefix + aside }

  func run() throws -> DataFolder.Restored {
    let isEmpty = try checkEmpty()
    // The first pass writes nothing, so that a damaged backup is rejected early.
    try source.verify(report)
    do {
      try Disk.makeFolder(unpacked)
      if !keepsFiles { try Disk.makeFolder("\(unpacked)/\(BackupName.files)") }
      try Disk.makeFolder("\(unpacked)/\(replaced)")
      let contents = try source.unpack(to: unpacked, files: restoresFiles, report)
      let lost = try keepsFiles ? keepMissing() : nil
      let outcome = try prepare(contents, replaced: isEmpty ? nil : "\(folder.path)/\(replaced)", lost: lost)
      for made in [unpacked, folder.lockPath] { try Disk.give(made, toOwnerOf: folder.path) }
      try Disk.syncFileSystem(of: unpacked)
      try Disk.move(unpacked, to: ready)
      try Disk.sync(folder.path)
      try settle()
      return outcome
    } catch {
      // The next start removes any leftovers.
      try? Disk.removeTree(unpacked)
      throw error
    }
  }

  /// Returns a sentence if the replaced database is damaged: it is kept as a whole, with the messages that were read before the damage.
  private func keepMissing() throws -> String? {
    do {
      try WayBack.keepMissing(of: folder, from: unpacked, in: "\(unpacked)/\(replaced)")
      return nil
    } catch let error as SQLiteError where error.refusal == .damaged {
      return "The replaced database is damaged (\(error.message)): \(WayBack.messages) and the files beside it are not "
        + "complete."
    }
  }

  private func settle() throws {
    do throws(DiskError) {
      _ = try PendingRestore.settle(folder.path)
    } catch {
      throw BackupFault.impossible(
        "The backup is unpacked and verified, but the switch to it failed: \(error). The next start retries it.")
    }
  }

  private func checkEmpty() throws -> Bool {
    let isEmpty = !Disk.exists(folder.database) && !Disk.exists(folder.files)
    guard isEmpty || isReplacing else {
      throw BackupFault.impossible(
        "\(folder.path) already contains a site. --replace moves its contents aside and restores the backup.")
    }
    guard !Disk.exists("\(folder.path)/\(replaced)") else {
      throw BackupFault.impossible("\(folder.path)/\(replaced) already exists.")
    }
    return isEmpty
  }

  // MARK: The unpacked database

  private func prepare(
    _ contents: BackupReader.Contents, replaced: String?, lost: String?
  ) throws -> DataFolder.Restored {
    let database = "\(unpacked)/\(BackupName.database)"
    do {
      try check(database, contents)
      let missing = try missingFiles(database, contents)
      let comparison = compare(with: database)
      let (erasures, warning) = try mergeErasures(contents.erasures + ((try? comparison.get())?.erasures ?? []))
      let (undone, erasedAgain) = try startHistory(database, contents.manifest, comparison, erasures)
      let report = BackupReport(
        size: contents.size, messages: contents.manifest.counts["message"] ?? 0, files: contents.files,
        missing: missing.count, firstMissing: Array(missing.prefix(BackupReport.maxListed)))
      return DataFolder.Restored(
        report: report, replaced: replaced, undone: undone, isCompared: (try? comparison.get()) != nil,
        erasedAgain: erasedAgain, warning: Self.sentences([warning, lost]))
    } catch let error as SQLiteError where error.code != .io && error.code != .full {
      throw BackupDamage.badDatabase(error.message)
    }
  }

  private static func sentences(_ sentences: [String?]) -> String? {
    let present = sentences.compactMap(\.self)
    return present.isEmpty ? nil : present.joined(separator: " ")
  }

  private func check(_ path: String, _ contents: BackupReader.Contents) throws {
    let connection = try Connection.reader(path)
    defer { connection.close() }
    let applicationID = try connection.first("pragma application_id") { row in try row.int(0) }
    guard applicationID == Self.applicationID else { throw BackupDamage.badDatabase("it belongs to another program") }
    do throws(MigrationError) {
      let level = try Migrator.level(of: connection, known: MigrationHashes.all)
      guard level == contents.manifest.schema else { throw .foreignDatabase(path: BackupName.database) }
    } catch {
      throw BackupDamage.badDatabase(error.description)
    }
    // They would execute code.
    guard try !SchemaTriggers.hasOthers(connection) else {
      throw BackupDamage.badDatabase("it has unknown triggers or views")
    }
    let faults = try Verification.faults(inCopy: connection) { check in try report(BackupProgress(checking: check)) }
    guard faults.isEmpty else { throw BackupDamage.badDatabase(faults.prefix(5).joined(separator: "; ")) }
    guard try connection.counts() == contents.manifest.counts else {
      throw BackupDamage.badDatabase("its row counts differ from \(BackupName.manifest)")
    }
    guard try Epoch.read(connection) == contents.manifest.epoch else {
      throw BackupDamage.badDatabase("its epoch differs from \(BackupName.manifest)")
    }
  }

  static let applicationID = 0x5061_726c

  /// Files that the database names but the backup lacks, because they were missing when it was made. A file that the
  /// database does not name is an error.
  private func missingFiles(_ path: String, _ contents: BackupReader.Contents) throws -> [String] {
    let connection = try Connection.reader(path)
    defer { connection.close() }
    let named = try StoredFile.all(in: connection)
    let missing = named.filter { file in
      contents.digests.map { !$0.contains(file.digest) } ?? (Disk.size("\(unpacked)/\(file.path)") != file.size)
    }
    guard named.count - missing.count == contents.files else {
      throw BackupDamage.badDatabase("it does not name the files in the archive")
    }
    return missing.map(\.path)
  }

  // MARK: The replaced contents

  private typealias Comparison = Result<(undone: Undone, erasures: [Erasure]), Undone.Incomparable>

  private func compare(with database: String) -> Comparison {
    guard Disk.exists(folder.database) else {
      return .failure(Undone.Incomparable(reason: "there is none"))
    }
    do throws(Undone.Incomparable) {
      return .success(try Undone.compare(replaced: folder.database, restored: database, at: now))
    } catch {
      return .failure(error)
    }
  }

  /// Writes the journal of the restored site: the lines of the folder and the given erasures.
  private func mergeErasures(_ more: [Erasure]) throws -> (erasures: [Erasure], warning: String?) {
    let contents: ErasureJournal.Contents
    do { contents = try ErasureJournal.read(in: folder.path) } catch {
      throw BackupFault.impossible(
        "The journal of erasures can't be read: \(error). Without it, erased users and destroyed content come back: "
          + "repair it, or move it elsewhere. Nothing was changed.")
    }
    let warning = contents.warning(folder.path)
    if warning != nil { try ErasureJournal.keepDamaged(in: folder.path) }
    var known: Set<Erasure> = []
    let erasures = (contents.erasures + more).filter { known.insert($0).inserted }
    if !erasures.isEmpty { try ErasureJournal.write(erasures, in: unpacked) }
    return (erasures, warning)
  }

  /// Changes the epoch, so that clients resynchronize, and advances the id counter. The counter of events stays. Ends
  /// sessions and links, applies the carried changes, and adds the entry of the audit log.
  private func startHistory(
    _ path: String, _ manifest: BackupManifest, _ comparison: Comparison, _ erasures: [Erasure]
  ) throws -> (undone: String, erasedAgain: Int) {
    let connection = try Connection.writer(path)
    defer { connection.close() }
    let missing = try connection.missing(erasures)
    let sentence = Self.sentence(manifest, comparison, missing)
    try connection.transaction {
      try Epoch.change(connection)
      try connection.execute("update counter set value = value + $1 where name = 'id'", Self.idGap)
      let undone = (try? comparison.get())?.undone
      let tokensOfApps = try connection.tokensOfApps()
      let tokens = (undone?.revokedTokens ?? []) + tokensOfApps
      let webhooks = (undone?.revokedWebhooks ?? []) + (try connection.webhooks(createdBy: tokensOfApps))
      try endSessions(connection, undone)
      try connection.execute(
        "delete from session where id in (select value from json_each($1))", tokensOfApps.jsonText)
      try connection.revokeWebhooks(keepsSessions ? webhooks : nil)
      try connection.clearMail(at: now)
      try connection.clearPushes()
      try undone?.carried.apply(to: connection)
      try connection.disableWebhookEndpoints(undone?.endedEndpoints ?? [], tokens: tokens, at: now)
      try connection.disableCommands(undone?.endedCommands ?? [], tokens: tokens)
      try connection.endGrants(disabling: undone?.endedApps ?? [])
      try connection.auditRestore(sentence, at: now)
    }
    try connection.checkpoint(.truncate)
    return (sentence, missing.count)
  }

  /// Ends all sessions and tokens, or those that have ended since the backup. A used link would be valid again.
  private func endSessions(_ connection: Connection, _ undone: Undone?) throws {
    try connection.execute("delete from link")
    let remembers = try connection.has(table: "ended_session", in: "main")
    for session in (undone?.endedSessions ?? []) + (undone?.revokedTokens ?? []) {
      // Revoked since the backup: the device has to delete its copy, in contrast to those that the restore ends.
      if remembers {
        try connection.execute(
          """
          insert into ended_session (digest, ended_at)
          select digest, $1
          from session
          where id = $2
          on conflict (digest) do nothing
          """, Int(now), session)
      }
      try connection.execute("delete from session where id = $1", session)
    }
    guard !keepsSessions else { return }
    try connection.execute("delete from session")
  }

  private static func sentence(
    _ manifest: BackupManifest, _ comparison: Comparison, _ missing: MissingErasures
  ) -> String {
    let time = Timestamp.format(manifest.createdAt).prefix(16).replacing("T", with: " ")
    let again = { (items: [String]) in items.isEmpty ? "" : " Applied again: \(items.joined(separator: ", "))." }
    switch comparison {
    case .success(let (undone, _)):
      let lost = undone.lost.isEmpty ? "" : ", without \(undone.lost.joined(separator: ", "))"
      return "Site as of \(time) UTC\(lost).\(again(undone.appliedAgain(missing)))"
    case .failure(let incomparable):
      return "Site as of \(time) UTC. What was undone is unknown, because the replaced database can't be compared: "
        + "\(incomparable.reason).\(again(Undone.appliedAgain(missing))) Bans, silences, roles, passwords, second factors and "
        + "invites are those of the backup."
    }
  }
}

extension Connection {
  /// The access tokens of apps, and the tokens that these created. A restore ends the grants of apps with them.
  fileprivate func tokensOfApps() throws(SQLiteError) -> [Int] {
    guard try has(table: "app_grant", in: "main") else { return [] }
    return try all(
      """
      with recursive family (id) as (
        select id
        from session
        where grant_id is not null
        union
        select s.id
        from session s
        join family f on s.parent_id = f.id
      )
      select id
      from family
      """
    ) { row in try row.int(0) }
  }

  fileprivate func webhooks(createdBy tokens: [Int]) throws(SQLiteError) -> [Int] {
    if tokens.isEmpty { return [] }
    return try all(
      "select id from webhook where token_id in (select value from json_each($1))", tokens.jsonText
    ) { row in try row.int(0) }
  }

  /// Revokes the secrets of webhooks, which an end since the backup would give back; nil for all.
  fileprivate func revokeWebhooks(_ webhooks: [Int]?) throws(SQLiteError) {
    guard try has(table: "webhook", in: "main") else { return }
    try execute("update webhook set token_id = null where token_id not in (select id from session)")
    guard let webhooks else {
      try execute(
        "update webhook set digest = null, enabled = 0, revision = revision + 1 where digest is not null")
      return
    }
    for webhook in webhooks {
      try execute(
        "update webhook set digest = null, enabled = 0, revision = revision + 1 where id = $1", webhook)
    }
  }

  /// Disables outgoing webhooks that have ended since the backup, by themselves, with their token or with their owner. The
  /// others go on after a `reset`.
  fileprivate func disableWebhookEndpoints(
    _ endpoints: [Int], tokens: [Int], at now: Int64
  ) throws(SQLiteError) {
    guard try has(table: "webhook_endpoint", in: "main") else { return }
    try execute(
      """
      update webhook_endpoint
      set enabled = 0, disabled_reason = 'restored', disabled_at = $1, next_attempt_at = null, revision = revision + 1
      where enabled = 1 and (
        id in (select value from json_each($2)) or token_id in (select value from json_each($3))
        or owner_id not in (select id from account where state = 'active' and role in ('owner', 'admin'))
      )
      """, Int(now), endpoints.jsonText, tokens.jsonText)
    // The restore has ended the tokens, not their user.
    try execute("update webhook_endpoint set token_id = null where token_id not in (select id from session)")
    try execute("delete from webhook_delivery where state = 'pending'")
  }

  /// Disables slash commands that have ended since the backup. Replies to earlier uses end with the old history.
  fileprivate func disableCommands(_ commands: [Int], tokens: [Int]) throws(SQLiteError) {
    guard try has(table: "command", in: "main") else { return }
    try execute(
      """
      update command
      set enabled = 0, disabled_reason = 'restored', revision = revision + 1
      where enabled = 1 and (
        id in (select value from json_each($1)) or token_id in (select value from json_each($2))
        or owner_id not in (select id from account where state = 'active' and role in ('owner', 'admin'))
      )
      """, commands.jsonText, tokens.jsonText)
    try execute("update command set token_id = null where token_id not in (select id from session)")
    try execute("delete from command_invocation")
  }

  /// Ends the grants of apps: a refresh token that was exchanged since the backup would be valid again. Disables apps that
  /// have ended since.
  fileprivate func endGrants(disabling apps: [Int]) throws(SQLiteError) {
    guard try has(table: "app_grant", in: "main") else { return }
    try execute("delete from app_code")
    try execute("delete from app_refresh")
    try execute("delete from app_grant")
    try execute(
      "update app set enabled = 0, revision = revision + 1 where id in (select value from json_each($1))", apps.jsonText
    )
  }

  /// Deletes what waits in the queue of mail, which was sent since the backup, and the codes that were mailed. Notifications of
  /// the backup are not mailed again.
  fileprivate func clearMail(at now: Int64) throws(SQLiteError) {
    guard try has(table: "mail_delivery", in: "main") else { return }
    try execute("delete from mail_delivery")
    try execute("delete from password_reset")
    try execute("update email set pending = null, code_digest = null, code_expires_at = null")
    // The digest of this week may have been sent since.
    if try has(column: "digest_due_at", of: "email", in: "main") {
      try execute("update email set digest_due_at = 0")
    }
    try execute("update mail_state set last_notification = (select coalesce(max(id), 0) from notification)")
  }

  /// Deletes what waits in the queue of push messages, which was sent since the backup. Devices of kept sessions get no
  /// notification of the backup again.
  fileprivate func clearPushes() throws(SQLiteError) {
    guard try has(table: "push_delivery", in: "main") else { return }
    try execute("delete from push_delivery")
    // Its migration passes over earlier notifications, too.
    guard try has(table: "push_state", in: "main") else { return }
    try execute("update push_state set last_notification = (select coalesce(max(id), 0) from notification)")
  }

  /// Adds an entry to the audit log of a restored database, in the name of an owner: the operator has no account.
  fileprivate func auditRestore(_ reason: String, at now: Int64) throws(SQLiteError) {
    try execute("update counter set value = value + 1 where name = 'id'")
    try execute(
      """
      insert into audit (id, at, actor_id, action, subject, reason)
      select c.value, $1, a.id, $2, 0, $3
      from counter c, account a
      where c.name = 'id'
      order by a.role = 'owner' desc, a.state = 'active' desc, a.id
      limit 1
      """, Int(now), AuditedAction.siteRestored.rawValue, reason)
  }
}
