import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct AdministrationTests {
  @Test(arguments: TestTransport.allCases)
  func `staff read the statistics of the site`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      try await village.post("roses", in: room, as: "ada")
      try await village.expect(201, .post, "/reports", as: "linus", ["user": "@grace", "reason": "Rude."])
      try await village.setState("gus", in: .pending)
      _ = try await village.upload("rose.png", by: "ada")
      let now = Int(village.community.store.clock())
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.execute("update account set last_seen_at = $1", now - 8 * 86_400_000)
          try connection.execute("update account set last_seen_at = $1 where name in ('grace', 'linus')", now)
        }
      }
      let seen = try await village.expect(200, .get, "/statistics", as: "ada")
      #expect(seen.int("open_reports") == 1 && seen.int("messages") == 1 && seen["version"] == "1.2.3")
      #expect(seen.int("users.all") == 5 && seen.int("users.pending") == 1)
      // The caller counts too, once the last seen time is stored.
      #expect([2, 3].contains(seen.int("users.active_this_week")))
      #expect(seen.int("storage.files_bytes") == 1 && seen.isNull("last_backup"))
      for name in ["database", "free", "total"] { #expect(seen.int("storage.\(name)_bytes").map { $0 > 0 } == true) }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `an owner creates a backup online and finds it in the list`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      try await village.post("roses", in: room, as: "ada")
      let caller = Caller(user: village.user("ada"), role: .owner, scope: .admin, session: nil)
      var made: StoredBackup?
      let events = try await village.events {
        let (backup, work) = try await village.community.createBackup(program: "test", by: caller)
        #expect(backup.state == .running)
        await work.value
        made = backup
      }
      #expect(events == [])
      let list = try await village.expect(200, .get, "/backups", as: "ada")
      #expect(list["data.0.id"] == made?.id.description && list["data.0.state"] == "done")
      #expect(list.bool("data.0.verified") == true && list.int("data.0.missing_files") == 0)
      let file = "\(village.folder)/backups/\(try #require(list["data.0.name"]))"
      let size = try #require(try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int)
      #expect(list.int("data.0.size") == size)
      let seen = try await village.expect(200, .get, "/statistics", as: "ada")
      #expect(seen.int("last_backup.size") == size && seen.bool("last_backup.verified") == true)
      let audit = try await village.expect(200, .get, "/audit?kind=backup.started", as: "ada")
      #expect(audit["data.0.subject_id"] == made?.id.description)
      try FileManager.default.removeItem(atPath: file)
      let gone = try await village.expect(200, .get, "/backups", as: "ada")
      #expect(gone["data.0.state"] == "gone" && gone.bool("data.0.verified") == false)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `an owner downloads and deletes a backup, and their number is bounded`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let caller = Caller(user: village.user("ada"), role: .owner, scope: .admin, session: nil)
      var ids: [String] = []
      for _ in 1...10 {
        let (backup, work) = try await village.community.createBackup(program: "test", by: caller)
        await work.value
        ids.append(backup.id.description)
      }
      let full = try await village.request(.post, "/backups", as: "ada")
      #expect(full.status == 409 && full.code == "too_many")
      let backup = try await village.expect(200, .get, "/backups/\(ids[0])", as: "ada")
      let name = try #require(backup["name"])
      let stored = try Data(contentsOf: URL(filePath: "\(village.folder)/backups/\(name)"))
      let content = try await village.request(.get, "/backups/\(ids[0])/content", as: "ada")
      #expect(content.status == 200 && content.body == [UInt8](stored))
      #expect(try await village.request(.delete, "/backups/\(ids[0])", as: "ada").status == 204)
      #expect(try await village.request(.delete, "/backups/\(ids[0])", as: "ada").status == 204)
      #expect(try await village.request(.get, "/backups/\(ids[0])", as: "ada").status == 404)
      #expect(try await village.request(.get, "/backups/\(ids[0])/content", as: "ada").status == 404)
      #expect(!FileManager.default.fileExists(atPath: "\(village.folder)/backups/\(name)"))
      let audit = try await village.expect(200, .get, "/audit?kind=backup.deleted", as: "ada")
      #expect(audit.texts("data", "subject_id").count == 1)
      // A file that someone removed is gone, and its entry can be deleted.
      let second = try await village.expect(200, .get, "/backups/\(ids[1])", as: "ada")
      try FileManager.default.removeItem(atPath: "\(village.folder)/backups/\(try #require(second["name"]))")
      #expect(try await village.request(.get, "/backups/\(ids[1])/content", as: "ada").status == 410)
      #expect(try await village.request(.delete, "/backups/\(ids[1])", as: "ada").status == 204)
    }
  }

  @Test func `a failed or interrupted backup is reported as failed`() async throws {
    try await Village.open(.inMemory) { village in
      // A file blocks the path of the folder.
      let path = "\(village.folder)/backups"
      #expect(FileManager.default.createFile(atPath: path, contents: Data()))
      let caller = Caller(user: village.user("ada"), role: .owner, scope: .admin, session: nil)
      await (try await village.community.createBackup(program: "test", by: caller)).work.value
      #expect(try await village.expect(200, .get, "/backups", as: "ada")["data.0.state"] == "failed")
      try await village.community.store.write { tx throws(Refusal) in
        _ = try tx.addBackup(by: ID(1))
        try tx.run { connection in try connection.failUnfinishedBackups(at: 7) }
      }
      let list = try await village.expect(200, .get, "/backups", as: "ada")
      #expect(list.texts("data", "state") == ["failed", "failed"] && !list.isNull("data.0.finished_at"))
    }
  }

  /// Columns: visitor, gus (guest), robo (bot), linus (member), mira (moderator), alma (admin), ada (owner).
  @Test(arguments: [
    ("GET /statistics", "1333322"), ("GET /backups", "1333332"), ("POST /backups", "1333332"),
    ("GET /backups/1", "1333334"), ("DELETE /backups/1", "1333332"), ("GET /backups/1/content", "1333334"),
  ])
  func `permissions of administration endpoints`(row: String, expected: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let parts = row.split(separator: " ").map(String.init)
      var answers = ""
      for caller in [nil, "gus", "robo", "linus", "mira", "alma", "ada"] as [String?] {
        let answer = try await village.request(Method(parts[0]), parts[1], as: caller)
        answers += [401, 403, 404].contains(answer.status) ? "\(answer.status % 10)" : "\(answer.status / 100)"
      }
      #expect(answers == expected)
    }
  }
}
