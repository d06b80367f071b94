import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// `Tests/clients/test_oidc.py` has the flows over sockets, with wrong providers.
@Suite struct IdentityTests {
  @Test func `an account is linked, listed and unlinked`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await OpenIDProvider.link("g-1", to: "grace", in: village)
      let list = try await village.request(.get, "/me/identities", as: "grace")
      #expect(list.texts("data", "issuer") == ["work"] && list.texts("data", "name") == ["g-1"])
      // Another user can neither see nor unlink it.
      #expect(try await village.request(.get, "/me/identities", as: "linus").count("data") == 0)
      try await village.expect(204, .delete, "/me/identities/\(id)", as: "linus")
      #expect(try await village.request(.get, "/me/identities", as: "grace").count("data") == 1)
      let events = try await village.events {
        try await village.expect(204, .delete, "/me/identities/\(id)", as: "grace")
      }
      #expect(events.count == 1 && events[0].hasPrefix("notification.created"))
      #expect(try await village.request(.get, "/me/identities", as: "grace").count("data") == 0)
    }
  }

  @Test func `a linked account signs in, and its session has a proof`() async throws {
    try await Village.open(.inMemory) { village in
      try await OpenIDProvider.link("g-1", to: "grace", in: village)
      let started = try await village.page("/oidc/work?back=/forums")
      #expect(started.status == 303)
      let answer = try await OpenIDProvider.finish(started, with: "g-1", as: nil, in: village)
      #expect(answer.status == 303 && answer.fields["location"] == "/forums")
      let cookies = answer.fields.all("set-cookie").compactMap { $0.split(separator: ";").first.map(String.init) }
      #expect(cookies.contains { $0.hasPrefix("parley=parley_") } && cookies.contains("parley-issuer="))
      #expect(answer.fields.all("set-cookie").allSatisfy { $0.contains("HttpOnly") && $0.contains("SameSite=Lax") })
      let entries = try await village.request(.get, "/me/sign-ins", as: "grace")
      #expect(entries["data.0.method"] == "issuer" && entries["data.0.result"] == "signed_in")
    }
  }

  @Test func `an answer is too late after fifteen minutes`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await OpenIDProvider.link("g-1", to: "grace", in: village)
      for (time, status) in [(899_999, 303), (900_000, 400)] {
        let started = try await village.page("/oidc/work")
        clock.add(time)
        #expect(try await OpenIDProvider.finish(started, with: "g-1", as: nil, in: village).status == status)
      }
    }
  }

  @Test func `a form of a new user is too late after fifteen minutes`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.expect(200, .patch, "/settings", as: "ada", ["registration": "open"])
      let started = try await village.page("/oidc/work")
      let answer = try await OpenIDProvider.finish(started, with: "new", as: nil, in: village)
      #expect(answer.fields["location"] == "/oidc/work/sign-up")
      let cookie = try #require(answer.fields["set-cookie"]?.split(separator: ";").first.map(String.init))
      clock.add(899_999)
      #expect(try await village.page("/oidc/work/sign-up", fields: ["Cookie": cookie]).status == 200)
      clock.add(1)
      #expect(try await village.page("/oidc/work/sign-up", fields: ["Cookie": cookie]).status == 400)
    }
  }

  @Test func `a token links and unlinks nothing`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await OpenIDProvider.link("g-1", to: "grace", in: village)
      let made = try await village.expect(
        201, .post, "/me/tokens", as: "grace", ["name": "t", "scope": "admin", "password": "grace’s password"])
      let fields: Fields = ["Authorization": "Bearer \(made["token"] ?? "")"]
      let body = ["issuer": "work"]
      #expect(try await village.request(.post, "/me/identities", body, fields: fields).status == 403)
      #expect(try await village.request(.delete, "/me/identities/\(id)", fields: fields).status == 403)
      #expect(try await village.request(.get, "/me/identities", fields: fields).count("data") == 1)
    }
  }

  @Test func `an account at a provider of earlier settings is no way to sign in`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await OpenIDProvider.link("g-1", to: "grace", in: village)
      let other = try await OpenIDProvider.link("g-2", to: "grace", in: village)
      // Grace has no password, and the first account is at a provider that has gone from the settings.
      let number = try #require(Int(id))
      try await village.community.store.write { [user = village.user("grace")] tx throws(Refusal) in
        try tx.setPassword(nil, of: user)
        try tx.run { connection in
          try connection.execute("update identity set issuer = 'https://gone.example' where id = $1", number)
        }
      }
      let refused = try await village.request(.delete, "/me/identities/\(other)", as: "grace")
      #expect(refused.status == 409 && refused.code == "last_sign_in_method")
      try await village.expect(204, .delete, "/me/identities/\(id)", as: "grace")
      try await OpenIDProvider.link("g-3", to: "grace", in: village)
      try await village.expect(204, .delete, "/me/identities/\(other)", as: "grace")
    }
  }

  @Test(arguments: [("cross-site", false), ("same-site", false), ("same-origin", true), ("none", true), (nil, true)])
  func `a page of another site starts no sign-in`(site: String?, isStarted: Bool) async throws {
    try await Village.open(.inMemory) { village in
      let fields: Fields = site.map { ["Sec-Fetch-Site": $0] } ?? [:]
      for name in [nil, "grace"] {
        for query in ["?back=/forums", "?back=/forums&prove"] where name != nil || !query.hasSuffix("prove") {
          let started = try await village.page("/oidc/work\(query)", as: name, fields: fields)
          #expect(started.status == 303 && started.fields.has("set-cookie") == isStarted)
          let place = started.fields["location"] ?? ""
          #expect(place.hasPrefix(isStarted ? "https://id.example.org/" : "/sign-in"), "\(place)")
        }
      }
    }
  }

  @Test func `the answer of another browser's request links and signs in no user`() async throws {
    try await Village.open(.inMemory) { village in
      // The attacker stops before the answer, and leads the victim to its address.
      let asked = try await village.expect(201, .post, "/me/identities", as: "linus", ["issuer": "work"])
      let state = try #require(try FormPairs(WebAddress(asked["url"] ?? "")?.query ?? "")["state"])
      let lured = try await village.page("/oidc/work/callback?code=l-1&state=\(state)", as: "grace")
      #expect(lured.status == 400)
      // Also with a request of the victim that waits.
      let own = try await village.page("/oidc/work", as: "grace")
      let cookie = try #require(own.fields["set-cookie"]?.split(separator: ";").first.map(String.init))
      let mixed = try await village.page(
        "/oidc/work/callback?code=l-1&state=\(state)", as: "grace", fields: ["Cookie": cookie])
      #expect(mixed.status == 400)
      // Nor with the cookie of the attacker, as a host of the same domain might set it.
      let answer = try await OpenIDProvider.finish(asked, with: "l-1", as: "grace", in: village)
      #expect(answer.status == 400)
      for name in ["grace", "linus"] {
        #expect(try await village.request(.get, "/me/identities", as: name).count("data") == 0)
      }
    }
  }

  @Test func `erasure of a user deletes their accounts`() async throws {
    try await Village.open(.inMemory) { village in
      try await OpenIDProvider.link("g-1", to: "grace", in: village)
      try await village.expect(
        200, .delete, "/users/me", as: "grace", ["how": "erase", "password": "grace’s password"])
      try await OpenIDProvider.link("g-1", to: "linus", in: village)
    }
  }

  @Test(
    arguments: [
      ("/", "/"), ("/forums?a=b#c", "/forums?a=b#c"), ("", nil), ("forums", nil), ("//evil.example", nil),
      ("/\\evil.example", nil), ("https://evil.example", nil), ("/a b", nil), ("/\r\nX: y", nil), ("/é", nil),
      ("/" + String(repeating: "a", count: 2_048), nil),
    ] as [(String, String?)])
  func `a page to return to is a path of the site`(text: String, path: String?) {
    #expect(PageAddress.ownPath(text) == path)
  }
}
