import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// A restore sends texts to no slash command that has ended since the backup. The others go on.
@Suite struct RestoredCommandTests {
  static func command(_ name: String, token: ID<Session>? = nil) -> NewStoredCommand {
    NewStoredCommand(
      SlashCommandDraft(name: name, bot: Garden.grace, url: "https://example.org/\(name)"), owner: Garden.ada,
      secret: [1], token: token, origin: "https://example.org")
  }

  @Test func `slash commands that have ended since the backup stay off`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/site")
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("update account set role = 'owner' where id = 1") }
      for name in ["disabled", "deleted", "moved", "renewed", "kept"] { _ = try tx.add(Self.command(name)) }
      guard let kept = try tx.commands(ListSlice(limit: 10)).last else { throw .notFound }
      _ = try tx.addInvocation(of: kept, by: Garden.ada, in: Garden.room, digest: [7])
    }
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    try await garden.store.write { tx throws(Refusal) in
      for command in try tx.commands(ListSlice(limit: 10)) {
        var changed = command
        switch command.name {
        case "disabled": try tx.disable(command.id, .request)
        case "deleted": try tx.delete(command.id)
        case "moved":
          changed.url = "https://example.com/"
          try tx.set(changed, origin: "https://example.org")
        case "renewed": try tx.renewSecret(of: command.id, sealed: [2])
        default: break
        }
      }
    }
    await garden.store.close()
    let folder = try DataFolder(scratch.path + "/site")
    let restored = try folder.restore(
      scratch.path + "/good.tar", replacing: true, aside: "5", keepsSessions: false, at: 1_800_000_001_000
    ) { _ in }
    #expect(restored.undone.contains("4 changed slash commands (disabled)"), "\(restored.undone)")
    folder.release()
    let connection = try Connection.reader(scratch.path + "/site/parley.db")
    defer { connection.close() }
    let states = try connection.all("select name, enabled, coalesce(disabled_reason, '') from command order by id") {
      row in "\(try row.text(0)) \(try row.int(1)) \(try row.text(2))"
    }
    #expect(
      states == [
        "disabled 0 restored", "deleted 0 restored", "moved 0 restored", "renewed 0 restored", "kept 1 ",
      ])
    let uses = try connection.first("select count(*) from command_invocation") { row in try row.int(0) }
    #expect(uses == 0)
  }

  @Test func `a command is stored with its forums and secrets`() async throws {
    let garden = try await Garden()
    let id = try await garden.write { tx throws(Refusal) in
      let forum = try tx.add(ForumDraft(title: "Garden", visibility: .public), by: Garden.ada)
      var draft = Self.command("weather").draft
      draft.forums = [forum.id]
      return try tx.add(
        NewStoredCommand(draft, owner: Garden.ada, secret: [1], token: nil, origin: "https://example.org"))
    }
    let stored = try #require(try await garden.write { tx throws(Refusal) in try tx.enabledCommand(named: "weather") })
    #expect(stored.command.forums?.count == 1 && stored.secrets == [[1]] && stored.origin == "https://example.org")
    try await garden.write { tx throws(Refusal) in
      var changed = stored.command
      changed.forums = nil
      try tx.set(changed, origin: "https://example.com")
      try tx.renewSecret(of: id, sealed: [2])
    }
    let renewed = try #require(try await garden.write { tx throws(Refusal) in try tx.enabledCommand(named: "weather") })
    #expect(renewed.secrets == [[2], [1]] && renewed.command.forums == nil && renewed.origin == "https://example.com")
    #expect(renewed.command.previousSecretUntil != nil)
  }
}
