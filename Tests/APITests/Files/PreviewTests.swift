import Foundation
import ParleyModel
import ParleyWire
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Link previews.
@Suite struct PreviewTests {
  private static func garden() throws -> CannedServer {
    try CannedServer { target in
      switch target {
      case "/roses":
        .page("<title>a</title><meta property=og:title content=Roses><meta property=og:image content='/rose.jpg'>")
      case "/rose.jpg": .content(Photographs.jpeg(), type: "image/jpeg")
      case "/words": .page("<title>Words</title>")
      default: .missing
      }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a link is previewed, and its picture is served by the server`(transport: TestTransport) async throws {
    let server = try Self.garden()
    try await Village.open(transport, remotes: [server]) { village in
      let events = try await village.events {
        let roses = try await village.request(.post, "/previews", as: "grace", ["url": server.url + "/roses#x"])
        #expect(roses.status == 200 && roses["title"] == "Roses" && roses["url"] == server.url + "/roses")
        #expect(roses.bool("image") == false && roses.isNull("description") && roses.isNull("file"))
        #expect(roses["picture.mime_type"] == "image/jpeg" && roses.int("picture.width") == 480)
        let path = try #require(roses["picture.url"].map { String($0.dropFirst("/api/v1".count)) })
        let picture = try await village.request(.get, path)
        #expect(picture.status == 200 && picture.body == Photographs.servedJPEG())
        #expect(picture.fields["content-type"] == "image/jpeg")
        // Only the server adds the common header fields.
        #expect(transport == .inMemory || picture.fields["x-content-type-options"] == "nosniff")
        #expect(picture.fields["content-security-policy"]?.contains("sandbox") == true)
        let tag = try #require(picture.fields["etag"])
        #expect(try await village.request(.get, path, fields: ["If-None-Match": tag]).status == 304)
        #expect(try await village.request(.get, "/previews/x/picture").status == 404)
        let image = try await village.request(.post, "/previews", as: "gus", ["url": server.url + "/rose.jpg"])
        #expect(image.status == 200 && image.bool("image") == true && image.isNull("title"))
        let words = try await village.request(.post, "/previews", as: "robo", ["url": server.url + "/words"])
        #expect(words["title"] == "Words" && words.isNull("picture"))
      }
      #expect(events.isEmpty && village.stored.isEmpty, "previews are not stored")
      for (url, code) in [
        (server.url + "/gone", "unreachable"), ("http://localhost/", "unreachable"),
        ("http://127.0.0.1:1/", "unreachable"), ("javascript:1", "unreachable"), ("", "unreachable"),
      ] {
        let refused = try await village.request(.post, "/previews", as: "grace", ["url": url])
        #expect(
          refused.status == 400 && refused["errors.0.field"] == "url" && refused["errors.0.code"] == code, "\(url)")
      }
      #expect(try await village.request(.post, "/previews", ["url": server.url + "/roses"]).status == 401)
      #expect(try await village.request(.post, "/previews", as: "grace").status == 400)
      #expect(try await village.request(.post, "/previews", as: "grace", ["url": 7]).status == 400)
      #expect(
        try await village.request(.post, "/previews", as: "grace", ["url": "http://a.example/", "x": 1]).code
          == "unknown_field")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a stored picture is a file of the caller`(transport: TestTransport) async throws {
    let server = try Self.garden()
    try await Village.open(transport, remotes: [server]) { village in
      let preview = { (name: String, path: String) in
        try await village.request(.post, "/previews", as: name, ["url": server.url + path, "keep": true])
      }
      let kept = try await preview("grace", "/roses")
      let file = try #require(kept["file.id"])
      #expect(kept["file.owner_id"] == village.id("grace") && kept["file.name"] == "Roses")
      #expect(kept["file.mime_type"] == "image/jpeg" && kept.int("file.width") == 480)
      #expect(try await village.content(file, as: "grace").body == Photographs.servedJPEG())
      #expect(try await village.content(file, as: "linus").status == 404)
      let (_, room) = try await village.garden("shed", "private", members: ["grace", "linus"])
      try await village.post(server.url + "/roses", in: room, as: "grace", ["attachments": [file]])
      #expect(try await village.content(file, as: "linus").status == 200)
      #expect(try await preview("linus", "/words").isNull("file"))
      #expect(server.targets.count == 3, "it is fetched once")
      let reader = try await village.request(.post, "/me/tokens", as: "linus", ["name": "reader", "scope": "read"])
      let token = try #require(reader["token"])
      for (body, status) in [
        (#"{"url":"\#(server.url)/roses"}"#, 200), (#"{"url":"\#(server.url)/roses","keep":true}"#, 403),
      ] {
        let answer = try await village.send(
          .post, "/previews", Array(body.utf8), fields: ["Authorization": "Bearer \(token)"])
        #expect(answer.status == status, "\(answer.text)")
      }
    }
  }

  @Test func `previews are optional for the site and the operator`() async throws {
    let server = try Self.garden()
    try await Village.open(.inMemory, remotes: [server]) { village in
      #expect(try await village.request(.get, "/server").bool("link_previews") == true)
      try await village.changeSettings(["link_previews": false])
      let refused = try await village.request(.post, "/previews", as: "ada", ["url": server.url + "/roses"])
      #expect(refused.status == 403 && refused.code == "previews_off")
      #expect(try await village.request(.get, "/server").bool("link_previews") == false)
      try await village.changeSettings(["link_previews": true])
      #expect(try await village.request(.post, "/previews", as: "ada", ["url": server.url + "/roses"]).status == 200)
    }
    try await Village.open(.inMemory) { village in
      #expect(try await village.request(.get, "/server").bool("link_previews") == false)
      #expect(try await village.request(.get, "/settings").bool("link_previews") == true)
      let refused = try await village.request(.post, "/previews", as: "ada", ["url": server.url + "/roses"])
      #expect(refused.status == 403 && refused.code == "previews_off")
      #expect(try await village.request(.get, "/previews/x/picture").status == 404)
    }
    #expect(server.targets.count == 2)
  }

  @Test func `previews are rate limited per user`() async throws {
    let server = try Self.garden()
    var rates = Village.unlimited
    rates.previewing = Allowance(burst: 2, perDay: 1)
    try await Village.open(.inMemory, rates: rates, remotes: [server]) { village in
      for (name, status) in [("grace", 200), ("grace", 200), ("grace", 429), ("linus", 200)] {
        let answer = try await village.request(.post, "/previews", as: name, ["url": server.url + "/words"])
        #expect(answer.status == status)
      }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `an external forum icon is fetched by the server`(transport: TestTransport) async throws {
    let server = try Self.garden()
    try await Village.open(transport, remotes: [server]) { village in
      let forum = try #require(
        try await village.expect(
          201, .post, "/forums", as: "grace", ["title": "Garden", "icon_url": server.url + "/rose.jpg"])["id"])
      let icon = try await village.request(.get, "/forums/\(forum)/icon", as: "grace")
      #expect(icon.status == 200 && icon.fields["content-type"] == "image/jpeg")
      #expect(icon.body == Photographs.servedJPEG())
      #expect(try await village.request(.get, "/forums/\(forum)/icon").status == 404, "hidden forum")
      // While previews are off, the answer is the generated icon.
      try await village.changeSettings(["link_previews": false])
      let drawn = try await village.request(.get, "/forums/\(forum)/icon", as: "grace")
      #expect(drawn.status == 200 && drawn.fields["content-type"] == "image/svg+xml")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `the address of an icon without a picture is refused`(transport: TestTransport) async throws {
    let server = try Self.garden()
    try await Village.open(transport, remotes: [server]) { village in
      let rose = server.url + "/rose.jpg"
      let forum = try #require(
        try await village.expect(201, .post, "/forums", as: "grace", ["title": "Garden", "icon_url": rose])["id"])
      for path in ["/words", "/gone"] {
        let bad: [String: Any] = ["icon_url": server.url + path]
        let events = try await village.events {
          for (method, address) in [(ParleyWire.Method.post, "/forums"), (.patch, "/forums/\(forum)")] {
            let body = bad.merging(method == .post ? ["title": "Garden \(path)"] : [:]) { one, _ in one }
            let refused = try await village.request(method, address, as: "grace", body)
            #expect(refused.status == 400 && refused["errors.0.field"] == "icon_url", "\(refused.text)")
            #expect(refused["errors.0.code"] == "unreachable")
          }
        }
        #expect(events == [])
        #expect(try await village.request(.patch, "/forums/\(forum)", as: "linus", bad).status == 403)
      }
      // The address that the forum has is not fetched again.
      let requests = server.targets.count
      try await village.expect(200, .patch, "/forums/\(forum)", as: "grace", ["title": "Orchard", "icon_url": rose])
      #expect(server.targets.count == requests)
      // A server that opens no addresses can't check them.
      try await village.changeSettings(["link_previews": false])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "grace", ["icon_url": server.url + "/gone"])
    }
  }
}
