import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// Changes that a restore must not undo stay as in the replaced database.
@Suite struct CarriedChangesTests {
  private static let now: Int64 = 1_800_000_000_000

  /// Restores the backup of a site: made after `before`, replaced after `since`.
  private static func restore(before: String, since: String) async throws -> (undone: String, site: String, Scratch) {
    let scratch = try Scratch()
    let site = scratch.path + "/site"
    let garden = try await Garden(in: site)
    let run = { (script: String) in
      try await garden.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.executeScript(script)
          let users = try connection.all("select id, name from account") { row in (try row.int(0), try row.text(1)) }
          for (id, name) in users { try UserTermIndex.set([name], of: id, connection) }
        }
        tx.counters.id = max(tx.counters.id, 999)
      }
    }
    try await run(before)
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    try await run(since)
    await garden.store.close()
    let folder = try DataFolder(site)
    let restored = try folder.restore(scratch.path + "/good.tar", replacing: true, aside: "5", at: now) { _ in }
    folder.release()
    let faults = try Garden.faults(in: site)
    #expect(faults == [])
    // The restored site opens.
    await (try await Garden(in: site)).store.close()
    let sentence = try #require(restored.undone.split(separator: "Applied again: ").last)
    return (String(sentence), site, scratch)
  }

  /// The rows of a query, as text.
  private static func rows(_ sql: SQL, in site: String) throws -> [String] {
    let connection = try Connection.reader(site + "/parley.db")
    defer { connection.close() }
    return try connection.all(sql) { row in
      try (0..<row.count).map { column in
        switch try row.intOrText(column) {
        case .int(let number)?: "\(number)"
        case .text(let text)?: text
        case nil: "-"
        }
      }.joined(separator: " ")
    }
  }

  private static func user(_ id: Int, _ role: String, _ state: String = "active") -> String {
    """
    insert into account (id, name, name_key, role, state, password, created_at)
    values (\(id), 'user\(id)', 'user\(id)', '\(role)', '\(state)', 'old', 1);
    """
  }

  private static func sanction(
    _ id: Int, _ kind: String, of user: Int, until: String = "null", lifted: Bool = false
  ) -> String {
    """
    insert into sanction (id, user_id, kind, until, created_by, created_at, lifted_at, lifted_by)
    values (\(id), \(user), '\(kind)', \(until), 10, 1, \(lifted ? "2, 10" : "null, null"));
    """
  }

  @Test func `bans and silences stay in force, and lifted ones stay lifted`() async throws {
    let (undone, site, scratch) = try await Self.restore(
      before: (10...15).map { Self.user($0, "member") }.joined() + Self.user(16, "member", "disabled")
        + Self.sanction(100, "ban", of: 16) + Self.sanction(101, "silence", of: 15),
      since: Self.sanction(200, "ban", of: 11) + Self.sanction(201, "silence", of: 12)
        + Self.sanction(202, "silence", of: 13, until: "5") + Self.sanction(203, "ban", of: 14, lifted: true)
        + Self.user(17, "member", "disabled") + Self.sanction(204, "ban", of: 17)
          + """
          update account set state = 'disabled' where id = 11;
          update sanction set lifted_at = 3, lifted_by = 10 where id in (100, 101);
          update account set state = 'active' where id = 16;
          """ + Self.sanction(205, "silence", of: 15))
    #expect(undone == "2 lifted sanctions, 1 ban, 2 silences.")
    let sanctions = try Self.rows("select id, user_id, kind, lifted_at from sanction order by id", in: site)
    #expect(
      sanctions == [
        "100 16 ban 3", "101 15 silence 3", "200 11 ban -", "201 12 silence -", "205 15 silence -",
      ])
    let disabled = try Self.rows("select id from account where state = 'disabled'", in: site)
    #expect(disabled == ["11"])
    _ = scratch
  }

  @Test func `an expired ban still ends`() async throws {
    let (_, site, scratch) = try await Self.restore(
      before: Self.user(10, "member"),
      since: Self.sanction(200, "ban", of: 10, until: "5") + "update account set state = 'disabled' where id = 10;")
    let garden = try await Garden(in: site)
    try await garden.store.write { tx throws(Refusal) in _ = try tx.liftExpiredBans(limit: 10) }
    await garden.store.close()
    #expect(try Self.rows("select state from account where id = 10", in: site) == ["active"])
    _ = scratch
  }

  @Test func `roles and passwords stay changed`() async throws {
    let (undone, site, scratch) = try await Self.restore(
      before: Self.user(10, "owner") + Self.user(11, "admin") + Self.user(12, "member") + Self.user(13, "bot"),
      since: """
        update account set role = 'member' where id = 11;
        update account set role = 'moderator', role_since = 7, password = 'new' where id = 12;
        """)
    #expect(undone == "2 changed roles, 1 changed password.")
    let users = try Self.rows(
      "select id, role, role_since, password from account where id > 9 order by id", in: site)
    #expect(users == ["10 owner - old", "11 member - old", "12 moderator 7 new", "13 bot - old"])
    _ = scratch
  }

  @Test func `email addresses stay changed, and waiting mail and codes end`() async throws {
    let (undone, site, scratch) = try await Self.restore(
      before: (10...15).map { Self.user($0, "member") }.joined() + """
        insert into email (user_id, address, pending, code_digest, code_expires_at)
        values
          (10, 'old@example.org', null, null, null), (11, 'eleven@example.org', 'next@example.org', x'07', 9),
          (12, 'twelve@example.org', null, null, null), (14, 'fourteen@example.org', null, null, null);
        insert into password_reset (login, requested_at) values ('user10', 1);
        insert into mail_delivery (id, user_id, topic, kind, address, created_at, due_at)
        values (900, 11, 'confirmation', 'confirmation', 'next@example.org', 1, 1);
        insert into notification (id, user_id, kind, created_at) values (901, 10, 'token', 1);
        insert into notification_settings (user_id, paused, push, push_shows, mail)
        values (10, 0, '', 'text', ''), (11, 0, '', 'text', 'mention');
        """,
      since: """
        update email set address = 'new@example.org' where user_id = 10;
        update email set address = null where user_id = 12;
        insert into email (user_id, address) values (13, 'thirteen@example.org');
        update email set refusals = 3, stopped_at = 5 where user_id = 14;
        update notification_settings set mail = 'mention reply' where user_id = 10;
        update notification_settings set mail = '' where user_id = 11;
        insert into notification_settings (user_id, paused, push, push_shows, mail)
        values (15, 1, 'reply', 'sender', 'mention');
        update notification_settings set weekly_digest = 0 where user_id = 10;
        update email set digest_due_at = 7, digested_at = 6 where user_id = 11;
        """)
    #expect(undone == "4 changed email addresses.")
    let emails = try Self.rows(
      "select user_id, address, pending, code_expires_at, refusals, stopped_at from email order by user_id", in: site)
    #expect(
      emails == [
        "10 new@example.org - - 0 -", "11 eleven@example.org - - 0 -", "12 - - - 0 -",
        "13 thirteen@example.org - - 0 -",
        "14 fourteen@example.org - - 3 5",
      ])
    let settings = try Self.rows(
      "select user_id, paused, push, mail, weekly_digest from notification_settings order by user_id", in: site)
    #expect(settings == ["10 0  mention reply 0", "11 0   1", "15 1 reply mention 1"])
    #expect(try Self.rows("select id from mail_delivery", in: site) == [])
    #expect(try Self.rows("select login from password_reset", in: site) == [])
    #expect(try Self.rows("select last_notification from mail_state", in: site) == ["901"])
    _ = scratch
  }

  @Test func `claimed accounts stay claimed, and an owner among them is one`() async throws {
    let (undone, site, scratch) = try await Self.restore(
      before: Self.user(10, "owner") + Self.user(11, "member") + "update account set imported = 1 where id = 11;",
      since: """
        update account set imported = 0, claimed_at = 8, role = 'owner', password = 'new' where id = 11;
        update account set role = 'member' where id = 10;
        """)
    #expect(undone == "2 changed roles, 1 changed password, 1 claimed account.")
    let users = try Self.rows("select role, imported, claimed_at from account where id > 9 order by id", in: site)
    #expect(users == ["member 0 -", "owner 0 8"])
    _ = scratch
  }

  @Test(arguments: [false, true])
  func `the state before an older backup is not carried into a newer one`(hasStarted: Bool) async throws {
    let scratch = try Scratch()
    let site = scratch.path + "/site"
    func change(_ script: String) async throws {
      let garden = try await Garden(in: site)
      try await garden.store.write { tx throws(Refusal) in
        try tx.run { connection in try connection.executeScript(script) }
        tx.counters.id = max(tx.counters.id, 999)
      }
      _ = try await garden.post("one event")
      await garden.store.close()
    }
    func backUp(_ name: String) throws {
      let folder = try DataFolder(site)
      _ = try folder.backUp(to: "\(scratch.path)/\(name).tar", program: "test", at: Self.now) { _ in }
      folder.release()
    }
    func restore(_ name: String) throws -> String {
      let folder = try DataFolder(site)
      defer { folder.release() }
      return try folder.restore("\(scratch.path)/\(name).tar", replacing: true, aside: name, at: Self.now) { _ in }
        .undone
    }
    try await change(Self.user(10, "owner") + Self.user(11, "admin"))
    try backUp("monday")
    try await change("update account set role = 'member', password = 'new' where id = 11")
    try backUp("thursday")
    #expect(try restore("monday").contains("1 changed password"))
    if hasStarted { try await change("update account set password = 'other' where id = 10") }
    #expect(try restore("thursday").contains("it does not continue the backup"))
    let users = try Self.rows("select role, password from account where id > 9 order by id", in: site)
    #expect(users == ["owner old", "member new"])
  }

  @Test func `the owners of the backup stay if no later one is in it`() async throws {
    let (undone, site, scratch) = try await Self.restore(
      before: Self.user(10, "owner"),
      since: Self.user(11, "owner") + Self.sanction(200, "ban", of: 10)
        + "update account set role = 'member', state = 'disabled', password = 'new' where id = 10;")
    #expect(undone == "1 changed password.")
    #expect(try Self.rows("select role, state from account where id = 10", in: site) == ["owner active"])
    _ = scratch
  }

  @Test func `moderators of a forum who were removed lead no longer`() async throws {
    let (undone, site, scratch) = try await Self.restore(
      before: Self.user(10, "owner") + Self.user(11, "member") + Self.user(12, "member")
        + """
        insert into forum (id, title, visibility, room_id, created_by, created_at)
        values (20, 'Garden', 'public', 21, 10, 1);
        insert into conversation (id, kind, forum_id, readers, created_by, created_at)
        values (21, 'room', 20, 'listed', 10, 1);
        insert into participant (conversation_id, user_id, role, joined_at)
        values (21, 10, 'member', 1), (21, 11, 'member', 1), (21, 12, 'member', 1);
        insert into forum_member (forum_id, user_id, role, created_at)
        values (20, 10, 'admin', 1), (20, 11, 'moderator', 1), (20, 12, 'moderator', 1);
        """,
      since: """
        update forum_member set role = 'member' where user_id = 11;
        delete from forum_member where user_id = 12;
        delete from participant where user_id = 12;
        """)
    #expect(undone == "2 changed forum roles.")
    let members = try Self.rows("select user_id, role from forum_member order by user_id", in: site)
    #expect(members == ["10 admin", "11 member", "12 member"])
    _ = scratch
  }

  @Test func `invites stay revoked and used`() async throws {
    let invite = { (id: Int) in
      """
      insert into invite (id, digest, created_by, role, max_uses, created_at)
      values (\(id), x'\(id)', 10, 'member', 2, 1);
      """
    }
    let (undone, site, scratch) = try await Self.restore(
      before: Self.user(10, "owner") + invite(20) + invite(21) + invite(22),
      since: """
        update invite set revoked_at = 5 where id = 20;
        update invite set uses = 2 where id = 21;
        """)
    #expect(undone == "1 revoked invite, 1 used invite.")
    let invites = try Self.rows("select id, uses, revoked_at from invite order by id", in: site)
    #expect(invites == ["20 0 5", "21 2 -", "22 0 -"])
    _ = scratch
  }

  @Test func `second factors stay required and used codes stay used`() async throws {
    let codes = { (user: Int, digests: [String]) in
      digests.map { "insert into recovery_code (user_id, digest) values (\(user), x'\($0)');" }.joined()
    }
    let totp = { (user: Int, confirmedAt: String) in
      "insert into totp (user_id, secret, created_at, confirmed_at) values (\(user), x'00', 1, \(confirmedAt));"
    }
    let (undone, site, scratch) = try await Self.restore(
      before: (10...16).map { Self.user($0, "member") }.joined() + totp(10, "2") + codes(10, ["01", "02"])
        + totp(11, "2") + codes(11, ["03"]) + totp(12, "null") + totp(15, "2") + totp(16, "2"),
      since: """
        update totp set last_step = 9 where user_id = 10;
        update recovery_code set used_at = 5 where digest = x'01';
        delete from totp where user_id = 11;
        delete from recovery_code where user_id = 11;
        update totp set confirmed_at = 6, secret = x'01' where user_id = 12;
        update totp set confirmed_at = null where user_id = 15;
        delete from totp where user_id = 16;
        update account set state = 'left', password = null where id = 16;
        """ + codes(12, ["04"]) + totp(13, "7") + codes(13, ["05"]) + totp(14, "null"))
    #expect(
      undone
        == "2 removed second factors, 2 second factors, 1 used recovery code."
    )
    let factors = try Self.rows(
      "select user_id, hex(secret), confirmed_at, last_step from totp order by user_id", in: site)
    // A user who left is back, and signs in as before.
    #expect(factors == ["10 00 2 9", "12 01 6 0", "13 00 7 0", "16 00 2 0"])
    #expect(try Self.rows("select state, password from account where id = 16", in: site) == ["active old"])
    let left = try Self.rows(
      "select user_id, hex(digest), used_at from recovery_code order by digest", in: site)
    #expect(left == ["10 01 5", "10 02 -", "12 04 -", "13 05 -"])
    _ = scratch
  }

  @Test func `unlinked accounts stay unlinked, and linked ones are kept`() async throws {
    let identity = { (id: Int, user: Int, subject: String) in
      """
      insert into identity (id, user_id, issuer, subject, name, created_at)
      values (\(id), \(user), 'https://id.example.org', '\(subject)', 'x', 1);
      """
    }
    let (undone, site, scratch) = try await Self.restore(
      before: (10...12).map { Self.user($0, "member") }.joined() + identity(20, 10, "a") + identity(21, 10, "b")
        + identity(22, 11, "c"),
      // The account of c is now that of another user.
      since: """
        delete from identity where id in (21, 22);
        """ + identity(23, 12, "d") + identity(24, 12, "c"))
    #expect(undone == "2 unlinked accounts, 2 linked accounts.")
    let left = try Self.rows("select user_id, subject from identity order by subject", in: site)
    #expect(left == ["10 a", "12 c", "12 d"])
    _ = scratch
  }

  @Test func `removed passkeys stay removed, and new ones and counters are kept`() async throws {
    let passkey = { (id: Int, user: Int) in
      """
      insert into passkey (id, user_id, credential_id, public_key, host, name, sign_count, backup_eligible, backed_up,
        transports, created_at)
      values (\(id), \(user), x'\(id)', x'00', 'localhost', 'key', 1, 1, 1, 'internal', 1);
      """
    }
    let (undone, site, scratch) = try await Self.restore(
      before: (10...13).map { Self.user($0, "member") }.joined() + passkey(20, 10) + passkey(21, 10) + passkey(22, 11)
        + passkey(23, 12),
      since: """
        delete from passkey where id = 21;
        update passkey set sign_count = 9, last_used_at = 5 where id = 22;
        delete from passkey where id = 23;
        update account set state = 'left', password = null where id = 12;
        """ + passkey(24, 13))
    #expect(undone == "1 removed passkey, 1 new passkey.")
    // A user who left is back, and signs in as before.
    let left = try Self.rows("select id, user_id, sign_count, last_used_at from passkey order by id", in: site)
    #expect(left == ["20 10 1 -", "22 11 9 5", "23 12 1 -", "24 13 1 -"])
    _ = scratch
  }
}
