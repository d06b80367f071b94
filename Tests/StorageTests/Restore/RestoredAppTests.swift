import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// A restore ends what apps may do, and disables apps that have ended since the backup.
@Suite struct RestoredAppTests {
  static func code(_ app: ID<App>, digest: [UInt8]) -> NewAppCode {
    NewAppCode(
      digest: digest, app: app, user: Garden.ada, scope: .read, forums: nil, redirectURI: "https://example.org/",
      challenge: "x", expiresAt: .max / 2)
  }

  private static func app(_ name: String) -> NewStoredApp {
    NewStoredApp(
      AppDraft(name: name, redirectURIs: ["https://example.org/"]), digest: [UInt8(name.utf8.count)],
      creator: Garden.ada)
  }

  @Test(arguments: [true, false])
  func `a restore ends grants, and disables apps that have ended since the backup`(keepsSessions: Bool) async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/site")
    try await garden.store.write { tx throws(Refusal) in
      for name in ["disabled", "deleted", "moved", "limited", "renewed", "kept"] { _ = try tx.add(Self.app(name)) }
      guard let kept = try tx.apps(ListSlice(limit: 10)).last else { throw .notFound }
      try tx.add(Self.code(kept.id, digest: [1]))
      guard let code = try tx.appCode(withDigest: [1]) else { throw .notFound }
      let grant = try tx.addGrant(of: code, withDigest: [1])
      try tx.addRefreshToken([2], replacing: nil, of: grant.id)
      _ = try tx.add(
        NewSession(
          user: Garden.ada, kind: .token, digest: [3], name: "kept", scope: .read, expiresAt: .max / 2,
          grant: grant.id))
    }
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    try await garden.store.write { tx throws(Refusal) in
      for app in try tx.apps(ListSlice(limit: 10)) {
        var changed = app
        switch app.name {
        case "disabled": changed.isEnabled = false
        case "moved": changed.redirectURIs = ["https://example.com/"]
        case "limited": changed.scope = .profile
        default: break
        }
        if changed != app { try tx.set(changed) }
        if app.name == "deleted" { try tx.delete(app.id) }
        if app.name == "renewed" { try tx.setSecret([0], of: app.id) }
      }
    }
    await garden.store.close()
    let folder = try DataFolder(scratch.path + "/site")
    let restored = try folder.restore(
      scratch.path + "/good.tar", replacing: true, aside: "5", keepsSessions: keepsSessions, at: 1_800_000_001_000
    ) { _ in }
    #expect(restored.undone.contains("5 changed apps (disabled)"), "\(restored.undone)")
    folder.release()
    let connection = try Connection.reader(scratch.path + "/site/parley.db")
    defer { connection.close() }
    let states = try connection.all("select name, enabled from app order by id") { row in
      "\(try row.text(0)) \(try row.int(1))"
    }
    #expect(states == ["disabled 0", "deleted 0", "moved 0", "limited 0", "renewed 0", "kept 1"])
    for table in ["app_grant", "app_code", "app_refresh"] {
      #expect(try connection.first(SQL("select count(*) from \(table)")) { row in try row.int(0) } == 0)
    }
    #expect(
      try connection.first("select count(*) from session where grant_id is not null") { row in try row.int(0) } == 0)
  }

  @Test func `the end of a grant ends its access tokens and its code`() async throws {
    let garden = try await Garden()
    try await garden.write { tx throws(Refusal) in
      let app = try tx.add(Self.app("kept"))
      try tx.add(Self.code(app, digest: [1]))
      guard let stored = try tx.appCode(withDigest: [1]) else { throw .notFound }
      let grant = try tx.addGrant(of: stored, withDigest: [1])
      let session = try tx.add(
        NewSession(
          user: Garden.ada, kind: .token, digest: [3], name: "kept", scope: .read, expiresAt: 1, grant: grant.id))
      let before = try tx.isOfApp(session)
      _ = try tx.endGrants(of: app, limit: 10)
      let (after, hasEnded, code) = (
        try tx.isOfApp(session), try tx.hasEndedSession(withDigest: [3]), try tx.appCode(withDigest: [1])
      )
      #expect(before && !after && hasEnded && code == nil)
    }
  }
}
