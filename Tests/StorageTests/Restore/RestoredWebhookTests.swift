import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// A restore does not give back the URLs of webhooks that have ended since the backup.
@Suite struct RestoredWebhookTests {
  /// Rows: whether sessions are kept, and the digests of the secrets that work afterwards.
  @Test(arguments: [(false, []), (true, ["04"])] as [(Bool, [String])])
  func `secrets of webhooks end with a restore unless sessions are kept`(keepsSessions: Bool, kept: [String])
    async throws
  {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/site")
    try await garden.store.write { tx throws(Refusal) in
      for (name, digest) in [("revoked", 1), ("rotated", 2), ("disabled", 3), ("kept", 4)] as [(String, UInt8)] {
        let bot = try tx.add(NewUser(name: name, role: .bot, owner: Garden.ada))
        _ = try tx.add(NewStoredWebhook(Garden.room, bot: bot, digest: [digest], token: nil))
      }
    }
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    try await garden.store.write { tx throws(Refusal) in
      for (digest, change) in [(1, "digest = null"), (2, "digest = x'09'"), (3, "enabled = 0")] as [(UInt8, String)] {
        try tx.run { connection in
          try connection.execute(SQL("update webhook set \(change) where digest = $1"), [digest])
        }
      }
    }
    await garden.store.close()
    let folder = try DataFolder(scratch.path + "/site")
    defer { folder.release() }
    let restored = try folder.restore(
      scratch.path + "/good.tar", replacing: true, aside: "5", keepsSessions: keepsSessions, at: 1_800_000_001_000
    ) { _ in }
    #expect(restored.undone.contains("3 revoked webhooks"), "\(restored.undone)")
    let connection = try Connection.reader(scratch.path + "/site/parley.db")
    defer { connection.close() }
    let working = try connection.all("select hex(digest) from webhook where digest is not null and enabled = 1") {
      row in
      try row.text(0)
    }
    #expect(working == kept)
    let unnoticed = try connection.all("select id from webhook where digest is null and revision = 1") { row in
      try row.int(0)
    }
    #expect(unnoticed.isEmpty)
  }
}
