import Foundation
import ParleyModel
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct CustomEmojiTests {
  /// A PNG of 64 by 64 pixels.
  static let picture =
    Photographs.signature + Photographs.chunk("IHDR", [0, 0, 0, 64, 0, 0, 0, 64, 8, 2, 0, 0, 0])
    + Photographs.chunk("IDAT", [9, 8, 7, 6]) + Photographs.chunk("IEND", [])

  /// Creates a custom emoji by ada and returns its id.
  static func create(_ name: String, in village: Village) async throws -> String {
    let file = try #require(try await village.send(Self.picture, named: name, by: "ada")["id"])
    let made = try await village.request(.post, "/emoji", as: "ada", ["name": name, "file": file])
    return try #require(made["id"], "\(made.text)")
  }

  @Test(arguments: TestTransport.allCases)
  func `staff create an emoji, which the settings list until it is deleted`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let file = try #require(try await village.send(Self.picture, named: "parrot", by: "ada")["id"])
      let body = ["name": "parrot", "file": file, "client_id": "one"]
      var id = ""
      let events = try await village.events {
        let made = try await village.request(.post, "/emoji", as: "ada", body)
        id = made["id"] ?? ""
        let again = try await village.request(.post, "/emoji", as: "ada", body)
        #expect([made.status, again.status] == [201, 200] && again["id"] == id, "\(made.text)")
      }
      #expect(events == ["settings.updated site #2"])
      let settings = try await village.request(.get, "/settings")
      #expect(settings.texts("emoji", "name") == ["parrot"] && settings.texts("emoji", "id") == [id])
      let shown = try await village.request(.get, "/emoji/\(id)/picture")
      #expect(shown.body == Self.picture && shown.fields["content-type"] == "image/png")
      #expect(try await village.request(.delete, "/files/\(file)", as: "ada").status == 409)
      #expect(try await village.request(.get, "/audit", as: "ada")["data.0.changes.0.to"] == "parrot")

      let gone = try await village.events {
        for _ in 0..<2 {
          let answer = try await village.request(.delete, "/emoji/\(id)", as: "ada")
          #expect(answer.status == 204)
        }
      }
      #expect(gone == ["settings.updated site #3"])
      #expect(try await village.request(.get, "/settings").count("emoji") == 0)
      #expect(try await village.request(.get, "/emoji/\(id)/picture").status == 404)
      #expect(try await village.request(.post, "/emoji", as: "ada", body).status == 410)
      #expect(try await village.request(.delete, "/files/\(file)", as: "ada").status == 204)
    }
  }

  @Test func `a reaction has the name of an emoji, and keeps it after the deletion`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden()
      _ = forum
      let sent = try await village.request(
        .post, "/conversations/\(room)/messages", as: "ada", ["text": "well done :parrot:"])
      let path = "/messages/\(sent["id"] ?? "")/actions/reaction::parrot:"
      let unknown = try await village.request(.put, path, as: "ada")
      #expect(unknown.status == 400 && unknown["errors.0.code"] == "unknown")
      let id = try await Self.create("parrot", in: village)
      let set = try await village.request(.put, path, as: "ada")
      #expect(set.status == 200 && set.text.contains("\"reaction::parrot:\":{\"count\":1"), "\(set.text)")
      #expect(set["text"] == "well done :parrot:")
      #expect(try await village.request(.delete, "/emoji/\(id)", as: "ada").status == 204)
      #expect(try await village.request(.put, path, as: "ada").status == 200, "it is set already")
      #expect(try await village.request(.delete, path, as: "ada").status == 204)
      #expect(try await village.request(.put, path, as: "ada").status == 400)
    }
  }

  @Test(arguments: [("grace", 403), ("mira", 403), ("ada", 201)])
  func `permissions to create and delete an emoji`(caller: String, status: Int) async throws {
    try await Village.open(.inMemory) { village in
      let id = try await Self.create("owl", in: village)
      let file = try #require(try await village.send(Self.picture, named: "parrot", by: caller)["id"])
      let made = try await village.request(.post, "/emoji", as: caller, ["name": "parrot", "file": file])
      #expect(made.status == status)
      let deleted = try await village.request(.delete, "/emoji/\(id)", as: caller)
      #expect(deleted.status == (status == 201 ? 204 : 403))
    }
  }

  @Test func `an emoji has a free, short name and a small picture, and there are not too many`() async throws {
    var bounds = Bounds()
    bounds.emoji = 2
    try await Village.open(.inMemory, bounds: bounds) { village in
      _ = try await Self.create("owl", in: village)
      let file = try #require(try await village.send(Self.picture, named: "owl", by: "ada")["id"])
      for name in ["", "o", "Owl", "o l", ":owl:", "ow\u{e9}", String(repeating: "o", count: 33)] {
        let refused = try await village.request(.post, "/emoji", as: "ada", ["name": name, "file": file])
        #expect(refused.status == 400 && refused["errors.0.field"] == "name", "\(name)")
      }
      let taken = try await village.request(.post, "/emoji", as: "ada", ["name": "owl", "file": file])
      #expect(taken["errors.0.code"] == "taken")
      let large =
        Photographs.signature + Photographs.header
        + Photographs.chunk("IDAT", [UInt8](repeating: 7, count: 262_145)) + Photographs.chunk("IEND", [])
      let poster = try #require(try await village.send(large, named: "poster", by: "ada")["id"])
      let words = try #require(try await village.send(Array("owl".utf8), named: "owl.png", by: "ada")["id"])
      let other = try #require(try await village.send(Self.picture, named: "owl", by: "linus")["id"])
      for (file, code) in [(poster, "too_long"), (words, "mismatch"), (other, "unknown"), ("999999", "unknown")] {
        let refused = try await village.request(.post, "/emoji", as: "ada", ["name": "parrot", "file": file])
        #expect(refused.status == 400 && refused["errors.0.code"] == code, "\(refused.text)")
      }
      _ = try await Self.create("parrot", in: village)
      let third = try await village.request(.post, "/emoji", as: "ada", ["name": "wren", "file": file])
      #expect(third.code == "too_many")
    }
  }
}
