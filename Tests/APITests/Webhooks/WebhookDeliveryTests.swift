import Foundation
import ParleyModel
import ParleySQLite
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Deliveries of outgoing webhooks to a server on this machine.
@Suite struct WebhookDeliveryTests {
  /// A village with fast retries, and a receiver.
  private static func open(
    bounds: Bounds = quick, clock: @escaping @Sendable () -> Int64 = Village.ticking,
    _ body: (Village, WebhookReceiver) async throws -> Void
  ) async throws {
    try await WebhookReceiver.open { receiver in
      try await Village.open(.inMemory, bounds: bounds, receiver: receiver, clock: clock) { village in
        try await body(village, receiver)
      }
    }
  }

  private static let quick: Bounds = {
    var bounds = Bounds()
    (bounds.webhookRetryDelay, bounds.webhookMaxRetryDelay) = (10, 10)
    return bounds
  }()

  private static func create(
    _ topics: [String], _ receiver: WebhookReceiver, _ more: [String: Any] = [:], as name: String = "ada",
    in village: Village
  ) async throws -> (id: String, secret: String) {
    try await WebhookEndpointTests.create(
      topics, ["url": receiver.url].merging(more) { $1 }, as: name, in: village)
  }

  @Test func `events are sent in order, signed, as the socket sends them`() async throws {
    try await Self.open { village, receiver in
      let (forum, room) = try await village.garden(members: ["grace"])
      let (id, secret) = try await Self.create(["forum:\(forum)/messages"], receiver, in: village)
      for number in 1...20 { try await village.post("rose \(number)", in: room, as: "grace") }
      let received = try await receiver.wait(for: 20)
      #expect(receiver.texts == (1...20).map { "rose \($0)" })
      let first = received[0]
      #expect(first.type == "message.created" && first.data["event"] as? String == "message.created")
      #expect(first.data["stream"] as? String == "conversation:\(room)" && first.data["cursor"] is String)
      #expect(first.json["timestamp"] as? String == first.data["at"] as? String)
      #expect(first.fields["content-type"] == "application/json")
      for request in received { #expect(try request.verifications(by: secret) == [true]) }
      #expect(Set(received.map(\.id)).count == 20)
      try await waitUntil {
        try await village.request(.get, "/webhook-endpoints/\(id)/deliveries", as: "ada").count("data") == 20
      }
      let log = try await village.request(.get, "/webhook-endpoints/\(id)/deliveries", as: "ada")
      #expect(log["data.0.state"] == "delivered" && log.int("data.0.status") == 204)
      #expect(log["data.0.webhook_id"] == received[19].id && log["data.0.type"] == "message.created")
      #expect(try await village.request(.get, "/webhook-endpoints/\(id)", as: "ada")["last_delivered_at"] != nil)
      // The cursor of an event is one of the site.
      let cursor = first.data["cursor"] as? String ?? ""
      let rest = try await village.request(.get, "/sync?topics=conversation:\(room)&after=\(cursor)", as: "ada")
      #expect(rest.count("data") == 19, "\(rest.text)")
    }
  }

  @Test func `only the chosen kinds are sent, and only what the owner may read`() async throws {
    try await Self.open { village, receiver in
      try await village.addUser("alma", .admin)
      let (forum, room) = try await village.garden("roses", "private", members: ["alma"])
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      _ = try await Self.create(
        ["forum:\(forum)/messages", "me"], receiver, ["events": ["message.created"]], as: "alma", in: village)
      try await village.post("one", in: room)
      try await village.post("hidden", in: group, as: "grace")
      try await village.expect(204, .delete, "/forums/\(forum)/members/@alma", as: "ada")
      try await village.post("two", in: room)
      try await village.expect(200, .put, "/forums/\(forum)/members/@alma", as: "ada")
      try await village.post("three", in: room)
      try await waitUntil { receiver.texts.last == "three" }
      #expect(!receiver.texts.contains("hidden"))
      #expect(receiver.received.allSatisfy { $0.type == "message.created" })
    }
  }

  @Test func `a lost right ends the delivery of what waits`() async throws {
    try await Self.open { village, receiver in
      try await village.addUser("alma", .admin)
      let (forum, room) = try await village.garden("roses", "private", members: ["alma"])
      let (other, otherRoom) = try await village.garden("tulips", "private", members: ["alma"])
      receiver.answer(503)
      _ = try await Self.create(
        ["forum:\(forum)/messages", "forum:\(other)/messages"], receiver, ["events": ["message.created"]], as: "alma",
        in: village)
      try await village.post("one", in: room)
      _ = try await receiver.wait(for: 2)
      try await village.expect(204, .delete, "/forums/\(forum)/members/@alma", as: "ada")
      try await village.post("two", in: room)
      let count = receiver.received.count
      receiver.answer(204)
      // Events are sent in order: this one comes after all attempts for the others.
      try await village.post("three", in: otherRoom)
      try await waitUntil { receiver.texts.last == "three" }
      // At most one attempt was on its way.
      #expect(receiver.received.count <= count + 2)
      #expect(!receiver.texts.contains("two"))
    }
  }

  @Test func `a failed event is repeated with the same id before the next one`() async throws {
    try await Self.open { village, receiver in
      let (forum, room) = try await village.garden()
      receiver.answer { WebhookReceiver.Reply(status: $0 <= 3 ? 500 : 200) }
      let id = try await Self.create(["forum:\(forum)/messages"], receiver, in: village).id
      try await village.post("one", in: room)
      try await village.post("two", in: room)
      let received = try await receiver.wait(for: 5)
      #expect(receiver.texts == ["one", "one", "one", "one", "two"])
      #expect(Set(received.prefix(4).map(\.id)).count == 1)
      try await waitUntil {
        try await village.request(.get, "/webhook-endpoints/\(id)/deliveries", as: "ada").count("data") == 5
      }
      let log = try await village.request(.get, "/webhook-endpoints/\(id)/deliveries", as: "ada")
      #expect(log.texts("data", "state") == ["delivered", "delivered", "failed", "failed", "failed"])
      #expect(log.int("data.1.attempt") == 4 && log.int("data.4.status") == 500)
      #expect(try await village.request(.get, "/webhook-endpoints/\(id)", as: "ada")["failing_since"] == nil)
    }
  }

  @Test func `a redirect is a failure and is not followed`() async throws {
    try await Self.open { village, receiver in
      let (forum, room) = try await village.garden()
      receiver.answer { number in
        number == 1 ? .init(status: 307, fields: ["Location": "/hook"]) : .init(status: 204)
      }
      let id = try await Self.create(["forum:\(forum)/messages"], receiver, in: village).id
      try await village.post("one", in: room)
      _ = try await receiver.wait(for: 2)
      try await waitUntil {
        try await village.request(.get, "/webhook-endpoints/\(id)/deliveries", as: "ada").count("data") == 2
      }
      let log = try await village.request(.get, "/webhook-endpoints/\(id)/deliveries", as: "ada")
      #expect(log.int("data.1.status") == 307 && log["data.1.state"] == "failed")
    }
  }

  @Test func `410 disables the endpoint at once and notifies its owner`() async throws {
    try await Self.open { village, receiver in
      let (forum, room) = try await village.garden()
      receiver.answer(410)
      let id = try await Self.create(["forum:\(forum)/messages"], receiver, in: village).id
      try await village.post("one", in: room)
      let path = "/webhook-endpoints/\(id)"
      try await waitUntil {
        try await village.request(.get, path, as: "ada")["disabled_reason"] == "gone"
      }
      #expect(try await village.request(.get, "/inbox", as: "ada")["data.0.kind"] == "endpoint_disabled")
      try await village.post("two", in: room)
      receiver.answer(200)
      // Deliveries continue with the first unsent event.
      try await village.expect(200, .patch, path, as: "ada", ["enabled": true])
      _ = try await receiver.wait(for: 3)
      #expect(receiver.texts == ["one", "one", "two"])
    }
  }

  @Test func `three days of failures disable the endpoint and notify its owner`() async throws {
    let clock = StoppedClock()
    try await Self.open(clock: clock.read) { village, receiver in
      let (forum, room) = try await village.garden()
      receiver.answer(500)
      let id = try await Self.create(["forum:\(forum)/messages"], receiver, in: village).id
      try await village.post("one", in: room)
      for hours in 0..<9 {
        // The failure may be recorded after the hours were added.
        try await waitUntil {
          clock.add(20)
          return receiver.received.count > hours
        }
        clock.add(8 * 3_600_000)
      }
      let path = "/webhook-endpoints/\(id)"
      // The first failure may be recorded after some of the hours.
      try await waitUntil {
        clock.add(600_000)
        return try await village.request(.get, path, as: "ada")["disabled_reason"] == "failing"
      }
      #expect(try await village.request(.get, "/inbox", as: "ada")["data.0.kind"] == "endpoint_disabled")
      #expect(receiver.texts.allSatisfy { $0 == "one" })
    }
  }

  @Test func `a rotated secret signs beside the earlier one for a day`() async throws {
    let clock = StoppedClock()
    try await Self.open(clock: clock.read) { village, receiver in
      let (forum, room) = try await village.garden()
      let (id, old) = try await Self.create(["forum:\(forum)/messages"], receiver, in: village)
      let path = "/webhook-endpoints/\(id)"
      let renewed = try await village.expect(200, .post, path + "/secret", as: "ada")
      let new = try #require(renewed["secret"])
      #expect(renewed["previous_secret_until"] != nil && new != old)
      try await village.post("one", in: room)
      var received = try await receiver.wait(for: 1)
      #expect(try received[0].verifications(by: new) == [true, false])
      #expect(try received[0].verifications(by: old) == [false, true])
      clock.add(24 * 3_600_000)
      try await village.renewSession(of: "ada")
      try await village.post("two", in: room)
      received = try await receiver.wait(for: 2)
      #expect(try received[1].verifications(by: new) == [true])
      #expect(try await village.request(.get, path, as: "ada")["previous_secret_until"] == nil)
      _ = try await village.community.store.write { tx throws(Refusal) in try tx.removePreviousSecrets(limit: 10) }
      let stored = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.run { connection in
          try connection.first("select previous_secret is null from webhook_endpoint") { row in try row.bool(0) }
        }
      }
      #expect(stored == true)
    }
  }

