import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct DataExportTests {
  private static func archives(in village: Village) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(village.folder)/exports")) ?? []).sorted()
  }

  /// The export after all waiting ones were written.
  @discardableResult
  private static func export(as name: String, in village: Village) async throws -> Answer {
    try await village.expect(202, .post, "/me/export", as: name)
    try await waitUntil { try await village.request(.get, "/me/export", as: name)["state"] != "running" }
    return try await village.expect(200, .get, "/me/export", as: name)
  }

  /// A row of an export that a stop has left.
  private static func leave(of name: String, attempts: Int, in village: Village) async throws -> DataExport {
    let user = village.user(name)
    return try await village.community.store.write { tx throws(Refusal) in
      let export = try tx.addExport(of: user)
      try tx.run { connection in
        try connection.execute("update export set attempts = $1 where id = $2", attempts, export.id.number)
      }
      return export
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a user exports, downloads and deletes the own data`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden(members: ["grace"]).room
      try await village.post("roses of grace", in: room, as: "grace")
      try await village.post("roses of ada", in: room, as: "ada")
      #expect(try await village.request(.get, "/me/export", as: "grace").status == 404)
      let done = try await Self.export(as: "grace", in: village)
      #expect(done["state"] == "done" && done.isNull("error") && done.int("missing_files") == 0)
      let archive = try await village.request(.get, "/me/export/content", as: "grace")
      #expect(archive.status == 200 && archive.fields["content-type"] == "application/zip")
      #expect(archive.body.count == done.int("size") && archive.body.starts(with: Array("PK".utf8)))
      #expect(archive.fields["content-disposition"]?.contains("parley-export-") == true)
      #expect(archive.text.contains("roses of grace") && !archive.text.contains("roses of ada"))
      let range = try await village.request(.get, "/me/export/content", as: "grace", fields: ["Range": "bytes=0-1"])
      #expect(range.status == 206 && range.text == "PK")
      #expect(try await village.request(.get, "/me/export/content", as: "linus").status == 404)
      #expect(try await village.request(.get, "/me/export/content").status == 401)
      #expect(try await village.request(.delete, "/me/export", as: "grace").status == 204)
      #expect(try await village.request(.delete, "/me/export", as: "grace").status == 204)
      #expect(try await village.request(.get, "/me/export/content", as: "grace").status == 404)
      #expect(Self.archives(in: village) == [])
    }
  }

  @Test func `a user has one export at a time`() async throws {
    try await Village.open(.inMemory) { village in
      _ = try await Self.leave(of: "grace", attempts: 0, in: village)
      let second = try await village.request(.post, "/me/export", as: "grace")
      #expect(second.status == 409 && second.code == "conflict")
      let content = try await village.request(.get, "/me/export/content", as: "grace")
      #expect(content.status == 409 && content.code == "conflict")
      await village.community.writeExports(program: "test")
      let first = try await village.expect(200, .get, "/me/export", as: "grace")
      #expect(first["state"] == "done")
      // The new archive replaces the first one.
      let next = try await Self.export(as: "grace", in: village)
      #expect(next["id"] != first["id"])
      await Housekeeping(village.community.store).tick()
      #expect(Self.archives(in: village) == ["\(try #require(next["id"])).zip"])
    }
  }

  @Test func `exports of a user are limited per day, and those of the site in number`() async throws {
    var rates = Village.unlimited
    rates.exporting = RateLimits().exporting
    try await Village.open(.inMemory, rates: rates) { village in
      for _ in 1...3 { try await Self.export(as: "grace", in: village) }
      #expect(try await village.request(.post, "/me/export", as: "grace").status == 429)
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.execute(
            """
            with recursive n (i) as (select 1 union all select i + 1 from n where i < 999)
            insert into account (id, name, role, state, created_at) select 900000 + i, '', 'member', 'erased', 0 from n
            """)
          try connection.execute(
            "insert into export (id, user_id, created_at, finished_at) select id, id, 0, $1 from account where id > 900000",
            Int(tx.now))
        }
      }
      let full = try await village.request(.post, "/me/export", as: "linus")
      #expect(full.status == 409 && full.code == "too_many")
    }
  }

  @Test func `an archive is deleted after a day`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await Self.export(as: "grace", in: village)
      clock.add(Int(DataExport.keptFor) - 1)
      await Housekeeping(village.community.store).tick()
      #expect(Self.archives(in: village).count == 1)
      clock.add(1)
      await Housekeeping(village.community.store).tick()
      #expect(Self.archives(in: village) == [])
      #expect(try await village.request(.get, "/me/export", as: "grace").status == 404)
    }
  }

  @Test(arguments: ["erase", "destroy", "purge"])
  func `an erasure, a destruction and a purge delete all archives`(cause: String) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let message = try await village.post("roses", in: room, as: "grace")
      for name in ["grace", "linus"] { try await Self.export(as: name, in: village) }
      #expect(Self.archives(in: village).count == 2)
      switch cause {
      case "erase":
        let gone = try await village.request(
          .delete, "/me", as: "grace", ["how": "erase", "password": "grace’s password"])
        #expect(gone.status == 200, "\(gone.text)")
        await village.community.store.jobs.run()
        await Housekeeping(village.community.store).tick()
      case "destroy":
        try await village.expect(
          200, .post, "/destructions", as: "ada", ["message": message, "reason": "A letter."])
      default: _ = try await village.community.store.purge { _ in }
      }
      #expect(Self.archives(in: village) == [])
      #expect(try await village.request(.get, "/me/export", as: "linus").status == 404)
    }
  }

  @Test func `a departed user has no archive, and others keep theirs`() async throws {
    try await Village.open(.inMemory) { village in
      for name in ["grace", "linus"] { try await Self.export(as: name, in: village) }
      let gone = try await village.request(
        .delete, "/me", as: "grace", ["how": "leave", "password": "grace’s password"])
      #expect(gone.status == 200, "\(gone.text)")
      await village.community.store.jobs.run()
      await Housekeeping(village.community.store).tick()
      #expect(Self.archives(in: village).count == 1)
      #expect(try await village.expect(200, .get, "/me/export", as: "linus")["state"] == "done")
    }
  }

  @Test func `an erasure lets waiting exports begin again`() async throws {
    try await Village.open(.inMemory) { village in
      let export = try await Self.leave(of: "linus", attempts: 2, in: village)
      try await village.community.store.discardExports()
      await village.community.writeExports(program: "test")
      let done = try await village.expect(200, .get, "/me/export", as: "linus")
      #expect(done["state"] == "done" && done["id"] != export.id.description)
      #expect(Self.archives(in: village) == ["\(try #require(done["id"])).zip"])
    }
  }

  @Test func `an export that a crash has left is written, and fails after three crashes`() async throws {
    try await Village.open(.inMemory) { village in
      let left = try await Self.leave(of: "grace", attempts: 1, in: village)
      _ = try await Self.leave(of: "linus", attempts: 3, in: village)
      let folder = URL(filePath: "\(village.folder)/exports")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for name in ["\(left.id).zip", "\(left.id).zip.part", "7.zip"] {
        try Data("old".utf8).write(to: folder.appending(path: name))
      }
      await village.community.writeExports(program: "test")
      #expect(try await village.expect(200, .get, "/me/export", as: "grace")["state"] == "done")
      let failed = try await village.expect(200, .get, "/me/export", as: "linus")
      #expect(failed["state"] == "failed" && failed["error"] == "unavailable" && failed.isNull("size"))
      let content = try await village.request(.get, "/me/export/content", as: "linus")
      #expect(content.status == 410 && content.code == "gone")
      await Housekeeping(village.community.store).tick()
      #expect(Self.archives(in: village) == ["\(left.id).zip"])
    }
  }

  @Test func `an export without room for its files fails before it is written`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try #require(Int(try await village.upload("rose.png", by: "grace")))
      // A file with a hole, larger than the disk of a test.
      let stored = StoredFile(digest: [UInt8](repeating: UInt8(id & 255), count: 32), size: 1 << 41)
      let path = URL(filePath: "\(village.folder)/\(stored.path)")
      try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: path)
      let file = try FileHandle(forWritingTo: path)
      try file.truncate(atOffset: UInt64(stored.size))
      try file.close()
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.execute("update file set size = $1 where id = $2", stored.size, id)
        }
      }
      let failed = try await Self.export(as: "grace", in: village)
      #expect(failed["state"] == "failed" && failed["error"] == "disk_full")
      #expect(Self.archives(in: village) == [])
      // Another user has no such file.
      #expect(try await Self.export(as: "linus", in: village)["state"] == "done")
    }
  }

  @Test func `a failed export can be repeated`() async throws {
    try await Village.open(.inMemory) { village in
      // A file blocks the path of the folder.
      let path = "\(village.folder)/exports"
      #expect(FileManager.default.createFile(atPath: path, contents: Data()))
      #expect(try await Self.export(as: "grace", in: village)["state"] == "failed")
      try FileManager.default.removeItem(atPath: path)
      #expect(try await Self.export(as: "grace", in: village)["state"] == "done")
    }
  }
}
