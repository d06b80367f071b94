import Foundation
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct NotificationSettingsTests {
  private static let path = "/me/notifications"

  @Test(arguments: TestTransport.allCases) func `settings have defaults and keep changes`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      let initial = try await village.expect(200, .get, Self.path, as: "grace")
      #expect(initial.bool("paused") == false && initial.isNull("snoozed_until") && initial.isNull("quiet_hours"))
      #expect(initial.bool("push.mention") == true && initial["push_shows"] == "text")
      #expect(!initial.has("push.sign_in"))
      let hours: [String: Any] = ["from": "22:00", "to": "07:00", "days": ["friday"], "time_zone": "Europe/Berlin"]
      let changed = try await village.expect(
        200, .patch, Self.path, as: "grace", ["quiet_hours": hours, "push": ["room": false], "push_shows": "sender"])
      #expect(changed["quiet_hours.time_zone"] == "Europe/Berlin" && changed["quiet_hours.days.0"] == "friday")
      #expect(changed.bool("push.room") == false && changed.bool("push.direct") == true)
      let paused = try await village.expect(
        200, .patch, Self.path, as: "grace", ["paused": true, "quiet_hours": NSNull()])
      #expect(paused.bool("paused") == true && paused.isNull("quiet_hours") && paused["push_shows"] == "sender")
      #expect(try await village.expect(200, .get, Self.path, as: "grace").text == paused.text)
      #expect(try await village.expect(200, .get, Self.path, as: "linus").text == initial.text)
      try await village.expect(401, .get, Self.path)
      try await village.expect(401, .patch, Self.path, ["paused": true])
    }
  }

  @Test func `wrong fields are refused by name`() async throws {
    try await Village.open(.inMemory) { village in
      func hours(_ more: [String: Any]) -> [String: Any] {
        ["quiet_hours": ["from": "22:00", "to": "07:00", "time_zone": "UTC"].merging(more) { $1 }]
      }
      let cases: [(body: [String: Any], field: String, code: String)] = [
        (hours(["to": "22:00"]), "quiet_hours.to", "invalid"),
        (hours(["from": "24:00"]), "quiet_hours.from", "invalid"),
        (hours(["days": [String]()]), "quiet_hours.days", "invalid"),
        (hours(["time_zone": "Mars/Olympus"]), "quiet_hours.time_zone", "unknown"),
        (hours(["time_zone": "../zoneinfo/UTC"]), "quiet_hours.time_zone", "unknown"),
        (hours(["time_zone": "/usr/share/zoneinfo/UTC"]), "quiet_hours.time_zone", "unknown"),
        (hours(["time_zone": "Europe//Berlin"]), "quiet_hours.time_zone", "unknown"),
        (hours(["time_zone": "Europe"]), "quiet_hours.time_zone", "unknown"),
        (hours(["time_zone": ""]), "quiet_hours.time_zone", "unknown"),
        (["snoozed_until": "2020-01-01T00:00:00Z"], "snoozed_until", "invalid"),
        (["snoozed_until": "2999-01-01T00:00:00Z"], "snoozed_until", "invalid"),
        (["push": ["sign_in": false]], "push.sign_in", "unknown_field"),
        (["push_shows": "all"], "push_shows", "invalid"), (["time_zone": "Mars/Olympus"], "time_zone", "unknown"),
        (["weekly_digest": "yes"], "weekly_digest", "wrong_type"),
        (["loud": true], "loud", "unknown_field"),
      ]
      for (body, field, code) in cases {
        let answer = try await village.expect(400, .patch, Self.path, as: "grace", body)
        #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(body) \(answer.text)")
      }
    }
  }

  @Test func `a change reaches the own devices alone`() async throws {
    try await Village.open(.inMemory) { village in
      let events = try await village.events {
        for _ in 0..<2 { try await village.expect(200, .patch, Self.path, as: "grace", ["paused": true]) }
      }
      #expect(events == ["preferences.updated user:\(village.id("grace")) #2"])
    }
  }

  @Test func `settings go with the user`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.expect(200, .patch, Self.path, as: "grace", ["paused": true])
      #expect(try await village.rows("select cast(user_id as text) from notification_settings").count == 1)
      try await village.request(.delete, "/me", as: "grace", ["how": "leave", "password": "grace’s password"])
      await village.community.store.jobs.run()
      #expect(try await village.rows("select cast(user_id as text) from notification_settings").isEmpty)
    }
  }
}
