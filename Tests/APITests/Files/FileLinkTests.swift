import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Signed links, usable without a token.
@Suite struct FileLinkTests {
  @Test(arguments: TestTransport.allCases)
  func `a signed link opens one file with its creator's permissions`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden("shed", "private", members: ["grace", "linus"])
      let id = try #require(try await village.send(Array("rose".utf8), named: "rose", by: "grace")["id"])
      let other = try #require(try await village.send(Array("thorn".utf8), named: "thorn", by: "grace")["id"])
      try await village.post("x", in: room, as: "grace", ["attachments": [id]])
      for (name, status) in [(nil, 401), ("gus", 404), ("mira", 404)] as [(String?, Int)] {
        #expect(try await village.request(.post, "/files/\(id)/link", as: name).status == status)
      }
      #expect(try await village.events { _ = try await village.request(.post, "/files/\(id)/link", as: "linus") } == [])
      let link = try await village.request(.post, "/files/\(id)/link", as: "linus")
      #expect(link.status == 201 && link["expires_at"] != nil)
      let path = try #require(link["url"].map { String($0.dropFirst("/api/v1".count)) })
      #expect(try await village.request(.get, path).body == Array("rose".utf8))
      #expect(try await village.request(.get, path, fields: ["Range": "bytes=1-2"]).text == "os")
      let token = try #require(path.split(separator: "=").last.map(String.init))
      for wrong in [
        "/files/\(other)/content?link=\(token)", "\(path)0", String(path.dropLast()), "\(path.dropLast())0x",
      ] {
        #expect(try await village.request(.get, wrong).status == 404, "\(wrong)")
      }
      let parts = token.split(separator: ".").map(String.init)
      for (index, text) in [(0, village.id("ada")), (1, "1"), (2, "9999999999999"), (3, ""), (0, "x")] {
        var changed = parts
        changed[index] = text
        #expect(
          try await village.request(.get, "/files/\(id)/content?link=\(changed.joined(separator: "."))").status == 404)
      }
      _ = try await village.request(.delete, "/forums/\(forum)/members/\(village.id("linus"))", as: "ada")
      #expect(try await village.request(.get, path).status == 404, "linus may read it no longer")
    }
  }

  @Test func `a signed link expires after an hour and with its session`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let id = try #require(try await village.send(Array("rose".utf8), named: "rose", by: "grace")["id"])
      func link() async throws -> String {
        let made = try await village.request(.post, "/files/\(id)/link", as: "grace")
        return try #require(made["url"].map { String($0.dropFirst("/api/v1".count)) })
      }
      let first = try await link()
      clock.add(3_599_999)
      #expect(try await village.request(.get, first).status == 200)
      clock.add(1)
      #expect(try await village.request(.get, first).status == 404)
      let second = try await link()
      #expect(try await village.request(.get, second).status == 200)
      #expect(try await village.request(.delete, "/sessions/current", as: "grace").status == 204)
      #expect(try await village.request(.get, second).status == 404)
    }
  }

  @Test func `a signed link that ends in more than an hour is refused`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let id = try #require(try await village.send(Array("rose".utf8), named: "rose", by: "grace")["id"])
      let link = try await village.request(.post, "/files/\(id)/link", as: "grace")
      let own = try #require(link["url"]?.split(separator: "=").last?.split(separator: ".").map(String.init))
      let end = try #require(Int64(own[2]))
      for (later, status) in [(0, 200), (1, 404), (315_360_000_000, 404)] as [(Int64, Int)] {
        let claim = "\(own[0]).\(own[1]).\(end + later)"
        let signature = try village.community.linkSignature(of: claim, try #require(ID<File>(id)))
        let answer = try await village.request(.get, "/files/\(id)/content?link=\(claim).\(signature)")
        #expect(answer.status == status, "\(later)")
      }
    }
  }

  @Test func `the database holds no key of signed links`() async throws {
    try await Village.open(.inMemory) { village in
      let before = try await village.rows("select name || value from setting order by name")
      let id = try #require(try await village.send(Array("rose".utf8), named: "rose", by: "grace")["id"])
      try await village.expect(201, .post, "/files/\(id)/link", as: "grace")
      #expect(try await village.rows("select name || value from setting order by name") == before)
    }
  }
}
