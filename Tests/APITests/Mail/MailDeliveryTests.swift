import Mail
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct MailDeliveryTests {
  private static let delay = Int(MailDeliverer.unreadDelay)

  /// Grace has an address and takes part in a room.
  private func open(
    _ body: (Village, StoppedClock, _ room: String) async throws -> Void
  ) async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await body(village, clock, room)
    }
  }

  @Test func `a mention that stays unread is mailed after a while`() async throws {
    try await open { village, clock, room in
      let message = try await village.post("Bring the **key** & <rope>, @grace", in: room, as: "ada")
      #expect(await village.mail().isEmpty)
      clock.add(Self.delay - 1)
      #expect(await village.mail().isEmpty)
      clock.add(1)
      let sent = await village.mail()
      try #require(sent.count == 1)
      #expect(sent[0].to.description == "grace@example.org" && sent[0].subject.contains("ada mentioned you"))
      #expect(sent[0].text.contains("> Bring the key & <rope>, @grace"))
      #expect(sent[0].html?.contains("Bring the key &amp; &lt;rope&gt;, @grace") == true)
      #expect(sent[0].text.contains("https://example.org/m/\(message)"))
      #expect(sent[0].unsubscribe?.hasPrefix("https://example.org/unsubscribe/") == true)
      // The mail is sent once.
      clock.add(Self.delay)
      #expect(await village.mail().isEmpty)
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }

  @Test func `what was read is not mailed`() async throws {
    try await open { village, clock, room in
      let message = try await village.post("hello @grace", in: room, as: "ada")
      try await village.expect(200, .put, "/conversations/\(room)/read", as: "grace", ["message_id": message])
      clock.add(Self.delay)
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `a conversation is mailed once until it was read`() async throws {
    try await open { village, clock, room in
      for number in 1...3 { try await village.post("\(number) @grace", in: room, as: "ada") }
      clock.add(Self.delay)
      let sent = await village.mail()
      #expect(
        sent.count == 1 && sent[0].text.contains("> 1 @grace") && sent[0].text.contains("And 2 more unread messages."))
      let last = try await village.post("4 @grace", in: room, as: "ada")
      clock.add(Self.delay)
      #expect(await village.mail().isEmpty)
      try await village.expect(200, .put, "/conversations/\(room)/read", as: "grace", ["message_id": last])
      try await village.post("5 @grace", in: room, as: "ada")
      clock.add(Self.delay)
      #expect(await village.mail().map { $0.text.contains("> 5 @grace") } == [true])
    }
  }

  @Test func `what is read while it waits in the queue leaves room for the next`() async throws {
    try await open { village, clock, room in
      let first = try await village.post("1 @grace", in: room, as: "ada")
      clock.add(Self.delay)
      village.mailReceiver.answer(with: .unreachable("down"))
      _ = await village.mail()
      try await village.expect(200, .put, "/conversations/\(room)/read", as: "grace", ["message_id": first])
      try await village.post("2 @grace", in: room, as: "ada")
      village.mailReceiver.answer(with: .accepted)
      clock.add(Self.delay)
      #expect(await village.mail().map { $0.text.contains("> 2 @grace") } == [true])
    }
  }

  enum Silence: CaseIterable {
    case kind, paused, snoozed

    var change: [String: Any] {
      switch self {
      case .kind: ["mail": ["mention": false]]
      case .paused: ["paused": true]
      case .snoozed: ["snoozed_until": "2027-01-30T00:00:00Z"]
      }
    }
  }

  @Test(arguments: Silence.allCases)
  func `settings hold mail back`(silence: Silence) async throws {
    try await open { village, clock, room in
      try await village.expect(200, .patch, "/me/notifications", as: "grace", silence.change)
      try await village.post("hello @grace", in: room, as: "ada")
      clock.add(Self.delay)
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `a deleted message and a muted author are not mailed`() async throws {
    try await open { village, clock, room in
      let message = try await village.post("hello @grace", in: room, as: "ada")
      try await village.expect(200, .delete, "/messages/\(message)", as: "ada")
      try await village.post("and @grace", in: room, as: "linus")
      try await village.expect(204, .put, "/users/@linus/mute", as: "grace")
      clock.add(Self.delay)
      #expect(await village.mail().isEmpty)
    }
  }

  /// Reasons to drop a notification that waits.
  enum End: CaseIterable {
    case block, lostConversation, levelNothing, forumLevelNothing, ban, disabled
  }

  @Test(arguments: End.allCases) func `a notification that has ended is not mailed`(end: End) async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (forum, room) = try await village.garden("shed", "private", members: ["grace", "linus"])
      try await village.confirmEmail("grace@example.org", of: "grace")
      try await village.confirmEmail("linus@example.org", of: "linus")
      try await village.post("hello @grace and @linus", in: room, as: "ada")
      switch end {
      case .block: try await village.setRelation("grace", "block", "ada")
      case .lostConversation: try await village.expect(204, .delete, "/forums/\(forum)/members/@grace", as: "ada")
      case .levelNothing:
        try await village.expect(200, .put, "/conversations/\(room)/level", as: "grace", ["level": "nothing"])
      case .forumLevelNothing:
        try await village.expect(200, .put, "/forums/\(forum)/level", as: "grace", ["level": "nothing"])
      case .ban: try await village.expect(200, .put, "/users/@grace/ban", as: "ada", ["reason": "spam"])
      case .disabled: try await village.expect(200, .patch, "/users/@grace", as: "ada", ["disabled": true])
      }
      clock.add(Self.delay)
      // The other recipient gets the mail.
      #expect(await village.mail().map(\.to.description) == ["linus@example.org"])
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `a security notice is mailed at once, whatever the settings`() async throws {
    try await open { village, _, _ in
      try await village.expect(200, .patch, "/me/notifications", as: "grace", ["paused": true])
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "app", "scope": "write"])
      let sent = await village.mail()
      try #require(sent.count == 1)
      #expect(sent[0].subject.contains("New access token") && sent[0].unsubscribe == nil)
    }
  }

  @Test func `the site bounds what mail shows`() async throws {
    try await open { village, clock, room in
      try await village.changeSettings(["push_shows": "nothing"])
      try await village.post("a secret for @grace", in: room, as: "ada")
      clock.add(Self.delay)
      let sent = try #require(await village.mail().first)
      // Links have random codes.
      let words = sent.text.split(separator: "\n").filter { !$0.contains("http") }.joined(separator: "\n")
      #expect(!sent.text.contains("secret") && !words.contains("ada") && !sent.subject.contains("ada"))
    }
  }

  @Test func `a mail server that is down is asked less and less often`() async throws {
    try await open { village, clock, room in
      try await village.post("hello @grace", in: room, as: "ada")
      clock.add(Self.delay)
      village.mailReceiver.answer(with: .unreachable("refused"))
      #expect(await village.mail().count == 1)
      #expect(await village.mail().isEmpty)
      clock.add(30_000)
      #expect(await village.mail().count == 1)
      clock.add(30_000)
      #expect(await village.mail().isEmpty)
      village.mailReceiver.answer(with: .accepted)
      clock.add(30_000)
      #expect(await village.mail().count == 1)
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `mail that can't be sent for a day is dropped`() async throws {
    try await open { village, clock, room in
      try await village.post("hello @grace", in: room, as: "ada")
      clock.add(Self.delay)
      village.mailReceiver.answer(with: .deferred(MailReply(code: 450, text: "later")))
      #expect(await village.mail().count == 1)
      village.mailReceiver.answer(with: .accepted)
      clock.add(86_400_000)
      #expect(await village.mail().isEmpty)
    }
  }

  @Test func `what waits while mail is off is deleted in time`() async throws {
    try await open { village, clock, _ in
      let store = village.community.store
      try await village.expect(200, .put, "/me/email", as: "grace", ["address": "new@example.org"])
      try await village.expect(202, .post, "/password-resets", ["login": "grace"])
      let housekeeping = Housekeeping(store)
      let waiting = {
        try await store.readInBackground { tx throws(Refusal) in
          (mails: try tx.waitingMailCount(), resets: try tx.passwordResets(limit: 5).count)
        }
      }
      await housekeeping.tick()
      #expect(try await waiting() == (mails: 1, resets: 1))
      clock.add(3_600_000)
      await housekeeping.tick()
      #expect(try await waiting() == (mails: 1, resets: 0))
      clock.add(82_800_000)
      await housekeeping.tick()
      #expect(try await waiting() == (mails: 0, resets: 0))
    }
  }

  @Test(arguments: [false, true]) func `a clock that was set back costs no mail and no wait`(
    restarts: Bool
  ) async throws {
    try await open { village, clock, room in
      var deliverer = village.mailDeliverer
      func mail() async -> Int {
        await deliverer.round()
        return village.mailReceiver.take().count
      }
      try await village.post("hello @grace", in: room, as: "ada")
      clock.add(Self.delay)
      // The mail waits for the next attempt, and so does the mail server.
      village.mailReceiver.answer(with: .deferred(MailReply(code: 450, text: "later")))
      #expect(await mail() == 1)
      village.mailReceiver.answer(with: .unreachable("refused"))
      clock.add(Int(2 * MailDeliverer.firstDelay))
      #expect(await mail() == 1)
      clock.add(-7_200_000)
      if restarts { deliverer = MailDeliverer(village.community, village.mailDeliverer.service) }
      village.mailReceiver.answer(with: .accepted)
      let first = await mail()
      clock.add(Int(2 * MailDeliverer.firstDelay))
      let second = await mail()
      #expect(first + second == 1)
      #expect(await mail() == 0)
    }
  }

  @Test func `a full queue drops digests, then the oldest notifications, and counts them`() async throws {
    try await open { village, clock, _ in
      try await village.confirmEmail("linus@example.org", of: "linus")
      var bounds = MailQueueBounds()
      (bounds.ofUser, bounds.ofSite) = (4, 6)
      let deliverer = MailDeliverer(village.community, village.mailDeliverer.service, bounds: bounds)
      // The mail server is down, so mail waits.
      village.mailReceiver.answer(with: .unreachable("refused"))
      func queue(_ name: String, _ count: Int) async throws {
        let user = village.user(name)
        for _ in 0..<count {
          try await village.community.store.write { tx throws(Refusal) in
            try tx.addNotification(.warning, of: user, by: user)
          }
          clock.add(1)
        }
      }
      func waiting(_ name: String) async throws -> [String] {
        try await village.rows(
          """
          select kind || iif(address is null, '', ' ' || address)
          from mail_delivery
          where sent_at is null and user_id = \(village.user(name).number)
          order by id
          """)
      }
      try await village.community.store.write { [grace = village.user("grace")] tx throws(Refusal) in
        try tx.enqueueDigest(of: grace)
        try tx.addNotification(.token, of: grace, by: grace)
      }
      try await queue("grace", 3)
      clock.add(Self.delay)
      await deliverer.round()
      // The digest has made room, though it is not the oldest.
      #expect(await deliverer.droppedCount == 1)
      #expect(
        try await waiting("grace")
          == ["notification grace@example.org", "notification", "notification", "notification"])
      let newest = try await village.rows("select topic from mail_delivery order by id desc limit 1")
      try await queue("grace", 2)
      clock.add(Self.delay)
      await deliverer.round()
      #expect(await deliverer.droppedCount == 3)
      let left = try await village.rows("select topic from mail_delivery where sent_at is null order by id")
      #expect(left.count == 4)
      #expect(left.contains(try #require(newest.first)))
      #expect(try await waiting("grace").first == "notification grace@example.org")
      // The bound of the site.
      try await queue("linus", 4)
      clock.add(Self.delay)
      await deliverer.round()
      #expect(await deliverer.droppedCount == 5)
      #expect(try await waiting("grace").count + waiting("linus").count == 6)
      #expect(try await waiting("grace").first == "notification grace@example.org")
    }
  }

  @Test func `a long time without mail is skipped in bounded reads`() async throws {
    try await open { village, clock, room in
      try await village.post("hello @grace", in: room, as: "ada")
      let store = village.community.store
      let old = try await store.readInBackground { tx throws(Refusal) in
        try tx.mailWindow(until: tx.now, limit: MailDeliverer.windowLength)
      }
      #expect(old.end > old.last)
      for _ in 0..<12 { try await village.post("hello @grace", in: room, as: "ada") }
      let bounded = try await store.readInBackground { tx throws(Refusal) in try tx.mailWindow(until: tx.now, limit: 5)
      }
      #expect(bounded.last < bounded.end)
      let whole = try await store.readInBackground { tx throws(Refusal) in try tx.mailWindow(until: tx.now, limit: 50) }
      #expect(bounded.end < whole.end)
      clock.add(10 * 86_400_000)
      #expect(await village.mail().isEmpty)
      let after = try await store.readInBackground { tx throws(Refusal) in try tx.mailWindow(until: tx.now, limit: 50) }
      #expect(after.last == whole.end && after.end == whole.end)
    }
  }

  @Test func `three refusals of an address stop mail to it`() async throws {
    try await open { village, clock, _ in
      let refusal = MailOutcome.refused(MailReply(code: 550, text: "no such user", isRecipient: true))
      village.mailReceiver.answer(with: refusal)
      for number in 1...3 {
        try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "app \(number)", "scope": "write"])
        #expect(await village.mail().count == 1)
      }
      #expect(try await !village.expect(200, .get, "/me/email", as: "grace").isNull("stopped_at"))
      village.mailReceiver.answer(with: .accepted)
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "app 4", "scope": "write"])
      #expect(await village.mail().isEmpty)
      // The same address can be confirmed again.
      try await village.confirmEmail("grace@example.org", of: "grace")
      #expect(try await village.expect(200, .get, "/me/email", as: "grace").isNull("stopped_at"))
    }
  }

  @Test func `a link in the mail unsubscribes with one POST`() async throws {
    try await open { village, clock, room in
      try await village.post("hello @grace", in: room, as: "ada")
      clock.add(Self.delay)
      let path = try #require(await village.mail().first?.unsubscribe?.dropFirst("https://example.org".count))
      let page = try await village.page(String(path))
      #expect(page.status == 200 && page.text.contains("<form"))
      #expect(
        try await village.expect(200, .get, "/me/notifications", as: "grace").text.contains(
          "\"mail\":{\"mention\":true"))
      #expect(try await village.submit(String(path), "List-Unsubscribe=One-Click").status == 200)
      let settings = try await village.expect(200, .get, "/me/notifications", as: "grace").text
      #expect(settings.contains("\"mail\":{\"mention\":false"))
      #expect(try await village.submit(path.dropLast() + "x", "").status == 404)
    }
  }

  @Test func `staff sends a test`() async throws {
    try await open { village, _, _ in
      let body = ["address": "ops@example.org"]
      try await village.expect(403, .post, "/settings/mail-test", as: "grace", body)
      #expect(try await village.expect(200, .post, "/settings/mail-test", as: "ada", body)["outcome"] == "accepted")
      #expect(village.mailReceiver.take().map(\.to.description) == ["ops@example.org"])
      village.mailReceiver.answer(with: .signInRefused(MailReply(code: 535, text: "wrong password")))
      let refused = try await village.expect(200, .post, "/settings/mail-test", as: "ada", body)
      #expect(refused["outcome"] == "sign_in_refused" && refused["detail"]?.contains("535") == true)
    }
  }

  @Test func `mail is in the language of the user`() async throws {
    try await open { village, clock, room in
      try await village.expect(200, .patch, "/users/me", as: "grace", ["preferences": ["language": "ar"]])
      try await village.post("hello @grace", in: room, as: "ada")
      clock.add(Self.delay)
      let sent = try #require(await village.mail().first)
      #expect(sent.language == "ar" && sent.html?.contains("dir=\"rtl\"") == true)
    }
  }
}
