import Foundation
import ParleyModel
import ParleyWire
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Destruction of content by an owner. Afterwards no file of the data folder has it.
@Suite struct DestructionTests {
  private static let secret = "chrysanthemum-under-the-bench"

  /// Files of the data folder that contain a text.
  private static func files(containing text: String, in village: Village) throws -> [String] {
    let bytes = Data(text.utf8)
    let all = FileManager.default.enumerator(atPath: village.folder)?.compactMap { $0 as? String } ?? []
    return all.filter { name in
      (FileManager.default.contents(atPath: "\(village.folder)/\(name)")?.range(of: bytes)) != nil
    }
  }

  private static func destroy(_ body: [String: String], in village: Village, as name: String = "ada") async throws
    -> Answer
  {
    try await village.request(
      .post, "/destructions", as: name, body.merging(["reason": "A letter."]) { mine, _ in mine })
  }

  @Test(arguments: TestTransport.allCases)
  func `no file of the data folder has a destroyed message`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      let picture = try await village.send(Array("\(Self.secret) bytes".utf8), named: "\(Self.secret).txt", by: "grace")
      let file = try #require(picture["id"])
      let made = try await village.expect(
        201, .post, "/conversations/\(room)/messages", as: "grace",
        ["text": "\(Self.secret) @linus https://\(Self.secret).example/", "attachments": [file]])
      let id = try #require(made["id"])
      try await village.expect(200, .patch, "/messages/\(id)", as: "grace", ["text": "\(Self.secret) edited"])
      let answered = try await village.post("answer", in: room, as: "linus")
      try await village.expect(201, .post, "/reports", as: "linus", ["message_id": id, "reason": "Illegal."])
      try await village.expect(201, .post, "/reports", as: "mira", ["message_id": answered, "reason": "Rude."])
      #expect(try !Self.files(containing: Self.secret, in: village).isEmpty)
      let events = try await village.events {
        let done = try await Self.destroy(["message": id], in: village)
        #expect(done.status == 200 && done.bool("purged") == true && done.count("copies") == 0, "\(done.text)")
      }
      #expect(events.contains("message.deleted conversation:\(room) #3"), "\(events)")
      #expect(try Self.files(containing: Self.secret, in: village) == [])
      #expect(village.stored == [])
      let seen = try await village.expect(200, .get, "/messages/\(id)", as: "ada")
      #expect(seen["deletion"] == "erased" && !seen.text.contains(Self.secret))
      try await village.expect(404, .get, "/files/\(file)", as: "grace")
      let audit = try await village.expect(200, .get, "/audit?subject=\(id)", as: "ada")
      #expect(audit.texts("data", "kind") == ["message.destroyed"] && audit["data.0.reason"] == "A letter.")
      // The same bytes can't be uploaded again.
      let again = try await village.send(
        .post, "/files?name=x.txt", as: "linus", Array("\(Self.secret) bytes".utf8),
        fields: ["Content-Type": "application/octet-stream"])
      #expect(again.status == 403 && again.code == "content_refused", "\(again.text)")
      // A repetition purges again.
      #expect(try await Self.destroy(["message": id], in: village).bool("purged") == true)
    }
  }

  @Test func `a message that a moderator removed is destroyed with its seal`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace"])
      let id = try await village.post(Self.secret, in: room, as: "grace")
      try await village.expect(200, .post, "/messages/\(id)/remove", as: "ada", [:])
      #expect(try await Self.destroy(["message": id], in: village).bool("purged") == true)
      #expect(try Self.files(containing: Self.secret, in: village) == [])
      try await village.expect(410, .post, "/messages/\(id)/restore", as: "ada", [:])
      #expect(try await village.expect(200, .get, "/messages/\(id)", as: "ada")["deletion"] == "erased")
    }
  }

  @Test func `a file is destroyed wherever its content is used`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let bytes = Photographs.png()
      var files: [String] = []
      for (index, owner) in ["grace", "linus", "ada"].enumerated() {
        files.append(try #require(try await village.send(bytes, named: "\(Self.secret)-\(index).png", by: owner)["id"]))
      }
      let alone = try await village.expect(
        201, .post, "/conversations/\(room)/messages", as: "grace", ["text": "", "attachments": [files[0]]])
      let more = try await village.expect(
        201, .post, "/conversations/\(room)/messages", as: "linus", ["text": "look", "attachments": [files[1]]])
      try await village.expect(200, .put, "/me/avatar", as: "linus", ["file": files[1]])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["icon_file": files[2]])
      let done = try await Self.destroy(["file": files[0]], in: village)
      #expect(done.bool("purged") == true, "\(done.text)")
      #expect(village.stored == [])
      #expect(try Self.files(containing: Self.secret, in: village) == [])
      let empty = try await village.expect(200, .get, "/messages/\(alone["id"] ?? "")", as: "ada")
      #expect(empty["deletion"] == "erased", "\(empty.text)")
      let kept = try await village.expect(200, .get, "/messages/\(more["id"] ?? "")", as: "ada")
      #expect(kept["text"] == "look" && kept.count("attachments") == 0 && kept.int("revision") == 2, "\(kept.text)")
      #expect(try await village.expect(200, .get, "/forums/\(forum)", as: "ada").isNull("icon_file"))
      #expect(
        try await village.expect(200, .get, "/audit?subject=\(files[0])", as: "ada").texts("data", "kind") == [
          "file.destroyed"
        ])
      // A repetition gets the same answer, an unknown file none.
      let again = try await Self.destroy(["file": files[0]], in: village)
      #expect(again.status == 200 && again.bool("purged") == true, "\(again.text)")
      #expect(try await Self.destroy(["file": "987654"], in: village).status == 404)
    }
  }

  @Test func `a user is destroyed with all messages and files`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      let file = try await village.send(Array(Self.secret.utf8), named: "\(Self.secret).txt", by: "grace")
      try await village.expect(
        201, .post, "/conversations/\(room)/messages", as: "grace",
        ["text": "see", "attachments": [try #require(file["id"])]])
      try await village.send(Array("\(Self.secret) too".utf8), named: "unused.txt", by: "grace")
      let begun = try await village.expect(
        201, .post, "/uploads", as: "grace", ["name": "\(Self.secret)", "size": 1000])
      let sent = try await village.send(
        .patch, "/uploads/\(begun["id"] ?? "")", as: "grace", Array(Self.secret.utf8),
        fields: ["Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"])
      #expect(sent.status == 204, "\(sent.text)")
      #expect(try Self.files(containing: Self.secret, in: village).contains { $0.contains("upload-") })
      try await village.post(Self.secret, in: room, as: "grace")
      let done = try await Self.destroy(["user": "@grace"], in: village)
      #expect(done.bool("purged") == true, "\(done.text)")
      #expect(village.stored == [])
      #expect(try Self.files(containing: Self.secret, in: village) == [])
      let id = village.id("grace")
      #expect(try await village.expect(200, .get, "/users/\(id)", as: "ada")["state"] == "erased")
      #expect(
        try await village.expect(200, .get, "/audit?subject=\(id)", as: "ada").texts("data", "kind") == [
          "user.destroyed"
        ])
    }
  }

  @Test func `a report that loses a copy has another ETag`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      let id = try await village.post(Self.secret, in: room, as: "grace")
      let answered = try await village.post("answer", in: room, as: "linus")
      let made = try await village.expect(
        201, .post, "/reports", as: "mira", ["message_id": answered, "reason": "Rude."])
      let path = "/reports/\(try #require(made["id"]))"
      let whole = try await village.expect(200, .get, path, as: "ada")
      let tag = try #require(whole.fields["etag"])
      #expect(whole.text.contains(Self.secret))
      #expect(try await village.request(.get, path, as: "ada", fields: ["If-None-Match": tag]).status == 304)
      #expect(try await Self.destroy(["message": id], in: village).bool("purged") == true)
      let rest = try await village.request(.get, path, as: "ada", fields: ["If-None-Match": tag])
      #expect(rest.status == 200 && rest["message.text"] == "answer", "\(rest.text)")
      #expect(!rest.text.contains(Self.secret))
    }
  }

  @Test func `backups in the data folder are named`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace"])
      let id = try await village.post(Self.secret, in: room, as: "grace")
      let ada = Caller(user: village.user("ada"), role: .owner, scope: .admin, session: nil)
      let (backup, work) = try await village.community.createBackup(program: "1.2.3", by: ada)
      await work.value
      let done = try await Self.destroy(["message": id], in: village)
      #expect(done.list("copies") == ["backups/\(backup.name)"], "\(done.text)")
    }
  }

  @Test func `only owners destroy one thing with a reason`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace"])
      let id = try await village.post("hello", in: room, as: "grace")
      try await village.addUser("ben", .admin)
      for name in ["ben", "mira", "grace"] {
        #expect(try await Self.destroy(["message": id], in: village, as: name).status == 403, "\(name)")
      }
      #expect(try await village.request(.post, "/destructions", ["message": id, "reason": "x"]).status == 401)
      for body in [["message": id, "user": "@grace"], [:], ["message": id, "reason": ""]] {
        #expect(try await Self.destroy(body, in: village).status == 400, "\(body)")
      }
      #expect(try await village.request(.post, "/destructions", as: "ada", ["message": id]).status == 400)
      for body in [["message": "999999"], ["file": "999999"], ["user": "@nemo"]] {
        #expect(try await Self.destroy(body, in: village).status == 404, "\(body)")
      }
      #expect(try await Self.destroy(["user": "@ada"], in: village).code == "last_owner")
      #expect(try await village.expect(200, .get, "/messages/\(id)", as: "ada")["text"] == "hello")
    }
  }
}
