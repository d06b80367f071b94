import Foundation
import ParleyJSON
import Testing

@testable import API

@Suite struct SiteSettingsTests {
  @Test(arguments: TestTransport.allCases)
  func `the site and its version are public`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let server = try await village.request(.get, "/server")
      #expect(server.bool("signed_in") == false)
      #expect(try await village.request(.get, "/server", as: "ada").bool("signed_in") == true)
      #expect(server["name"] == "Parley" && server["version"] == "1.2.3" && server["web_version"] == "w")
      #expect(server["min_client"] == "1.0" && server["policy"] == "invite" && server.bool("set_up") == true)
      #expect(server["epoch"] == village.community.store.epoch && server["epoch"]?.count == 24)
      #expect(server["start"] == village.community.start)
      #expect(server.int("limits.message_scalars") == 16_000)
      let tag = try #require(server.fields["etag"])
      #expect(try await village.request(.get, "/server", fields: ["If-None-Match": tag]).status == 304)
      try await village.changeSettings(["name": "Garden Club"])
      let renamed = try await village.request(.get, "/server", fields: ["If-None-Match": tag])
      #expect(renamed.status == 200 && renamed["name"] == "Garden Club")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `staff update the settings, with an event for all`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let body: [String: Any] = [
        "name": " Garden Club ", "hue": 120, "welcome": "Come in.", "rules": "Be kind.\nAlways.",
        "registration": "approval", "may_invite": "moderators", "may_create_forums": "staff",
        "may_publish": "staff", "discovery": true,
      ]
      var changed: Answer?
      let events = try await village.events {
        for _ in 1...2 { changed = try await village.request(.patch, "/settings", as: "ada", body) }
      }
      #expect(events == ["settings.updated site #2"])
      let seen = try await village.request(.get, "/settings")
      #expect(seen.body == changed?.body)
      #expect(seen["name"] == "Garden Club" && seen.int("hue") == 120 && seen["registration"] == "approval")
      #expect(seen["may_publish"] == "staff")
      #expect(seen["may_invite"] == "moderators" && seen["may_create_forums"] == "staff")
      #expect(seen.bool("discovery") == true && seen["rules"] == "Be kind.\nAlways." && seen.int("revision") == 2)
      let late = try await village.request(.patch, "/settings", as: "ada", ["hue": 1, "if_revision": 1])
      #expect(late.status == 409 && late["current.name"] == "Garden Club")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `moderators pause sign-ups and new members until a time`(transport: TestTransport) async throws {
    let clock = StoppedClock()
    try await Village.open(transport, clock: clock.read) { village in
      let time = { (hours: Int64) in Timestamp.format(Int(clock.read() + hours * 3_600_000)) }
      let (signUps, newcomers) = ("sign_ups_paused_until", "newcomers_paused_until")
      let until = time(1)
      let room = try await village.garden().room
      let message = "/conversations/\(room)/messages"
      let eve = ["name": "eve", "password": "wool and needles"]
      try await village.changeSettings(["registration": "open"])
      try await village.expect(200, .patch, "/users/@linus", as: "ada", ["role": "moderator", "end_sessions": false])

      // Members change none, moderators no other setting.
      try await village.expect(403, .patch, "/settings", as: "grace", [signUps: until])
      try await village.expect(403, .patch, "/settings", as: "linus", ["hue": 1])
      try await village.expect(403, .patch, "/settings", as: "linus", ["hue": 1, signUps: until])
      let far = try await village.expect(400, .patch, "/settings", as: "linus", [newcomers: time(24 * 7 + 1)])
      #expect(far["errors.0.field"] == newcomers)
      let events = try await village.events {
        try await village.expect(200, .patch, "/settings", as: "linus", [signUps: until, newcomers: until])
      }
      #expect(events == ["settings.updated site #3"])
      let settings = try await village.expect(200, .get, "/settings")
      #expect(settings[signUps] == until && settings[newcomers] == until)

      let refused = try await village.expect(403, .post, "/users", eve)
      #expect(refused.code == "sign_ups_paused" && refused["params.until"] == until)
      let invite = try #require(try await village.expect(201, .post, "/invites", as: "ada", [:])["code"])
      try await village.expect(403, .post, "/users", eve.merging(["invite": invite]) { $1 })
      let limited = try await village.expect(429, .post, message, as: "grace", ["text": "spam"])
      #expect(limited.code == "newcomer_limited" && limited["params.limit"] == "pause")
      #expect(limited["params.until"] == until && limited.fields["retry-after"] == "3600")
      try await village.expect(201, .post, message, as: "linus", ["text": "Staff writes."])
      let entries = try await village.expect(200, .get, "/audit", as: "ada")
      #expect(
        String(decoding: entries.body, as: UTF8.self).contains(
          "\"field\":\"\(signUps)\",\"from\":null,\"to\":\"\(until)\""))

      // A pause ends by a change, or by itself.
      try await village.expect(200, .patch, "/settings", as: "linus", [newcomers: NSNull()])
      try await village.expect(201, .post, message, as: "grace", ["text": "Back."])
      clock.add(3_600_000)
      try await village.expect(201, .post, "/users", eve)
    }
  }

  @Test func `the contact of the operator and the privacy page are public`() async throws {
    try await Village.open(.inMemory) { village in
      let before = try await village.request(.get, "/server")
      #expect(before.isNull("contact_url") && before.isNull("privacy_url"))
      let links = ["contact_url": "mailto:ada@garden.example", "privacy_url": "https://garden.example/privacy"]
      try await village.changeSettings(links)
      let after = try await village.request(.get, "/server")
      for (name, address) in links { #expect(after[name] == address) }
      for wrong in ["javascript:alert(1)", "mailto:", "mailto:a@b@c", "mailto:a@b?bcc=c@d", "ftp://x.example", ""] {
        let refused = try await village.request(.patch, "/settings", as: "ada", ["contact_url": wrong])
        #expect(refused.status == 400 && refused["errors.0.field"] == "contact_url", "\(wrong)")
      }
      let refused = try await village.request(.patch, "/settings", as: "ada", ["privacy_url": "mailto:a@b.example"])
      #expect(refused.status == 400)
    }
  }

  @Test func `staff chooses the forum where new members arrive`() async throws {
    try await Village.open(.inMemory) { village in
      #expect(try await village.request(.get, "/settings").isNull("arrival_forum"))
      let forum = try await village.request(.post, "/forums", as: "ada", ["title": "Hello"])["id"] ?? ""
      let changed = try await village.request(.patch, "/settings", as: "ada", ["arrival_forum": forum])
      #expect(changed.status == 200 && changed["arrival_forum"] == forum)
      let refused = try await village.request(.patch, "/settings", as: "ada", ["arrival_forum": "999999"])
      #expect(refused.status == 400 && refused["errors.0.field"] == "arrival_forum")
      let cleared = try await village.request(.patch, "/settings", as: "ada", ["arrival_forum": NSNull()])
      #expect(cleared.isNull("arrival_forum"))
    }
  }

  @Test(arguments: [
    (nil, 401), ("gus", 403), ("robo", 403), ("grace", 403), ("mira", 403), ("alma", 200), ("ada", 200),
  ])
  func `permissions to change settings`(caller: String?, status: Int) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      #expect(try await village.request(.patch, "/settings", as: caller, ["hue": 7]).status == status)
      #expect(try await village.request(.get, "/settings", as: caller).status == 200)
    }
  }

  private static let rows: [(body: [String: any Sendable], field: String, code: String)] = [
    (["name": ""], "name", "too_short"), (["name": "a\nb"], "name", "invalid"),
    (["name": String(repeating: "x", count: 65)], "name", "too_long"), (["hue": 360], "hue", "out_of_range"),
    (["hue": "red"], "hue", "wrong_type"), (["rules": "a\u{0}"], "rules", "invalid"),
    (["welcome": String(repeating: "x", count: 10_001)], "welcome", "too_long"),
    (["registration": "secret"], "registration", "invalid"), (["may_invite": "all"], "may_invite", "invalid"),
    (["epoch": "x"], "epoch", "unknown_field"), (["revision": 9], "revision", "unknown_field"),
  ]

  @Test(arguments: rows.indices)
  func `an invalid setting is refused by field`(row: Int) async throws {
    try await Village.open(.inMemory) { village in
      let (body, field, code) = Self.rows[row]
      let answer = try await village.request(.patch, "/settings", as: "ada", body)
      #expect(answer.status == 400 && answer["errors.0.field"] == field && answer["errors.0.code"] == code)
    }
  }
}