  @Test func `an event is redelivered as it is now, with the same id`() async throws {
    try await Self.open { village, receiver in
      let (forum, room) = try await village.garden()
      let id = try await Self.create(
        ["forum:\(forum)/messages"], receiver, ["events": ["message.created"]], in: village
      ).id
      let message = try await village.post("one", in: room)
      let path = "/webhook-endpoints/\(id)/deliveries"
      try await waitUntil { try await village.request(.get, path, as: "ada").count("data") == 1 }
      try await village.expect(200, .patch, "/messages/\(message)", as: "ada", ["text": "better"])
      let delivery = try await village.request(.get, path, as: "ada")["data.0.id"] ?? ""
      let pending = try await village.expect(202, .post, "\(path)/\(delivery)/redeliver", as: "ada")
      #expect(pending["state"] == "pending" && pending.bool("redelivery") == true && pending.int("attempt") == 2)
      let received = try await receiver.wait(for: 2)
      #expect(receiver.texts == ["one", "better"] && received[0].id == received[1].id)
      try await waitUntil {
        try await village.request(.get, path, as: "ada")["data.0.state"] == "delivered"
      }
      // A deleted message is sent without its text.
      try await village.expect(200, .delete, "/messages/\(message)", as: "ada")
      try await village.expect(202, .post, "\(path)/\(delivery)/redeliver", as: "ada")
      let third = try await receiver.wait(for: 3)[2]
      #expect(third.text == nil && !String(decoding: third.body, as: UTF8.self).contains("better"))
      #expect(try await village.request(.post, "\(path)/999/redeliver", as: "ada").status == 404)
      try await village.expect(200, .patch, "/webhook-endpoints/\(id)", as: "ada", ["enabled": false])
      #expect(try await village.request(.post, "\(path)/\(delivery)/redeliver", as: "ada").status == 409)
    }
  }

