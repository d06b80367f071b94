import Foundation
import ParleyCrypto
import ParleyModel
import ParleyWire
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct FileTests {
  @Test(arguments: TestTransport.allCases)
  func `a file's type comes from its bytes, and it is private until attached`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let bytes = Array("<html><script>alert(1)</script>".utf8)
      var file = Answer(status: 0, fields: Fields(), body: [])
      let events = try await village.events {
        file = try await village.send(
          .post, "/files?name=rose.png&type=com.example.rose", as: "grace", bytes, fields: ["Content-Type": "image/png"]
        )
      }
      #expect(events == [])
      #expect(file.status == 201 && file["mime_type"] == "text/html" && file["kind"] == "document")
      #expect(file["name"] == "rose.png" && file["type"] == "com.example.rose" && file.bool("public") == false)
      #expect(file.int("size") == bytes.count && file["sha256"] == hexDigest(bytes))
      #expect(file["owner_id"] == village.id("grace") && file.isNull("width") && file.isNull("preview"))
      let id = try #require(file["id"])
      let content = try await village.content(id, as: "grace")
      #expect(content.status == 200 && content.body == bytes && content.fields["content-type"] == "text/html")
      #expect(content.fields["content-disposition"] == "attachment; filename=\"rose.png\"; filename*=UTF-8''rose.png")
      #expect(content.fields["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox")
      #expect(content.fields["cache-control"] == "private, no-cache")
      for name in [nil, "linus", "ada"] {
        for path in ["", "/content", "/preview"] {
          #expect(try await village.request(.get, "/files/\(id)\(path)", as: name).status == 404)
        }
      }
      #expect(try await village.request(.get, "/files/\(id)/preview", as: "grace").status == 404)
      let (_, room) = try await village.garden()
      try await village.post("a rose", in: room, as: "grace", ["attachments": [id]])
      #expect(try await village.content(id, as: "linus").body == bytes)
      #expect(try await village.content(id, as: nil).status == 404)
      let found = try await village.request(.get, "/files?ids=\(id),99999", as: "linus")
      #expect(found.texts("data", "name") == ["rose.png"] && found.texts("data", "id") == [id])
      #expect(try await village.request(.get, "/files?ids=\(id)").count("data") == 0)
      #expect(try await village.request(.get, "/files", as: "grace").texts("data", "id") == [id])
      #expect(try await village.request(.get, "/files", as: "linus").count("data") == 0)
      #expect(try await village.request(.get, "/files").status == 401)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a photo loses its location and keeps its pixels`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      for (bytes, served, type) in [
        (Photographs.jpeg(), Photographs.servedJPEG(), "image/jpeg"),
        (Photographs.png(), Photographs.servedPNG(), "image/png"),
        (Photographs.webp(), Photographs.servedWebP(), "image/webp"),
      ] {
        let file = try await village.send(bytes, named: "rose", by: "grace")
        #expect(file["mime_type"] == type && file["kind"] == "image" && file.int("size") == served.count)
        #expect(file.int("width") == 480 && file.int("height") == 640)
        let content = try await village.content(try #require(file["id"]), as: "grace")
        #expect(content.body == served && content.fields["content-type"] == type)
        #expect(content.fields["content-disposition"]?.hasPrefix("inline; ") == true)
      }
      let animation = try await village.send(Photographs.gif(), named: "rose", by: "grace")
      #expect(animation.int("width") == 640 && animation.int("height") == 480)
      let shown = try await village.content(try #require(animation["id"]), as: "grace")
      #expect(shown.body == Photographs.servedGIF && shown.fields["content-type"] == "image/gif")
      let scan = Photographs.tiff()
      let upload = try await village.request(.post, "/uploads", as: "grace", ["name": "scan", "size": scan.count])
      let parts = try await village.send(
        .patch, "/uploads/\(try #require(upload["id"]))", as: "grace", scan,
        fields: ["Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"])
      for file in [try await village.send(scan, named: "scan", by: "grace"), parts] {
        let content = try await village.content(try #require(file["id"]), as: "grace").body
        #expect(content.count == scan.count && content.prefix(16) == scan.prefix(16))
        #expect(!content.indices.contains { content[$0...].starts(with: Photographs.secret) })
        #expect(file["sha256"] == Hex.text(try Digest.sha256(of: content)), "\(file.text)")
      }
      let change = try await village.request(.patch, "/settings", as: "ada", ["strip_metadata": false])
      #expect(change.bool("strip_metadata") == false)
      let kept = try await village.send(Photographs.jpeg(), named: "rose", by: "grace")
      #expect(try await village.content(try #require(kept["id"]), as: "grace").body == Photographs.jpeg())
      let broken = try await village.send(
        .post, "/files", as: "grace", Photographs.start + [0xff, 0xdb, 0, 1], fields: ["Content-Type": "image/jpeg"])
      #expect(broken.status == 400 && broken["errors.0.field"] == "file")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a form carries metadata and a preview`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (body, fields) = Village.form([
        ("name", nil, Array("Röschen.png".utf8)), ("preview", "small", Photographs.jpeg(orientation: 1)),
        ("file", "C:\\roses\\big.png", Photographs.png()), ("public", nil, Array("true".utf8)),
        ("type", nil, Array("com.example.rose".utf8)),
      ])
      let file = try await village.send(.post, "/files", as: "grace", body, fields: fields)
      #expect(file.status == 201 && file["name"] == "Röschen.png" && file.bool("public") == true, "\(file.text)")
      #expect(file["preview.mime_type"] == "image/jpeg" && file.int("preview.width") == 640)
      let id = try #require(file["id"])
      let preview = try await village.request(.get, "/files/\(id)/preview")
      #expect(preview.body == Photographs.servedJPEG(orientation: nil), "public files need no token")
      #expect(
        preview.fields["content-disposition"]
          == "inline; filename=\"R_schen.png\"; filename*=UTF-8''R%C3%B6schen.png")
      // 640 × 480 covers a width of 600 pixels but not a height of 500.
      #expect(try await village.request(.get, "/files/\(id)/content?w=600").body == preview.body)
      #expect(try await village.request(.get, "/files/\(id)/content?w=600&h=500").body == Photographs.servedPNG())
      #expect(try await village.request(.get, "/files/\(id)/content?w=0").status == 400)
      let plain = Village.form([("file", "C:\\roses\\big.png", Photographs.png())])
      #expect(
        try await village.send(.post, "/files", as: "grace", plain.body, fields: plain.fields)["name"] == "big.png")
    }
  }

  @Test func `invalid forms are refused`() async throws {
    try await Village.open(.inMemory) { village in
      let rose: (String, String?, [UInt8]) = ("file", "rose", Array("rose".utf8))
      let rows: [([(String, String?, [UInt8])], String)] = [
        ([("name", nil, Array("x".utf8))], "file"), ([rose, rose], "file"), ([rose, ("colour", nil, [65])], "colour"),
        ([rose, ("public", nil, Array("yes".utf8))], "public"), ([rose, ("type", nil, Array("rose".utf8))], "type"),
        ([rose, ("name", nil, [0xff])], "name"), ([rose, ("name", nil, Array("a\u{1}".utf8))], "name"),
        ([rose, ("name", nil, [UInt8](repeating: 65, count: 256))], "name"),
        ([rose, ("name", nil, [UInt8](repeating: 65, count: 5_000))], "name"),
        ([rose, ("name", nil, [65]), ("name", nil, [66])], "name"), ([rose, ("preview", "x", [65])], "preview"),
      ]
      for (parts, field) in rows {
        let (body, fields) = Village.form(parts)
        let answer = try await village.send(.post, "/files", as: "grace", body, fields: fields)
        #expect(answer.status == 400 && answer["errors.0.field"] == field, "\(field): \(answer.text)")
      }
      let (body, fields) = Village.form([rose])
      for cut in 0..<body.count - 4 {
        let answer = try await village.send(.post, "/files", as: "grace", Array(body[..<cut]), fields: fields)
        #expect(answer.status == 400, "cut at \(cut)")
      }
      let large = try await village.send(
        .post, "/files", as: "grace",
        Village.form([rose, ("preview", "x", [UInt8](repeating: 65, count: 204_801))]).body,
        fields: fields)
      #expect(large.status == 413 && large.code == "too_large")
      #expect(village.stored.isEmpty)
      #expect(try await village.rows("select count(*) || '' from file") == ["0"])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `range, conditional and missing file requests`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let bytes = (0..<10_000).map { UInt8($0 % 251) }
      let id = try #require(try await village.send(bytes, named: "x", by: "grace")["id"])
      let part = try await village.content(id, as: "grace", ["Range": "bytes=100-199"])
      #expect(part.status == 206 && part.body == Array(bytes[100..<200]))
      #expect(part.fields["content-range"] == "bytes 100-199/10000")
      #expect(try await village.content(id, as: "grace", ["Range": "bytes=-5"]).body == bytes.suffix(5))
      #expect(try await village.content(id, as: "grace", ["Range": "bytes=10000-"]).status == 416)
      let tag = try #require(part.fields["etag"])
      #expect(tag == "\"\(hexDigest(bytes))\"")
      #expect(try await village.content(id, as: "grace", ["If-None-Match": tag]).status == 304)
      #expect(try await village.content(id, as: "linus", ["If-None-Match": tag]).status == 404)
      let shown = try await village.request(.get, "/files/\(id)", as: "grace")
      let again: Fields = ["If-None-Match": try #require(shown.fields["etag"])]
      #expect(try await village.request(.get, "/files/\(id)", as: "grace", fields: again).status == 304)
      let head = try await village.request(.head, "/files/\(id)/content", as: "grace")
      #expect(head.status == 200 && head.fields["etag"] == tag)
    }
  }

  @Test func `read access to a file follows its live messages on each request`() async throws {
    let users: [String?] = [nil, "gus", "robo", "linus", "mira", "ada", "grace"]
    try await Village.open(.inMemory) { village in
      for (visibility, expected) in [
        ("public", "ngrlmag"), ("members", "rlmag"), ("private", "ag"),
      ] {
        let (forum, room) = try await village.garden("garden \(visibility)", visibility, members: ["grace"])
        let id = try #require(try await village.send(Array(visibility.utf8), named: "x", by: "grace")["id"])
        let message = try await village.post("x", in: room, as: "grace", ["attachments": [id]])
        func readers() async throws -> String {
          var letters = ""
          for (name, letter) in zip(users, "ngrlmag") {
            let statuses = [
              try await village.request(.get, "/files/\(id)", as: name).status,
              try await village.content(id, as: name).status,
            ]
            #expect(statuses == [200, 200] || statuses == [404, 404], "\(name ?? "nobody")")
            if statuses == [200, 200] { letters.append(letter) }
          }
          return letters
        }
        #expect(try await readers() == expected, "\(visibility)")
        _ = try await village.request(.delete, "/forums/\(forum)/members/\(village.id("grace"))", as: "ada")
        #expect(try await readers() == (visibility == "private" ? "a" : expected), "put out of \(visibility)")
        _ = try await village.request(.post, "/messages/\(message)/remove", as: "ada")
        #expect(try await readers() == "", "file of a removed message")
        _ = try await village.request(.post, "/messages/\(message)/restore", as: "ada")
        #expect(try await readers() == (visibility == "private" ? "a" : expected))
        _ = try await village.request(.put, "/forums/\(forum)/members/\(village.id("grace"))", as: "ada", [:])
        #expect(try await village.request(.delete, "/messages/\(message)", as: "grace").status == 200)
        #expect(try await readers() == "g", "no message has it")
      }
    }
  }

  @Test func `upload permissions by role and purpose`() async throws {
    try await Village.open(.inMemory) { village in
      for (name, status) in [("gus", 201), ("robo", 201), ("grace", 201), ("mira", 201), ("ada", 201)] {
        #expect(try await village.send(.post, "/files", as: name, [65]).status == status, "\(name)")
      }
      #expect(try await village.send(.post, "/files", [65]).status == 401)
      let id = try #require(try await village.send([65], named: "x", by: "grace")["id"])
      let (_, room) = try await village.garden()
      try await village.post("x", in: room, as: "grace", ["attachments": [id]])
      let picture = Photographs.png()
      for (name, status) in [(nil, 401), ("gus", 404), ("linus", 403), ("ada", 403)] as [(String?, Int)] {
        // An invisible file looks like a deleted one.
        let deletion = try await village.request(.delete, "/files/\(id)", as: name).status
        #expect(deletion == (status == 404 ? 204 : status))
        #expect(try await village.send(.put, "/files/\(id)/preview", as: name, picture).status == status)
      }
      #expect(try await village.send(.put, "/files/\(id)/preview", as: "grace", picture).status == 200)
      #expect(try await village.request(.delete, "/files/\(id)", as: "grace").status == 409, "a message has it")
      let other = try await village.request(
        .post, "/conversations/\(room)/messages", as: "linus", ["text": "mine", "attachments": [id]])
      #expect(other.status == 400 && other["errors.0.field"] == "attachments")
      let tokens = try await village.request(.post, "/me/tokens", as: "grace", ["name": "reader", "scope": "read"])
      let token = try #require(tokens["token"])
      let sent = try await village.send(.post, "/files", [65], fields: ["Authorization": "Bearer \(token)"])
      #expect(sent.status == 403)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a repeated upload creates one file, and other bytes under its client_id are refused`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      let first = try await village.send([65, 66], named: "x", by: "grace", "&client_id=one")
      let second = try await village.send([65, 66], named: "x", by: "grace", "&client_id=one")
      #expect(first.status == 201 && second.status == 200 && first["id"] == second["id"])
      let other = try await village.send(.post, "/files?client_id=one", as: "grace", [65, 67])
      #expect(other.status == 409 && other.code == "client_id_reused")
      #expect(try await village.send([65, 66], named: "x", by: "linus", "&client_id=one").status == 201)
      // Housekeeping deletes the bytes of a refused upload.
      await Housekeeping(village.community.store).tick()
      #expect(village.stored.count == 1)
    }
  }

  @Test func `storage is limited per user and per site`() async throws {
    var bounds = Bounds()
    (bounds.fileBytes, bounds.userFileBytes, bounds.siteFileBytes) = (1_000, 2_500, 4_000)
    try await Village.open(.inMemory, bounds: bounds) { village in
      let send = { (count: Int, name: String) in
        try await village.send(.post, "/files", as: name, [UInt8](repeating: 65, count: count))
      }
      let large = try await send(1_001, "grace")
      #expect(large.status == 413 && large.code == "too_large" && large.int("params.limit") == 1_000)
      #expect(large["detail"] == "At most 1000 bytes are accepted.")
      let id = try #require(try await send(1_000, "grace")["id"])
      #expect(try await send(1_000, "grace").status == 201)
      let third = try await send(1_000, "grace")
      #expect(third.status == 413 && third.code == "no_room", "the same content counts each time")
      #expect(try await send(1_000, "linus").status == 201)
      let ours = try await send(1_000, "mira")
      #expect(ours.status == 201)
      #expect(try await send(1, "ada").code == "no_room", "the site is full")
      #expect(try await village.request(.delete, "/files/\(id)", as: "grace").status == 204)
      #expect(try await village.request(.delete, "/files/\(id)", as: "grace").status == 204)
      #expect(try await village.request(.get, "/files/\(id)", as: "grace").status == 404)
      #expect(try await send(1_000, "grace").status == 201)
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  @Test func `a guest and a new member may store less than a member`() async throws {
    var bounds = Bounds()
    (bounds.guestFileBytes, bounds.userFileBytes) = (1_500, 2_500)
    try await Village.open(.inMemory, bounds: bounds) { village in
      for (name, limit) in [("gus", 1_500), ("linus", 1_500), ("mira", 2_500), ("grace", 2_500)] {
        if name == "grace" { try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]]) }
        for _ in 0..<limit / 1_000 {
          let sent = try await village.send(.post, "/files", as: name, [UInt8](repeating: 65, count: 1_000))
          #expect(sent.status == 201)
        }
        let more = try await village.send(.post, "/files", as: name, [UInt8](repeating: 65, count: 1_000))
        #expect(more.status == 413 && more.code == "no_room")
        let upload = try await village.request(.post, "/uploads", as: name, ["name": "a", "size": 1_000])
        #expect(upload.status == 413 && upload.int("params.limit") == limit)
      }
    }
  }

  @Test func `unused files are purged after a day, and their bytes after the last reference`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let housekeeping = Housekeeping(village.community.store)
      let (_, room) = try await village.garden()
      let kept = try #require(try await village.send(Array("kept".utf8), named: "x", by: "grace")["id"])
      try await village.post("x", in: room, as: "grace", ["attachments": [kept]])
      let lost = try #require(try await village.send(Array("lost".utf8), named: "x", by: "grace")["id"])
      let same = try #require(try await village.send(Array("kept".utf8), named: "y", by: "linus")["id"])
      #expect(village.stored.count == 2)
      clock.add(86_399_000)
      await housekeeping.tick()
      #expect(village.stored.count == 2)
      #expect(try await village.content(lost, as: "grace").status == 200)
      clock.add(1_000)
      await housekeeping.tick()
      #expect(try await village.content(lost, as: "grace").status == 404)
      #expect(try await village.content(same, as: "linus").status == 404)
      #expect(try await village.content(kept, as: "grace").body == Array("kept".utf8))
      #expect(village.stored == [hexDigest(Array("kept".utf8))])
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  @Test func `an unused file that was purged can be uploaded again under its client_id`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let upload = { try await village.send(Array("x".utf8), named: "x", by: "grace", "&client_id=one") }
      let first = try await upload()
      clock.add(86_400_000)
      await Housekeeping(village.community.store).tick()
      let second = try await upload()
      #expect(first.status == 201 && second.status == 201 && first["id"] != second["id"])
      let third = try await upload()
      #expect(third.status == 200 && third["id"] == second["id"])
    }
  }
}
