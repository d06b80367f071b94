import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct AvatarTests {
  @Test(arguments: TestTransport.allCases)
  func `each user has one drawing, the same for every viewer`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let drawing = try await village.request(.get, "/users/\(village.id("grace"))/avatar")
      #expect(drawing.status == 200 && drawing.fields["content-type"] == "image/svg+xml")
      #expect(drawing.text.hasPrefix("<svg ") && drawing.text.hasSuffix("</svg>\n"))
      #expect(drawing.fields["cache-control"] == "public, max-age=300")
      #expect(drawing.fields["content-security-policy"]?.contains("sandbox") == true)
      for path in ["/me/avatar", "/users/@grace/avatar", "/users/@GRACE/avatar"] {
        #expect(try await village.request(.get, path, as: "grace").body == drawing.body)
      }
      #expect(try await village.request(.get, "/users/@linus/avatar", as: "grace").body != drawing.body)
      let tag = try #require(drawing.fields["etag"])
      let path = "/users/\(village.id("grace"))/avatar"
      #expect(try await village.request(.get, path, fields: ["If-None-Match": tag]).status == 304)
      try await village.request(.patch, "/me", as: "grace", ["display_name": "G", "bio": "x"])
      #expect(try await village.request(.get, path, fields: ["If-None-Match": tag]).status == 304)
      try await village.request(.patch, "/users/@grace", as: "ada", ["name": "gracia"])
      #expect(try await village.request(.get, path, fields: ["If-None-Match": tag]).status == 200)
    }
  }

  @Test func `unknown, pending and hidden users have no avatar`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("wanda")
      try await village.setState("wanda", in: .pending)
      for path in ["/users/\(village.id("wanda"))", "/users/99999999", "/users/0", "/users/x", "/users/@grace"] {
        #expect(try await village.request(.get, "\(path)/avatar").status == 404, "\(path)")
      }
      #expect(try await village.request(.get, "/me/avatar").status == 401)
    }
  }
}
