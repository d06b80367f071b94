import Foundation
import ParleyModel
import Synchronization

@testable import Community
@testable import Storage

/// A place as every schedule finds it: four people, a group and a conversation of two, and a hidden forum with its room.
/// It is made once and copied.
struct CheckedPlace: Sendable {
  struct Person: Sendable {
    let name: String
    let account: ID<Account>
    let token: String
  }

  let folder: String
  let people: [Person]
  let forum: ID<Forum>
  /// What each of them finds there. Nothing has been said yet.
  let snapshots: [ID<Account>: Snapshot]

  static let migrations = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Migrations/sqlite").path

  /// In memory where there is such a folder: what an `fsync` costs is not asked here.
  static func newFolder() throws -> String {
    let memory = "/dev/shm"
    let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    let folder = "\(parent)/parley-checker-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  static func make() async throws -> CheckedPlace {
    let folder = try newFolder()
    let store = try Store(
      try DataFolder(folder), migrations: migrations, jobs: Community.jobs, clock: { 1_800_000_000_000 })
    let secrets = try ["ada", "grace", "linus", "zoe"].map { ($0, try Secret.make()) }
    let made = try await store.write { tx throws(Refusal) in
      var people: [Person] = []
      for (name, secret) in secrets {
        let account = try tx.add(NewAccount(name: name, role: name == "ada" ? .owner : .member))
        _ = try tx.add(
          NewSession(account: account, kind: .session, digest: secret.digest, name: "test", scope: .admin))
        people.append(Person(name: name, account: account, token: secret.text))
      }
      let forum = try tx.add(ForumDraft(title: "den", visibility: .private), by: people[0].account)
      try tx.land(people[1].account, in: forum.id)
      var group = NewConversation(.group)
      group.title = "seeds"
      group.participants =
        [NewParticipant(people[1].account, .admin)] + [people[0], people[2]].map { NewParticipant($0.account) }
      _ = try tx.add(group, by: people[1].account)
      var direct = NewConversation(.direct)
      direct.participants = [people[1], people[2]].map { NewParticipant($0.account) }
      _ = try tx.add(direct, by: people[1].account)
      return (people, forum.id)
    }
    await store.close()
    let server = try CheckedServer(folder, Committed(), CheckedClock(), Complaints())
    var snapshots: [ID<Account>: Snapshot] = [:]
    for person in made.0 {
      snapshots[person.account] = try await server.community.snapshot(for: server.caller(person))
    }
    await server.close()
    return CheckedPlace(folder: folder, people: made.0, forum: made.1, snapshots: snapshots)
  }

  /// A folder of its own with the same in it; also of a place that is still running, as its disk would be after a crash.
  static func copy(_ folder: String) throws -> String {
    let copy = try newFolder()
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasPrefix("parley.db") {
      // The index of the log is made anew by whoever opens it first.
      if file.hasSuffix("-shm") { continue }
      try FileManager.default.copyItem(atPath: "\(folder)/\(file)", toPath: "\(copy)/\(file)")
    }
    return copy
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
