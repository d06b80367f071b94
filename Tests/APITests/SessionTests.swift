import Testing

@testable import API

@Suite struct SessionTests {
  @Test(arguments: Way.allCases)
  func `who knows the password gets a session, and it ends when it is told to`(way: Way) async throws {
    try await Village.open(way) { village in
      let opened = try await village.ask(
        .post, "/sessions", ["username": "Grace", "password": "grace’s password", "device": "laptop"])
      #expect(opened.status == 201)
      #expect(opened["user_id"] == village.id("grace"))
      let token = try #require(opened["token"])
      #expect(token.count == 64)
      let ended = try await village.ask(
        .delete, "/sessions/current", fields: ["Authorization": "Bearer \(token)"])
      #expect(ended.status == 204)
      let again = try await village.ask(
        .delete, "/sessions/current", fields: ["Authorization": "Bearer \(token)"])
      #expect(again.status == 401 && again.code == "unauthenticated")
    }
  }

  @Test(arguments: Way.allCases)
  func `a wrong password and an unknown name are told apart by nothing`(way: Way) async throws {
    try await Village.open(way) { village in
      for name in ["grace", "nobody-here"] {
        let answer = try await village.ask(.post, "/sessions", ["username": name, "password": "guess"])
        #expect(answer.status == 401 && answer.code == "unauthenticated")
      }
    }
  }

  @Test func `a browser gets a cookie, which changes nothing for a page of another origin`() async throws {
    try await Village.open(.socket) { village in
      let opened = try await village.ask(
        .post, "/sessions", ["username": "grace", "password": "grace’s password", "cookie": true])
      let cookie = try #require(opened.fields["set-cookie"])
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"))
      #expect(!opened.has("token"))
      let pair = String(cookie.prefix { $0 != ";" })
      let foreign = try await village.ask(
        .delete, "/sessions/current", fields: ["Cookie": pair, "Origin": "https://evil.example"])
      #expect(foreign.status == 403)
      let without = try await village.ask(.delete, "/sessions/current", fields: ["Cookie": pair])
      #expect(without.status == 403)
    }
  }
}
