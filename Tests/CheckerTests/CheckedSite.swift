import Foundation
import ParleyModel
import Synchronization

import TestSupport
@testable import Community
@testable import Storage

/// The initial site of every schedule: four users, a group, a direct conversation, and a hidden forum with its room. It
/// is created once and copied.
struct CheckedSite: Sendable {
  struct TestUser: Sendable {
    let name: String
    let id: ID<User>
    let token: String
  }

  let folder: String
  let users: [TestUser]
  let forum: ID<Forum>
  /// The initial snapshot of each user, without messages.
  let snapshots: [ID<User>: Snapshot]

  static let migrations = Checkout.migrations

  /// In memory if possible: the cost of `fsync` is not under test.
  static func newFolder() throws -> String {
    let memory = "/dev/shm"
    let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    let folder = "\(parent)/parley-checker-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  static func make() async throws -> CheckedSite {
    let folder = try newFolder()
    let store = try Store(
      try DataFolder(folder), migrations: migrations, jobs: Community.jobs, clock: { 1_800_000_000_000 })
    let secrets = try ["ada", "grace", "linus", "zoe"].map { ($0, try Secret.make()) }
    let made = try await store.write { tx throws(Refusal) in
      var users: [TestUser] = []
      for (name, secret) in secrets {
        let userID = try tx.add(NewUser(name: name, role: name == "ada" ? .owner : .member))
        _ = try tx.add(
          NewSession(user: userID, kind: .session, digest: secret.digest, name: "test", scope: .admin))
        users.append(TestUser(name: name, id: userID, token: secret.text))
      }
      let forum = try tx.add(ForumDraft(title: "den", visibility: .private), by: users[0].id)
      try tx.joinForum(users[1].id, in: forum.id)
      var group = NewConversation(.group)
      group.fields = [.set(\.title, "seeds")]
      group.participants =
        [NewParticipant(users[1].id, .admin)] + [users[0], users[2]].map { NewParticipant($0.id) }
      _ = try tx.add(group, by: users[1].id)
      var direct = NewConversation(.direct)
      direct.participants = [users[1], users[2]].map { NewParticipant($0.id) }
      _ = try tx.add(direct, by: users[1].id)
      return (users, forum.id)
    }
    await store.close()
    let server = try CheckedServer(folder, Committed(), CheckedClock(), StoreLog())
    var snapshots: [ID<User>: Snapshot] = [:]
    for user in made.0 {
      snapshots[user.id] = try await server.community.getSnapshot(for: server.caller(user))
    }
    await server.close()
    return CheckedSite(folder: folder, users: made.0, forum: made.1, snapshots: snapshots)
  }

  /// Copies a site into a new folder; also a running site, as its disk would be after a crash.
  static func copy(_ folder: String) throws -> String {
    let copy = try newFolder()
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasPrefix("parley.db") {
      // SQLite rebuilds the WAL index at the next open.
      if file.hasSuffix("-shm") { continue }
      try FileManager.default.copyItem(atPath: "\(folder)/\(file)", toPath: "\(copy)/\(file)")
    }
    return copy
  }

  func remove() { Self.remove(folder) }

  static func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
}
