import Foundation
import ParleyModel
import ParleyWire
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Uploads in parts.
@Suite struct UploadTests {
  private static func part(
    _ village: Village, _ id: String, at offset: Int, _ bytes: [UInt8], as name: String = "grace"
  ) async throws -> Answer {
    try await village.send(
      .patch, "/uploads/\(id)", as: name, bytes,
      fields: ["Upload-Offset": "\(offset)", "Content-Type": "application/offset+octet-stream"])
  }

  private static func begin(_ village: Village, _ size: Int, _ more: [String: Any] = [:]) async throws -> String {
    let draft = more.merging(["name": "film", "size": size]) { old, _ in old }
    let begun = try await village.request(.post, "/uploads", as: "grace", draft)
    #expect(begun.status == 201 && begun.int("offset") == 0 && begun.fields["upload-offset"] == "0", "\(begun.text)")
    let id = try #require(begun["id"])
    #expect(begun.fields["location"] == "/api/v1/uploads/\(id)")
    return id
  }

  @Test(arguments: TestTransport.allCases)
  func `an upload in ten parts equals an upload at once`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let bytes = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
      let id = try await Self.begin(village, bytes.count, ["type": "com.example.film", "public": true])
      var offset = 0
      var events: [String] = []
      while offset < bytes.count {
        let end = min(offset + 10_001, bytes.count)
        let head = try await village.request(.head, "/uploads/\(id)", as: "grace")
        #expect(head.status == 200 && head.fields["upload-offset"] == "\(offset)")
        #expect(head.fields["upload-length"] == "\(bytes.count)" && head.fields["cache-control"] == "no-store")
        let wrong = try await Self.part(village, id, at: offset + 1, [1])
        #expect(wrong.status == 409 && wrong.fields["upload-offset"] == "\(offset)")
        var answer = wrong
        events += try await village.events {
          answer = try await Self.part(village, id, at: offset, Array(bytes[offset..<end]))
        }
        #expect(answer.fields["upload-offset"] == "\(end)")
        #expect(answer.status == (end < bytes.count ? 204 : 201), "\(answer.text)")
        offset = end
        guard answer.status == 201 else { continue }
        #expect(answer["sha256"] == hexDigest(bytes) && answer.int("size") == bytes.count)
        #expect(answer["name"] == "film" && answer["type"] == "com.example.film" && answer.bool("public") == true)
        #expect(try await village.content(try #require(answer["id"]), as: nil).body == bytes)
      }
      #expect(events == [])
      #expect(try await village.request(.get, "/uploads/\(id)", as: "grace").status == 404)
      #expect(try FileManager.default.contentsOfDirectory(atPath: village.folder + "/files/tmp") == [])
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  @Test func `a photo uploaded in parts loses its location`() async throws {
    try await Village.open(.inMemory) { village in
      let bytes = Photographs.jpeg()
      let id = try await Self.begin(village, bytes.count)
      for offset in bytes.indices {
        let answer = try await Self.part(village, id, at: offset, [bytes[offset]])
        guard answer.status == 201 else { continue }
        #expect(answer["mime_type"] == "image/jpeg" && answer.int("width") == 480)
        #expect(try await village.content(try #require(answer["id"]), as: "grace").body == Photographs.servedJPEG())
      }
      #expect(village.stored.count == 1)
    }
  }

  @Test func `only the creator continues, queries or cancels an upload`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await Self.begin(village, 4)
      for (name, status) in [(nil, 401), ("gus", 404), ("linus", 404), ("mira", 404), ("ada", 404)] as [(String?, Int)]
      {
        #expect(try await village.request(.get, "/uploads/\(id)", as: name).status == status)
        let fields: Fields = ["Upload-Offset": "0"]
        #expect(try await village.send(.patch, "/uploads/\(id)", as: name, [1], fields: fields).status == status)
        let gone = try await village.request(.delete, "/uploads/\(id)", as: name)
        #expect(gone.status == (name == nil ? 401 : 204), "it says nothing")
      }
      #expect(try await Self.part(village, id, at: 0, [1, 2]).status == 204)
      #expect(try await village.request(.delete, "/uploads/\(id)", as: "grace").status == 204)
      #expect(try await Self.part(village, id, at: 2, [3, 4]).status == 404)
      #expect(try FileManager.default.contentsOfDirectory(atPath: village.folder + "/files/tmp") == [])
    }
  }

  @Test func `an invalid upload is refused`() async throws {
    var bounds = Bounds()
    (bounds.fileBytes, bounds.userFileBytes, bounds.uploads) = (100, 250, 2)
    try await Village.open(.inMemory, bounds: bounds) { village in
      let large = try await village.request(.post, "/uploads", as: "grace", ["name": "x", "size": 101])
      #expect(large.status == 413 && large.code == "too_large")
      #expect(try await village.request(.post, "/uploads", as: "grace", ["name": "", "size": 1]).status == 400)
      #expect(try await village.request(.post, "/uploads", as: "grace", ["name": "x", "size": 0]).status == 400)
      let id = try await Self.begin(village, 100)
      let tooLong = try await Self.part(village, id, at: 0, [UInt8](repeating: 1, count: 101))
      #expect(tooLong.status == 413)
      #expect(try await village.send(.patch, "/uploads/\(id)", as: "grace", [1]).status == 400)
      let odd: Fields = ["Upload-Offset": "+0"]
      #expect(try await village.send(.patch, "/uploads/\(id)", as: "grace", [1], fields: odd).status == 400)
      _ = try await Self.begin(village, 100)
      let third = try await village.request(.post, "/uploads", as: "grace", ["name": "x", "size": 40])
      #expect(third.status == 409 && third.code == "too_many")
      #expect(try await village.request(.delete, "/uploads/\(id)", as: "grace").status == 204)
      #expect(try await village.send([UInt8](repeating: 1, count: 60), named: "x", by: "grace").status == 201)
      let full = try await village.request(.post, "/uploads", as: "grace", ["name": "x", "size": 100])
      #expect(full.status == 413 && full.code == "no_room")
    }
  }

  @Test func `unconfirmed bytes are sent again, and an idle upload is purged`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let housekeeping = Housekeeping(village.community.store)
      let id = try await Self.begin(village, 6)
      #expect(try await Self.part(village, id, at: 0, [1, 2]).status == 204)
      // Bytes without a row, as after a power failure.
      let part = URL(filePath: village.folder + "/files/tmp/upload-\(id)")
      try Data([1, 2, 9, 9]).write(to: part)
      await housekeeping.tick()
      #expect(try await Self.part(village, id, at: 2, [3, 4]).status == 204)
      #expect(try Data(contentsOf: part) == Data([1, 2, 3, 4]))
      clock.add(86_400_000)
      await housekeeping.tick()
      #expect(try await Self.part(village, id, at: 4, [5, 6]).status == 404)
      #expect(!FileManager.default.fileExists(atPath: part.path))
    }
  }
}
