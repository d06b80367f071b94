import Foundation
import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import PubSub
@testable import Storage
@testable import WebPush

@Suite struct PushDeliveryTests {
  /// Grace has a device and is mentioned in a room.
  private func open(
    clock: StoppedClock = StoppedClock(),
    _ body: (Village, PushReceiver.Device, _ room: String) async throws -> Void
  ) async throws {
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      let (device, _) = try await village.subscribe("grace")
      try await body(village, device, room)
    }
  }

  @Test func `a mention reaches the device`() async throws {
    try await open { village, device, room in
      let message = try await village.post("Bring the **key**, @grace", in: room, as: "ada")
      let requests = await village.push()
      try #require(requests.count == 1)
      #expect(requests[0].endpoint == device.endpoint)
      #expect(requests[0]["Urgency"] == "high" && requests[0]["TTL"] == "86400" && requests[0]["Topic"]?.count == 32)
      let shown = try device.open(requests[0])
      #expect(shown.int("web_push") == 8_030)
      #expect(shown["notification.title"] == "ada" && shown["notification.body"] == "Bring the key, @grace")
      #expect(shown["notification.navigate"] == "https://example.org/m/\(message)")
      #expect(shown["notification.tag"] == "c\(room)" && shown.int("notification.app_badge") == 1)
      #expect(shown["notification.data.kind"] == "mention" && shown["notification.data.message_id"] == message)
      #expect(shown["notification.data.sender"] == "ada" && shown.int("notification.data.revision") == 1)
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
      // The push message is sent once.
      #expect(await village.push().isEmpty)
      #expect(
        try await village.expect(200, .get, "/me/push-subscriptions", as: "grace").isNull("data.0.last_sent_at")
          == false)
    }
  }

  @Test(
    arguments: [
      (.secondFactorDisabled, "grace", nil, "You turned off two-step sign-in. Not you? Change your password."),
      (.secondFactorDisabled, "ada", nil, "ada turned off your two-step sign-in"),
      (.report, "linus", nil, "linus reported a message"), (.report, nil, nil, "There is a new report to review"),
      (.alert, nil, "clock_step", "The clock of the server was changed."),
      (.alert, nil, "unheard_of", "The server needs attention."),
    ] as [(ParleyModel.Notification.Kind, String?, String?, String)])
  func `a notice says who did it`(
    kind: ParleyModel.Notification.Kind, actor: String?, alert: String?, sentence: String
  ) async throws {
    try await open { village, device, _ in
      let (grace, actor) = (village.user("grace"), actor.map { village.user($0) })
      try await village.community.store.write { tx throws(Refusal) in
        try tx.addNotification(kind, of: grace, alert: alert, by: actor)
      }
      #expect(try device.open(try #require(await village.push().first))["notification.body"] == sentence)
    }
  }

  @Test func `a notice of a sign-in opens the list of sign-ins with its session`() async throws {
    try await open { village, device, _ in
      // The first device of a user is not a new one.
      try await village.signIn("grace", "grace’s password", on: "laptop")
      _ = await village.push()
      let session = try #require(try await village.signIn("grace", "grace’s password", on: "phone")["id"])
      let shown = try device.open(try #require(await village.push().first))
      #expect(shown["notification.navigate"] == "https://example.org/you/signins?session=\(session)")
    }
  }

  @Test func `time to live and urgency depend on the kind`() async throws {
    try await open { village, _, room in
      func sent() async throws -> [String?] {
        let request = try #require(await village.push().first)
        return [request["TTL"], request["Urgency"]]
      }
      try await village.post("@grace", in: room, as: "ada")
      #expect(try await sent() == ["86400", "high"])
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "script", "scope": "read"])
      #expect(try await sent() == ["604800", "normal"])
      let (_, kitchen) = try await village.garden("kitchen", members: ["grace"])
      try await village.post("@room", in: kitchen, as: "ada")
      #expect(try await sent() == ["14400", "low"])
    }
  }

  @Test func `what is not notified is not pushed`() async throws {
    try await open { village, _, room in
      try await village.post("hello", in: room, as: "ada")
      #expect(await village.push().isEmpty)
    }
  }

  @Test(arguments: ["text", "sender", "nothing"])
  func `the user decides what it shows`(choice: String) async throws {
    try await open { village, device, room in
      try await village.expect(200, .patch, "/me/notifications", as: "grace", ["push_shows": choice])
      try await village.post("a secret for @grace", in: room, as: "ada")
      let shown = try device.open(try #require(await village.push().first))
      let site = try await village.expect(200, .get, "/settings", as: "ada")["name"]
      #expect(shown["notification.title"] == (choice == "nothing" ? site : "ada"))
      #expect(shown["notification.body"] == (choice == "text" ? "a secret for @grace" : "New message"))
      #expect(shown.isNull("notification.data.sender") == (choice == "nothing"))
    }
  }

  @Test(arguments: [
    ("sender", "text", "sender"), ("sender", "nothing", "nothing"), ("nothing", "text", "nothing"),
    ("text", "sender", "sender"),
  ]) func `the site bounds what is shown`(most: String, choice: String, shown: String) async throws {
    try await open { village, device, room in
      try await village.changeSettings(["push_shows": most])
      try await village.expect(200, .patch, "/me/notifications", as: "grace", ["push_shows": choice])
      try await village.post("a secret for @grace", in: room, as: "ada")
      let message = try device.open(try #require(await village.push().first))
      #expect(message["notification.body"] == "New message")
      #expect((message["notification.title"] == "ada") == (shown == "sender"))
    }
  }

  @Test(arguments: ["ar", "ar-EG", "xx", nil]) func `texts of the server are in the language of the device`(
    language: String?
  ) async throws {
    try await Village.open(.inMemory) { village in
      let device = try PushReceiver.Device("one")
      var draft = device.draft
      draft["language"] = language
      try await village.expect(201, .post, "/me/push-subscriptions", as: "grace", draft)
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "script", "scope": "read"])
      let shown = try device.open(try #require(await village.push().first))
      let words = Village.languages.words(in: language?.hasPrefix("ar") == true ? "ar" : "en")
      #expect(shown["notification.body"] == words[.inboxToken])
      #expect(shown["notification.navigate"] == "https://example.org/you/tokens")
    }
  }

  /// Changes between the notification and its round.
  enum Change: CaseIterable, Sendable { case read, deleted, muted, blocked, quiet, removed, banned, signedOut, ended }

  @Test(arguments: Change.allCases) func `a message that no longer concerns the user is not sent`(
    change: Change
  ) async throws {
    try await open { village, _, room in
      let message = try await village.post("@grace", in: room, as: "linus")
      switch change {
      case .read:
        try await village.expect(200, .put, "/conversations/\(room)/read", as: "grace", ["message_id": message])
      case .deleted: try await village.request(.delete, "/messages/\(message)", as: "linus")
      case .muted: try await village.setRelation("grace", "mute", "linus")
      case .blocked: try await village.setRelation("grace", "block", "linus")
      case .quiet:
        try await village.expect(200, .put, "/conversations/\(room)/level", as: "grace", ["level": "nothing"])
      case .removed:
        let forum = try await village.rows("select cast(forum_id as text) from conversation where id = \(room)")[0]
        try await village.expect(204, .delete, "/forums/\(forum)/members/@grace", as: "ada")
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
      case .banned: try await village.setState("grace", in: .disabled)
      case .signedOut: try await village.expect(204, .delete, "/sessions/current", as: "grace")
      case .ended:
        let list = try await village.expect(200, .get, "/me/push-subscriptions", as: "grace")
        try await village.expect(204, .delete, "/me/push-subscriptions/\(list["data.0.id"] ?? "")", as: "grace")
      }
      #expect(await village.push().isEmpty)
      #expect(try await village.rows("select id from push_delivery").isEmpty)
    }
  }

  /// Settings that hold a mention back.
  enum Silence: CaseIterable, Sendable {
    case paused, snoozed, quiet, kind

    var settings: [String: Any] {
      switch self {
      case .paused: ["paused": true]
      // The clock of the tests stands on 2027-01-15.
      case .snoozed: ["snoozed_until": "2027-01-20T00:00:00Z"]
      case .quiet: ["quiet_hours": ["from": "00:00", "to": "23:59", "time_zone": "Europe/Berlin"]]
      case .kind: ["push": ["mention": false]]
      }
    }
  }

  @Test(arguments: Silence.allCases) func `settings hold messages back, and the inbox keeps them`(
    silence: Silence
  ) async throws {
    try await open { village, device, room in
      try await village.expect(200, .patch, "/me/notifications", as: "grace", silence.settings)
      try await village.post("@grace", in: room, as: "linus")
      #expect(await village.push().isEmpty)
      #expect(try await village.rows("select cast(id as text) from push_delivery").isEmpty)
      #expect(try await village.expect(200, .get, "/inbox?unread=true", as: "grace").count("data") == 1)
      // Security notices are always sent.
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "script", "scope": "read"])
      #expect(await village.push().count == 1)
      // A suppressed message is not sent later.
      try await village.expect(
        200, .patch, "/me/notifications", as: "grace",
        ["paused": false, "snoozed_until": NSNull(), "quiet_hours": NSNull(), "push": [String: Any]()])
      #expect(await village.push().isEmpty)
      try await village.post("@grace again", in: room, as: "linus")
      #expect(await village.push().count == 1)
    }
  }

  /// 2027-03-28 at 01:00 UTC, clocks in Berlin go from 02:00 to 03:00; on 2027-10-31 from 03:00 to 02:00.
  @Test(arguments: [
    ("2027-03-27T05:59:59Z", false), ("2027-03-27T06:00:00Z", true), ("2027-03-28T04:59:59Z", false),
    ("2027-03-28T05:00:00Z", true), ("2027-10-31T05:00:00Z", false), ("2027-10-31T05:59:59Z", false),
    ("2027-10-31T06:00:00Z", true), ("2027-10-30T19:59:59Z", true), ("2027-10-30T20:00:00Z", false),
  ]) func `quiet hours follow the clock of the user`(time: String, isSent: Bool) async throws {
    let clock = StoppedClock()
    let date = try #require(ISO8601DateFormatter().date(from: time))
    clock.add(Int(date.timeIntervalSince1970) * 1_000 - Int(clock.read()))
    try await open(clock: clock) { village, _, room in
      let hours = ["from": "22:00", "to": "07:00", "time_zone": "Europe/Berlin"]
      try await village.expect(200, .patch, "/me/notifications", as: "grace", ["quiet_hours": hours])
      try await village.post("@grace", in: room, as: "linus")
      #expect(await village.push().count == (isSent ? 1 : 0))
    }
  }

  @Test func `a device in use gets ten seconds to read it`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, _, room in
      let device = ObjectIdentifier(village)
      village.community.hub.note(device, of: village.user("grace"), showing: [])
      let message = try await village.post("@grace", in: room, as: "ada")
      #expect(await village.push().isEmpty)
      clock.add(9_000)
      #expect(await village.push().isEmpty)
      clock.add(1_000)
      #expect(await village.push().count == 1)
      // Read on the device in use.
      try await village.expect(200, .put, "/conversations/\(room)/read", as: "grace", ["message_id": message])
      clock.add(60_000)
      let other = try await village.post("@grace again", in: room, as: "ada")
      #expect(await village.push().isEmpty)
      try await village.expect(200, .put, "/conversations/\(room)/read", as: "grace", ["message_id": other])
      clock.add(10_000)
      #expect(await village.push().isEmpty)
      // Without a device in use at once.
      village.community.hub.note(device, of: village.user("grace"), showing: nil)
      clock.add(60_000)
      try await village.post("@grace at last", in: room, as: "ada")
      #expect(await village.push().count == 1)
    }
  }

  @Test func `a conversation on the screen of a device sends no push messages until the user leaves it`() async throws {
    let clock = StoppedClock()
    try await Village.open(.socket, clock: clock.read) { village in
      let (_, room) = try await village.garden(members: ["grace"])
      _ = try await village.subscribe("grace")
      let laptop = try village.connect(as: "grace")
      func show(_ state: String, _ conversations: [String]?) async throws {
        var command: [String: Any] = ["do": "presence", "state": state]
        command["conversation_ids"] = conversations
        #expect(try await laptop.request(command).bool("ok") == true)
      }
      func wait() async -> Int {
        clock.add(Int(PushDeliverer.onlineDelay))
        return await village.push().count
      }
      try await show("online", [room])
      let seen = try await village.post("@grace", in: room, as: "ada")
      #expect(await village.push().isEmpty)
      for _ in 1...20 { #expect(await wait() == 0) }
      // Another conversation is not on the screen.
      let (_, kitchen) = try await village.garden("kitchen", members: ["grace"])
      try await village.post("@grace", in: kitchen, as: "ada")
      #expect(await village.push().isEmpty)
      #expect(await wait() == 1)
      // A message that is read there is never sent.
      try await village.expect(200, .put, "/conversations/\(room)/read", as: "grace", ["message_id": seen])
      #expect(await wait() == 0)
      #expect(try await village.rows("select topic from push_delivery where topic = 'c\(room)'").isEmpty)
      // The others are sent after the user has left: for another page, or the device.
      for (state, conversations) in [("online", [kitchen]), ("online", nil), ("away", [room])] {
        try await show("online", [kitchen, room])
        try await village.post("@grace again", in: room, as: "ada")
        #expect(await wait() == 0)
        #expect(await wait() == 0)
        try await show(state, conversations)
        #expect(await wait() == 1, "\(state) \(String(describing: conversations))")
        clock.add(Int(PushDeliverer.topicInterval))
        _ = await village.push()
      }
      // And after the end of the connection.
      try await show("online", [room])
      try await village.post("@grace at last", in: room, as: "ada")
      #expect(await wait() == 0)
      laptop.leave()
      let grace = village.user("grace")
      try await waitUntil { !village.community.hub.isInUse(by: grace) }
      #expect(await wait() == 1)
    }
  }

  @Test func `messages of a conversation are gathered for thirty seconds`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, device, room in
      try await village.post("@grace one", in: room, as: "ada")
      try await village.post("@grace two", in: room, as: "ada")
      let first = await village.push()
      try #require(first.count == 1)
      let shown = try device.open(first[0])
      #expect(shown["notification.body"] == "@grace two" && shown["notification.title"] == "2 new from ada in garden")
      try await village.post("@grace three", in: room, as: "ada")
      try await village.post("@grace four", in: room, as: "ada")
      clock.add(29_000)
      #expect(await village.push().isEmpty)
      // Another conversation does not wait.
      let (_, other) = try await village.garden("kitchen", members: ["grace"])
      try await village.post("@grace", in: other, as: "ada")
      #expect(await village.push().count == 1)
      clock.add(1_000)
      let second = await village.push()
      try #require(second.count == 1)
      #expect(try device.open(second[0])["notification.body"] == "@grace four")
      #expect(second[0]["Topic"] == first[0]["Topic"])
    }
  }

  @Test func `several unread messages are counted, with what the user shows`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, device, room in
      try await village.post("@grace one", in: room, as: "ada")
      try await village.post("@grace two", in: room, as: "linus")
      func title() async throws -> String? {
        clock.add(30_000)
        try await village.post("@grace", in: room, as: "ada")
        return try device.open(try #require(await village.push().first))["notification.title"]
      }
      #expect(try await title() == "3 new in garden")
      try await village.expect(200, .patch, "/me/notifications", as: "grace", ["push_shows": "sender"])
      #expect(try await title() == "4 new messages")
      try await village.expect(200, .patch, "/me/notifications", as: "grace", ["push_shows": "nothing"])
      #expect(try await title()?.contains("new") == false)
    }
  }

  @Test func `every device of the user gets it`() async throws {
    try await open { village, _, room in
      let (tablet, _) = try await village.subscribe("grace", "tablet")
      try await village.post("@grace", in: room, as: "ada")
      let requests = await village.push()
      #expect(Set(requests.map(\.endpoint)) == ["https://push.example.net/grace", tablet.endpoint])
      #expect(Set(requests.map { $0["Topic"] }).count == 2)
    }
  }

  // MARK: The queue

  @Test func `a post writes no row of the queue, and the next round writes them all`() async throws {
    try await open { village, _, room in
      _ = try await village.subscribe("linus")
      _ = try await village.subscribe("grace", "tablet")
      func queued() async throws -> Int { try await village.rows("select cast(id as text) from push_delivery").count }
      try await village.post("@grace and @linus", in: room, as: "ada")
      #expect(try await queued() == 0)
      try await village.pushDeliverer.queueNotifications()
      #expect(try await queued() == 3)
      // Another worker, after a restart, neither repeats nor misses one.
      try await village.post("@linus", in: room, as: "grace")
      let next = PushDeliverer(village.community, village.pushDeliverer.service)
      await next.round()
      await next.finish()
      #expect(village.pushReceiver.take().count == 3)
    }
  }

  @Test func `a device gets no notification of before, and none of more than a day ago`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, _, room in
      try await village.post("@grace and @linus", in: room, as: "ada")
      clock.add(1_000)
      _ = try await village.subscribe("linus")
      #expect(await village.push().map(\.endpoint) == ["https://push.example.net/grace"])
      try await village.post("@linus", in: room, as: "ada")
      // The site was without push for a day.
      clock.add(Int(PushDeliverer.maxAge))
      #expect(await village.push().isEmpty)
      #expect(try await village.rows("select topic from push_delivery where notification_id is not null").isEmpty)
    }
  }

  @Test func `a clock that was set back costs no message and no wait`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, _, room in
      clock.add(-7_200_000)
      try await village.post("@grace", in: room, as: "ada")
      #expect(await village.push().count == 1)
      // Between two messages of a conversation.
      clock.add(-7_200_000)
      try await village.post("@grace again", in: room, as: "ada")
      #expect(await village.push().isEmpty)
      clock.add(Int(PushDeliverer.topicInterval))
      #expect(await village.push().count == 1)
      // Between the notification and its round, with a device in use.
      let device = ObjectIdentifier(village)
      village.community.hub.note(device, of: village.user("grace"), showing: [])
      clock.add(60_000)
      #expect(await village.push().isEmpty)
      try await village.post("@grace at last", in: room, as: "ada")
      clock.add(-7_200_000)
      #expect(await village.push().isEmpty)
      clock.add(Int(PushDeliverer.onlineDelay))
      #expect(await village.push().count == 1)
    }
  }

  @Test func `a clock that was set back while the server was off costs no wait`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, _, room in
      try await village.post("@grace", in: room, as: "ada")
      #expect(await village.push().count == 1)
      clock.add(-7_200_000)
      try await village.post("@grace again", in: room, as: "ada")
      let restarted = PushDeliverer(village.community, village.pushDeliverer.service)
      await restarted.round()
      await restarted.finish()
      let waiting = "select topic from push_delivery where notification_id is not null"
      #expect(try await village.rows(waiting).count == 1)
      clock.add(Int(PushDeliverer.topicInterval))
      await restarted.round()
      await restarted.finish()
      #expect(try await village.rows(waiting).isEmpty)
    }
  }

  @Test func `a round composes no more messages than it may send`() async throws {
    try await open { village, _, room in
      for number in 1...3 { _ = try await village.subscribe("grace", "device\(number)") }
      try await village.post("@grace", in: room, as: "ada")
      try await village.pushDeliverer.queueNotifications()
      #expect(try await village.pushDeliverer.steps(limit: 2).count == 2)
      #expect(await village.push().count == 4)
    }
  }

  @Test func `the queue of the whole site is bounded, later additions included`() async throws {
    try await open { village, _, room in
      var bounds = PushQueueBounds()
      bounds.ofSite = 2
      let deliverer = PushDeliverer(village.community, village.pushDeliverer.service, bounds: bounds)
      village.pushReceiver.answer(with: .busy(retryAfter: nil))
      await deliverer.round()
      func make(_ name: String) async throws {
        try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": name, "scope": "read"])
      }
      for number in 1...3 { try await make("\(number)") }
      await deliverer.round()
      await deliverer.finish()
      #expect(await deliverer.droppedCount == 1)
      try await make("4")
      await deliverer.round()
      await deliverer.finish()
      #expect(await deliverer.droppedCount == 2)
      #expect(try await village.rows("select topic from push_delivery where notification_id is not null").count == 2)
    }
  }

  @Test func `the number on the icon is that of the app`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, device, room in
      try await village.addUser("ben")
      let (_, kitchen) = try await village.garden("kitchen", members: ["grace", "linus", "ben"])
      let direct = try await village.conversation("direct", by: "ada", with: ["grace"])
      let muted = try await village.conversation("direct", by: "linus", with: ["grace"])
      let blocked = try await village.conversation("direct", by: "ben", with: ["grace"])
      for text in ["one", "two"] { try await village.post(text, in: direct, as: "ada") }
      try await village.post("one", in: muted, as: "linus")
      try await village.post("one", in: blocked, as: "ben")
      for text in ["@grace one", "@grace two"] { try await village.post(text, in: kitchen, as: "linus") }
      try await village.post("seen by @grace, later", in: room, as: "ada")
      try await village.expect(200, .put, "/conversations/\(muted)/level", as: "grace", ["level": "nothing"])
      try await village.setRelation("grace", "block", "ben")
      try await village.expect(
        200, .put, "/conversations/\(room)/later", as: "grace", ["until": "2027-01-20T00:00:00Z"])
      _ = await village.push()
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "script", "scope": "read"])
      let shown = try device.open(try #require(await village.push().last))
      // Two messages of ada, the kitchen, and the notice.
      #expect(shown.int("notification.app_badge") == 4)
      // The web app counts the same (`unreadCounts`).
      let list = try await village.expect(200, .get, "/unread", as: "grace")
      let called = list.texts("data", "kind").indices.filter {
        (list.int("data.\($0).mentions") ?? 0) + (list.int("data.\($0).replies") ?? 0) > 0
      }
      let own = try await village.expect(200, .get, "/conversations", as: "grace")
      let unread = own.texts("data", "kind").enumerated().map { index, kind in
        kind == "direct" && own["data.\(index).level"] != "nothing" ? own.int("data.\(index).unread_count") ?? 0 : 0
      }
      #expect(called.count + list.count("notifications") + unread.reduce(0, +) == 4, "\(list.text) \(own.text)")
    }
  }

  @Test func `more notifications than one window are queued in order`() async throws {
    try await open { village, _, room in
      let count = PushDeliverer.windowLength + 20
      try await village.community.store.write { [user = village.user("grace")] tx throws(Refusal) in
        for _ in 0..<count { try tx.addNotification(.token, of: user, by: user) }
      }
      try await village.pushDeliverer.queueNotifications()
      #expect(try await village.rows("select topic from push_delivery").count == count)
      let last = try await village.rows("select cast(last_notification as text) from push_state")
      #expect(try await village.rows("select cast(max(id) as text) from notification") == last)
    }
  }

  // MARK: Answers of push services

  @Test func `a device that is gone loses its subscription`() async throws {
    try await open { village, _, room in
      village.pushReceiver.answer(with: .gone)
      try await village.post("@grace", in: room, as: "ada")
      #expect(await village.push().count == 1)
      #expect(try await village.expect(200, .get, "/me/push-subscriptions", as: "grace").count("data") == 0)
    }
  }

  @Test func `a message that is too long is sent shorter, then dropped`() async throws {
    try await open { village, device, room in
      village.pushReceiver.answer(with: .tooLarge)
      try await village.post("@grace " + String(repeating: "long ", count: 600), in: room, as: "ada")
      let long = await village.push()
      let short = await village.push()
      #expect(long.map(\.body.count) == [3_072 + 103] && short.map(\.body.count) == [1_024 + 103])
      #expect(try device.open(short[0])["notification.body"]?.hasSuffix("…") == true)
      #expect(await village.push().isEmpty)
    }
  }

  @Test func `a refused message is not repeated`() async throws {
    try await open { village, _, room in
      village.pushReceiver.answer(with: .refused(status: 400, words: "no"))
      try await village.post("@grace", in: room, as: "ada")
      #expect(await village.push().count == 1)
      #expect(try await village.rows("select id from push_delivery").isEmpty)
    }
  }

  @Test func `a busy service gets nothing until the time that it names`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, _, room in
      village.pushReceiver.answer(with: .busy(retryAfter: 120))
      try await village.post("@grace", in: room, as: "ada")
      #expect(await village.push().count == 1)
      village.pushReceiver.answer(with: .accepted)
      let (_, other) = try await village.garden("kitchen", members: ["grace"])
      try await village.post("@grace", in: other, as: "ada")
      clock.add(119_000)
      #expect(await village.push().isEmpty)
      clock.add(1_000 + Int(PushDeliverer.firstDelay))
      #expect(await village.push().count == 2)
    }
  }

  @Test func `a service without an answer is tried again for a day, less and less often`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, _, room in
      village.pushReceiver.answer(with: .unreachable)
      try await village.post("@grace", in: room, as: "ada")
      var times: [Int] = []
      for second in stride(from: 0, through: 100_000, by: 50) {
        for _ in await village.push() { times.append(second) }
        clock.add(50_000)
      }
      let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
      #expect(times.count > 10 && times.count < 60, "\(times)")
      #expect(gaps.max() ?? 0 > 3_000 && gaps.max() ?? 0 < 3_800, "\(gaps)")
      #expect(times.last ?? 0 < 86_400)
      #expect(try await village.rows("select id from push_delivery").isEmpty)
    }
  }

  @Test func `a user has four requests under way`() async throws {
    let clock = StoppedClock()
    try await open(clock: clock) { village, _, room in
      for number in 1...5 { _ = try await village.subscribe("grace", "device\(number)") }
      try await village.post("@grace", in: room, as: "ada")
      #expect(await village.push().count == 4)
      #expect(await village.push().isEmpty)
      clock.add(Int(PushDeliverer.busyDelay))
      #expect(await village.push().count == 2)
    }
  }

  @Test func `a stop before the answer repeats the message`() async throws {
    try await open { village, _, room in
      try await village.post("@grace", in: room, as: "ada")
      // The request was sent, and the process ended.
      try await village.pushDeliverer.queueNotifications()
      let due = try await village.community.store.readInBackground { tx throws(Refusal) in try tx.duePushes(limit: 9) }
      #expect(due.count == 1)
      let next = PushDeliverer(village.community, village.pushDeliverer.service)
      await next.round()
      await next.finish()
      #expect(village.pushReceiver.take().count == 1)
    }
  }

  @Test func `a full queue drops the least urgent, then the oldest, and counts them`() async throws {
    try await open { village, _, room in
      var bounds = PushQueueBounds()
      bounds.ofUser = 2
      let deliverer = PushDeliverer(village.community, village.pushDeliverer.service, bounds: bounds)
      village.pushReceiver.answer(with: .busy(retryAfter: nil))
      try await village.post("@grace", in: room, as: "ada")
      for number in 1...3 {
        try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "\(number)", "scope": "read"])
      }
      await deliverer.round()
      await deliverer.finish()
      #expect(await deliverer.droppedCount == 2)
      #expect(village.pushReceiver.take().count == 2)
      let left = try await village.rows("select topic from push_delivery where notification_id is not null order by id")
      #expect(left.count == 2 && left.contains("c\(room)"))
    }
  }
}
