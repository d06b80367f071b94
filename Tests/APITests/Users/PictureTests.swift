import Foundation
import ParleyModel
import ParleyWire
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Pictures of users, forums and the site.
@Suite struct PictureTests {
  @Test(arguments: TestTransport.allCases)
  func `users choose a picture, with an event for all`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let grace = village.id("grace")
      let id = try #require(try await village.send(Photographs.png(), named: "me", by: "grace")["id"])
      let drawing = try await village.request(.get, "/users/\(grace)/avatar")
      let set = try await village.events {
        let answer = try await village.request(.put, "/me/avatar", as: "grace", ["file": id])
        #expect(answer.status == 200 && answer.int("revision") == 2, "\(answer.text)")
      }
      #expect(set == ["user.updated site #2"])
      #expect(
        try await village.events { _ = try await village.request(.put, "/me/avatar", as: "grace", ["file": id]) } == [])
      let shown = try await village.request(.get, "/users/\(grace)/avatar")
      #expect(shown.body == Photographs.servedPNG() && shown.fields["content-type"] == "image/png")
      #expect(shown.fields["cache-control"] == "public, max-age=300")
      let tag = try #require(shown.fields["etag"])
      #expect(
        try await village.request(.get, "/users/@grace/avatar", as: "linus", fields: ["If-None-Match": tag]).status
          == 304)
      #expect(try await village.content(id, as: nil).status == 200, "everyone's")
      #expect(try await village.request(.delete, "/files/\(id)", as: "grace").status == 409)
      let gone = try await village.events {
        for _ in 0..<2 {
          let answer = try await village.request(.delete, "/me/avatar", as: "grace")
          #expect(answer.status == 204)
        }
      }
      #expect(gone == ["user.updated site #3"])
      #expect(try await village.request(.get, "/users/\(grace)/avatar").body == drawing.body)
      #expect(try await village.content(id, as: nil).status == 404)
      #expect(try await village.request(.delete, "/files/\(id)", as: "grace").status == 204)
    }
  }

  @Test func `a picture must be small, own and an image`() async throws {
    var bounds = Bounds()
    bounds.pictureBytes = 10_000
    try await Village.open(.inMemory, bounds: bounds) { village in
      let words = try #require(try await village.send(Array("me".utf8), named: "me.png", by: "grace")["id"])
      let drawing = try #require(try await village.send(Array("<svg>".utf8), named: "me.svg", by: "grace")["id"])
      let large =
        Photographs.signature + Photographs.header
        + Photographs.chunk("IDAT", [UInt8](repeating: 7, count: 10_000)) + Photographs.chunk("IEND", [])
      let poster = try #require(try await village.send(large, named: "me", by: "grace")["id"])
      let other = try #require(try await village.send(Photographs.png(), named: "me", by: "linus")["id"])
      let (forum, _) = try await village.garden()
      for (file, code) in [
        (words, "mismatch"), (drawing, "mismatch"), (poster, "too_long"), (other, "unknown"), ("99999", "unknown"),
      ] {
        let answer = try await village.request(.put, "/me/avatar", as: "grace", ["file": file])
        #expect(answer.status == 400 && answer["errors.0.field"] == "file" && answer["errors.0.code"] == code)
        let icon = try await village.request(.patch, "/forums/\(forum)", as: "ada", ["icon_file": file])
        #expect(icon.status == 400 && icon["errors.0.code"] == "unknown", "of grace")
        let site = try await village.request(.patch, "/settings", as: "ada", ["icon_file": file])
        #expect(site.status == 400 && site["errors.0.code"] == "unknown")
      }
      for (name, status) in [(nil, 401), ("gus", 404), ("linus", 403), ("mira", 403), ("ada", 403)] as [(String?, Int)]
      {
        let path = "/users/\(village.id("grace"))/avatar"
        #expect(
          try await village.request(.put, path, as: name, ["file": other]).status == status, "\(name ?? "nobody")")
      }
    }
  }

  /// A picture of a few bytes that claims this size.
  private static func claim(_ width: Int, _ height: Int) -> [UInt8] {
    let header = Photographs.big(width, 4) + Photographs.big(height, 4) + [8, 2, 0, 0, 0]
    return Photographs.signature + Photographs.chunk("IHDR", header) + Photographs.chunk("IDAT", [1])
      + Photographs.chunk("IEND", [])
  }

  @Test(arguments: [(4_096, 4_096, 200), (4_097, 16, 400), (16, 4_097, 400), (30_000, 30_000, 400)])
  func `a picture has at most 4,096 pixels a side`(width: Int, height: Int, status: Int) async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden()
      let file = try #require(try await village.send(Self.claim(width, height), named: "me", by: "ada")["id"])
      for (method, path, field) in [
        (.put, "/me/avatar", "file"), (.patch, "/forums/\(forum)", "icon_file"), (.patch, "/settings", "icon_file"),
      ] as [(ParleyWire.Method, String, String)] {
        let answer = try await village.request(method, path, as: "ada", [field: file])
        #expect(answer.status == status, "\(path): \(answer.text)")
      }
    }
  }

  @Test(arguments: [
    (10_000, 5_000, "image"), (10_000, 5_001, "other"), (100_000, 100_000, "other"),
    (2_147_483_647, 2_147_483_647, "other"),
  ])
  func `an image over 50 megapixels is a plain file`(width: Int, height: Int, kind: String) async throws {
    try await Village.open(.inMemory) { village in
      let whole = try await village.send(Self.claim(width, height), named: "big.png", by: "grace")
      let bytes = Self.claim(width, height)
      let upload = try await village.request(.post, "/uploads", as: "grace", ["name": "big.png", "size": bytes.count])
      let parts = try await village.send(
        .patch, "/uploads/\(try #require(upload["id"]))", as: "grace", bytes,
        fields: ["Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"])
      for file in [whole, parts] {
        #expect(file["kind"] == kind && file.isNull("width") == (kind == "other"), "\(file.text)")
        let content = try await village.content(try #require(file["id"]), as: "grace")
        #expect(content.fields["content-disposition"]?.hasPrefix(kind == "image" ? "inline" : "attachment") == true)
        #expect(content.fields["content-type"] == (kind == "image" ? "image/png" : "application/octet-stream"))
      }
    }
  }

  @Test func `staff remove pictures of users`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try #require(try await village.send(Photographs.png(), named: "me", by: "grace")["id"])
      _ = try await village.request(.put, "/me/avatar", as: "grace", ["file": id])
      let path = "/users/\(village.id("grace"))/avatar"
      for (name, status) in [(nil, 401), ("gus", 404), ("linus", 403), ("mira", 403)] as [(String?, Int)] {
        #expect(try await village.request(.delete, path, as: name).status == status, "\(name ?? "nobody")")
      }
      let events = try await village.events {
        let answer = try await village.request(.delete, path, as: "ada")
        #expect(answer.status == 204)
      }
      #expect(events == ["user.updated site #3"])
      #expect(try await village.rows("select action from audit order by id desc limit 1") == ["user.changed"])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a forum's icon follows access to the forum`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, _) = try await village.garden("shed", "private", members: ["grace"])
      let id = try #require(try await village.send(Photographs.png(), named: "shed", by: "ada")["id"])
      let other = try #require(try await village.send(Photographs.webp(), named: "shed", by: "ada")["id"])
      let events = try await village.events {
        let changed = try await village.request(.patch, "/forums/\(forum)", as: "ada", ["icon_file": id])
        #expect(changed.status == 200 && changed["icon_file"] == id)
      }
      // A job informs the readers in their own streams.
      #expect(events.filter { !$0.contains(" user:") } == ["forum.updated forum:\(forum) #2"])
      #expect(try await village.request(.get, "/forums/\(forum)/icon", as: "grace").body == Photographs.servedPNG())
      #expect(try await village.content(id, as: "grace").status == 200)
      for name in [nil, "linus"] { #expect(try await village.content(id, as: name).status == 404) }
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", ["icon_file": other]).status == 200)
      #expect(try await village.request(.delete, "/files/\(id)", as: "ada").status == 204, "it is free again")
      #expect(try await village.request(.delete, "/files/\(other)", as: "ada").status == 409)
      let made = try await village.request(.post, "/forums", as: "ada", ["title": "lawn", "icon_file": other])
      #expect(made.status == 201 && made["icon_file"] == other)
      for forum in [forum, try #require(made["id"])] {
        #expect(try await village.request(.delete, "/forums/\(forum)", as: "ada").status == 200)
      }
      #expect(try await village.request(.delete, "/files/\(other)", as: "ada").status == 204)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `the site has a picture too`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let drawing = try await village.request(.get, "/icon")
      #expect(drawing.status == 200 && drawing.text.hasPrefix("<svg "))
      let id = try #require(try await village.send(Photographs.png(), named: "place", by: "ada")["id"])
      let events = try await village.events {
        let changed = try await village.request(.patch, "/settings", as: "ada", ["icon_file": id])
        #expect(changed.status == 200 && changed["icon_file"] == id, "\(changed.text)")
      }
      #expect(events == ["settings.updated site #2"])
      #expect(try await village.request(.get, "/icon").body == Photographs.servedPNG())
      #expect(try await village.content(id, as: nil).status == 200)
      #expect(try await village.request(.delete, "/files/\(id)", as: "ada").status == 409)
      let cleared = try await village.request(.patch, "/settings", as: "ada", ["icon_file": NSNull()])
      #expect(cleared.status == 200 && cleared.isNull("icon_file"))
      #expect(try await village.request(.get, "/icon").body == drawing.body)
      #expect(try await village.request(.delete, "/files/\(id)", as: "ada").status == 204)
    }
  }
}