  @Test func `a cursor of another history becomes a reset, and the endpoint goes on`() async throws {
    try await Self.open { village, receiver in
      let (forum, room) = try await village.garden()
      try await village.post("lost", in: room)
      let epoch = village.community.store.epoch
      // A worker subscribes after its first page, and no longer when it has ended with its position.
      func waitForWorker(isThere: Bool) async throws {
        let stream = EventStream.conversation(ID(try #require(Int(room))))
        try await waitUntil { village.community.hub.hasAudience(.stream(stream)) == isThere }
      }
      for (cursor, reason) in [("0123456789abcdef01234567.x.1", "epoch"), ("\(epoch).zzz.1", "rewound")] {
        let before = receiver.received.count
        let id = try await Self.create(["forum:\(forum)/messages"], receiver, ["name": reason], in: village).id
        try await waitForWorker(isThere: true)
        try await village.expect(200, .patch, "/webhook-endpoints/\(id)", as: "ada", ["enabled": false])
        try await waitForWorker(isThere: false)
        try await village.community.store.write { tx throws(Refusal) in
          try tx.move(ID(Int(id) ?? 0), to: cursor)
        }
        try await village.expect(200, .patch, "/webhook-endpoints/\(id)", as: "ada", ["enabled": true])
        let reset = try await receiver.wait(for: before + 1)[before]
        #expect(reset.type == "reset" && reset.data["reason"] as? String == reason)
        #expect(reset.data["cursor"] is String)
        try await village.post("next \(reason)", in: room)
        try await waitUntil { receiver.texts.last == "next \(reason)" }
        try await village.expect(204, .delete, "/webhook-endpoints/\(id)", as: "ada")
        try await waitForWorker(isThere: false)
      }
      #expect(!receiver.texts.contains("lost"))
    }
  }

  @Test func `an accepted event is not sent again while its delivery can't be stored`() async throws {
    try await Self.open { village, receiver in
      let (forum, room) = try await village.garden()
      _ = try await Self.create(["forum:\(forum)/messages"], receiver, in: village)
      let store = village.community.store
      func execute(_ statement: String) async throws {
        try await store.write { tx throws(Refusal) in
          try tx.run { connection in try connection.execute(SQL(statement)) }
        }
      }
      try await execute(
        "create trigger fault before insert on webhook_delivery begin select raise(abort, 'no space'); end")
      try await village.post("one", in: room)
      _ = try await receiver.wait(for: 1)
      // Some attempts to store it fail.
      try await waitUntil {
        try await store.write { tx throws(Refusal) in
          try tx.run { connection in connection.cachedStatementRuns }
        }.contains { $0.key.contains("insert into webhook_delivery") && $0.value >= 2 }
      }
      try await execute("drop trigger fault")
      try await village.post("two", in: room)
      _ = try await receiver.wait(for: 2)
      #expect(receiver.texts == ["one", "two"])
    }
  }

  @Test func `slow servers of one owner leave room for those of others`() async throws {
    try await Self.open { village, receiver in
      defer { receiver.release() }
      try await village.addUser("alma", .admin)
      let (forum, room) = try await village.garden(members: ["alma"])
      for _ in 1...6 {
        _ = try await Self.create(["forum:\(forum)/messages"], receiver, ["url": receiver.slowURL], in: village)
      }
      try await village.post("one", in: room)
      _ = try await receiver.wait(for: 4)
      _ = try await Self.create(["forum:\(forum)/messages"], receiver, as: "alma", in: village)
      try await village.post("two", in: room)
      try await waitUntil { receiver.texts.contains("two") }
      #expect(receiver.texts == ["one", "one", "one", "one", "two"])
      receiver.release()
      // All six of both.
      _ = try await receiver.wait(for: 13)
    }
  }

  @Test func `a server that is down gets the events later`() async throws {
    try await Self.open { village, receiver in
      let (forum, room) = try await village.garden()
      let url = "http://127.0.0.1:\(receiver.port)/missing"
      let id = try await Self.create(["forum:\(forum)/messages"], receiver, ["url": url], in: village).id
      try await village.post("one", in: room)
      try await waitUntil {
        try await village.request(.get, "/webhook-endpoints/\(id)", as: "ada")["failing_since"] != nil
      }
      try await village.expect(200, .patch, "/webhook-endpoints/\(id)", as: "ada", ["url": receiver.url])
      _ = try await receiver.wait(for: 1)
      #expect(receiver.texts == ["one"])
    }
  }
}
