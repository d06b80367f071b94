import Foundation
import Mail
import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct WeeklyDigestTests {
  private static let hour = 3_600_000
  private static let day = 24 * hour
  /// From the begin of a test, a Friday at 8:00 in UTC, until Monday at 8:00.
  private static let untilMonday = 3 * day
  private static let path = "/me/notifications"

  /// Grace has an address, and has not read a mention, which was mailed.
  private func open(
    time zone: String? = "UTC", as name: String = "grace",
    _ body: (Village, StoppedClock, _ room: String) async throws -> Void
  ) async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (_, room) = try await village.garden(members: [name, "linus"])
      if let zone { try await village.expect(200, .patch, Self.path, as: name, ["time_zone": zone]) }
      try await village.confirmEmail("\(name)@example.org", of: name)
      try await village.post("Bring the **key** & <rope>, @\(name)", in: room, as: "ada")
      clock.add(Int(MailDeliverer.unreadDelay))
      #expect(await village.mail().count == 1)
      clock.add(-Int(MailDeliverer.unreadDelay))
      try await body(village, clock, room)
    }
  }

  private func digests(_ village: Village) async -> [MailMessage] {
    await village.mail().filter { $0.listID == "weekly-digest.example.org" }
  }

  private struct Morning: Sendable, CustomTestStringConvertible {
    let zone: String
    let after: String
    let next: String
    var testDescription: String { "\(zone) after \(after)" }
  }

  // 2026: the clock of Berlin changes on 29 March and on 25 October, that of New York on 8 March and 1 November.
  @Test(arguments: [
    Morning(zone: "UTC", after: "2026-01-05T07:59:59Z", next: "2026-01-05T08:00:00Z"),
    Morning(zone: "UTC", after: "2026-01-05T08:00:00Z", next: "2026-01-12T08:00:00Z"),
    Morning(zone: "Europe/Berlin", after: "2026-03-28T12:00:00Z", next: "2026-03-30T06:00:00Z"),
    Morning(zone: "Europe/Berlin", after: "2026-10-24T12:00:00Z", next: "2026-10-26T07:00:00Z"),
    Morning(zone: "America/New_York", after: "2026-03-07T12:00:00Z", next: "2026-03-09T12:00:00Z"),
    Morning(zone: "America/New_York", after: "2026-10-31T12:00:00Z", next: "2026-11-02T13:00:00Z"),
    Morning(zone: "Pacific/Kiritimati", after: "2026-01-04T17:59:59Z", next: "2026-01-04T18:00:00Z"),
    Morning(zone: "Asia/Kathmandu", after: "2026-01-05T02:15:00Z", next: "2026-01-12T02:15:00Z"),
  ])
  private func `it is Monday at eight by the clock of the user`(morning: Morning) throws {
    let after = try #require(Timestamp.parse(morning.after))
    let next = WeeklyDigest.next(after: Int64(after), in: TimeZones().rules(of: morning.zone))
    #expect(Int(next) == Timestamp.parse(morning.next))
  }

  @Test func `what a user has not read is mailed once a week`() async throws {
    try await open { village, clock, room in
      clock.add(Self.untilMonday - 1)
      #expect(await digests(village).isEmpty)
      clock.add(1)
      let sent = await digests(village)
      try #require(sent.count == 1)
      #expect(sent[0].to.description == "grace@example.org" && sent[0].subject.hasPrefix("Your week on"))
      #expect(sent[0].text.contains("garden\n1 mention · 1 unread message\n> ada: Bring the key & <rope>, @grace"))
      #expect(sent[0].html?.contains("ada: Bring the key &amp; &lt;rope&gt;, @grace") == true)
      #expect(sent[0].unsubscribe?.hasPrefix("https://example.org/unsubscribe/") == true)
      #expect(await digests(village).isEmpty)
      clock.add(7 * Self.day - 1)
      #expect(await digests(village).isEmpty)
      clock.add(1)
      let second = await digests(village)
      #expect(second.count == 1 && second[0].id != sent[0].id)
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  @Test func `without anything unread there is none`() async throws {
    try await open { village, clock, room in
      let last = try await village.rows("select cast(max(id) as text) from message")[0]
      try await village.expect(200, .put, "/conversations/\(room)/read", as: "grace", ["message_id": last])
      clock.add(Self.untilMonday)
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `a user who was there the day before gets none`() async throws {
    try await open { village, clock, _ in
      clock.add(Self.untilMonday - Self.day + 1)
      try await village.expect(200, .get, "/me", as: "grace")
      // A use of the session is noted after the response.
      let seen = Int(clock.read())
      try await waitUntil {
        try await village.rows("select cast(last_seen_at as text) from account where name = 'grace'") == ["\(seen)"]
      }
      clock.add(Self.day - 1)
      #expect(await digests(village).isEmpty)
      clock.add(7 * Self.day)
      #expect(await digests(village).count == 1)
    }
  }

  enum Silence: CaseIterable {
    case off, paused, snoozed

    var change: [String: Any] {
      switch self {
      case .off: ["weekly_digest": false]
      case .paused: ["paused": true]
      case .snoozed: ["snoozed_until": "2027-01-30T00:00:00Z"]
      }
    }
  }

  @Test(arguments: Silence.allCases) func `settings hold it back`(silence: Silence) async throws {
    try await open { village, clock, _ in
      try await village.expect(200, .patch, Self.path, as: "grace", silence.change)
      clock.add(Self.untilMonday)
      #expect(await digests(village).isEmpty)
    }
  }

  @Test func `a guest switches it on first`() async throws {
    try await open(time: nil, as: "gus") { village, clock, _ in
      #expect(try await village.expect(200, .get, Self.path, as: "gus").bool("weekly_digest") == false)
      clock.add(Self.untilMonday)
      #expect(await digests(village).isEmpty)
      // Another change leaves it off.
      let quiet = try await village.expect(200, .patch, Self.path, as: "gus", ["push": ["room": false]])
      #expect(quiet.bool("weekly_digest") == false)
      try await village.expect(200, .patch, Self.path, as: "gus", ["weekly_digest": true])
      clock.add(7 * Self.day)
      #expect(await digests(village).count == 1)
    }
  }

  @Test func `another time zone moves it, and brings no second one in a week`() async throws {
    try await open { village, clock, _ in
      try await village.expect(200, .patch, Self.path, as: "grace", ["time_zone": "Asia/Tokyo"])
      #expect(await digests(village).isEmpty)
      clock.add(Self.untilMonday - 9 * Self.hour)
      #expect(await digests(village).count == 1)
      try await village.expect(200, .patch, Self.path, as: "grace", ["time_zone": "America/New_York"])
      #expect(await digests(village).isEmpty)
      clock.add(14 * Self.hour)
      #expect(await digests(village).isEmpty)
      clock.add(7 * Self.day)
      #expect(await digests(village).count == 1)
    }
  }

  @Test func `the zone of the quiet hours counts without another one`() async throws {
    try await open(time: nil) { village, clock, _ in
      let hours = ["from": "22:00", "to": "07:00", "time_zone": "Asia/Tokyo"]
      try await village.expect(200, .patch, Self.path, as: "grace", ["quiet_hours": hours])
      #expect(await digests(village).isEmpty)
      clock.add(Self.untilMonday - 9 * Self.hour)
      #expect(await digests(village).count == 1)
    }
  }

  @Test func `a repeated one has the same id`() async throws {
    try await open { village, clock, _ in
      clock.add(Self.untilMonday)
      village.mailReceiver.answer(with: .unreachable("the connection is lost"))
      let first = await digests(village)
      clock.add(60_000)
      village.mailReceiver.answer(with: .accepted)
      let second = await digests(village)
      #expect(first.count == 1 && first.map(\.id) == second.map(\.id))
      clock.add(60_000)
      #expect(await digests(village).isEmpty)
    }
  }

  @Test func `one that is late by half a day waits for the next week`() async throws {
    try await open { village, clock, _ in
      clock.add(Self.untilMonday + 12 * Self.hour)
      #expect(await digests(village).isEmpty)
      clock.add(7 * Self.day - 12 * Self.hour)
      #expect(await digests(village).count == 1)
    }
  }

  @Test func `the site bounds what it shows`() async throws {
    try await open { village, clock, _ in
      try await village.changeSettings(["push_shows": "sender"])
      clock.add(Self.untilMonday)
      let sent = try #require(await digests(village).first)
      #expect(!sent.text.contains("garden") && !sent.text.contains("ada:") && !sent.text.contains("mention"))
    }
  }

  @Test func `its link ends the digest alone`() async throws {
    try await open { village, clock, _ in
      clock.add(Self.untilMonday)
      let link = try #require(await digests(village).first?.unsubscribe)
      let path = String(link.dropFirst("https://example.org".count))
      let page = try await village.page(path)
      #expect(page.status == 200 && page.text.contains("Stop the weekly digest?"))
      #expect(try await village.expect(200, .get, Self.path, as: "grace").bool("weekly_digest") == true)
      #expect(try await village.submit(path, "List-Unsubscribe=One-Click").status == 200)
      let settings = try await village.expect(200, .get, Self.path, as: "grace")
      #expect(settings.bool("weekly_digest") == false && settings.bool("mail.mention") == true)
      #expect(try await village.submit(path.dropLast() + "x", "").status == 404)
    }
  }

  @Test func `many are sent in parts, and keep no other mail waiting`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (_, room) = try await village.garden(members: ["grace"])
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await village.expect(200, .patch, Self.path, as: "grace", ["weekly_digest": false])
      let message = try await village.post("Bring the key", in: room, as: "ada")
      let store = village.community.store
      try await store.write { tx throws(Refusal) in
        for number in 1...1_000 {
          let user = tx.nextID()
          try tx.run { connection in
            try connection.execute(
              """
              insert into account (id, name, name_key, role, state, created_at)
              values ($1, $2, $2, 'member', 'active', $3)
              """, user, "user\(number)", Int(tx.now))
            try connection.execute(
              "insert into email (user_id, address) values ($1, $2)", user, "user\(number)@example.org")
            try connection.execute(
              """
              insert into participant (conversation_id, user_id, joined_at, from_seq)
              values ($1, $2, $3, 1)
              """, Int(room) ?? 0, user, Int(tx.now))
            try connection.execute(
              """
              insert into notification (id, user_id, kind, created_at, actor_id, message_id, conversation_id)
              values ($1, $2, 'mention', $3, $4, $5, $6)
              """, tx.nextID(), user, Int(tx.now), Int(village.id("ada")) ?? 0, Int(message) ?? 0, Int(room) ?? 0)
          }
        }
      }
      #expect(await village.mail().isEmpty)
      #expect(try await store.readInBackground { tx throws(Refusal) in try tx.digestRecipients(limit: 5) }.isEmpty)
      clock.add(Self.untilMonday)
      var sent = await digests(village)
      #expect(sent.count == MailDeliverer.chunk)
      try await village.expect(202, .post, "/password-resets", ["login": "grace"])
      let next = await village.mail()
      #expect(next.contains { $0.to.description == "grace@example.org" })
      sent += next.filter { $0.listID == "weekly-digest.example.org" }
      for _ in 0..<48 { sent += await digests(village) }
      sent += await digests(village)
      #expect(sent.count == 1_000 && Set(sent.map(\.to)).count == 1_000)
      #expect(await digests(village).isEmpty)
    }
  }
}
