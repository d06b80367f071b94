import Foundation
import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage
@testable import WebPush

@Suite struct PushSubscriptionTests {
  private static let path = "/me/push-subscriptions"

  @Test(arguments: TestTransport.allCases) func `a device subscribes, and ends it`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      let key = try await village.expect(200, .get, "/server")["vapid_key"]
      #expect(key.flatMap { PushKeys.point($0) } != nil)
      let device = try PushReceiver.Device("one")
      let made = try await village.expect(201, .post, Self.path, as: "grace", device.draft)
      #expect(made["service"] == "push.example.net" && made["name"] == "Phone" && made.bool("current") == true)
      #expect(!made.text.contains("/one"))
      // The same again, with another name.
      let again = try await village.expect(
        200, .post, Self.path, as: "grace", device.draft.merging(["name": "Tablet"]) { $1 })
      #expect(again["id"] == made["id"] && again["name"] == "Tablet")
      let list = try await village.expect(200, .get, Self.path, as: "grace")
      #expect(list.texts("data", "name") == ["Tablet"])
      #expect(try await village.expect(200, .get, Self.path, as: "linus").count("data") == 0)
      let one = "\(Self.path)/\(made["id"] ?? "")"
      try await village.expect(204, .delete, one, as: "linus")
      #expect(try await village.expect(200, .get, Self.path, as: "grace").count("data") == 1)
      for _ in 0..<2 { try await village.expect(204, .delete, one, as: "grace") }
      #expect(try await village.expect(200, .get, Self.path, as: "grace").count("data") == 0)
      try await village.expect(401, .get, Self.path)
    }
  }

  @Test func `wrong fields are refused by name`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try PushReceiver.Device("one")
      let point = Base64.encode(device.key.point, .url)
      let off = Base64.encode(device.key.point.dropLast() + [device.key.point[64] ^ 1], .url)
      let auth = Base64.encode(device.auth, .url)
      let cases: [(endpoint: String, p256dh: String, auth: String, field: String, code: String)] = [
        ("http://push.example.net/one", point, auth, "endpoint", "invalid"),
        ("push.example.net/one", point, auth, "endpoint", "invalid"),
        ("https://10.0.0.1/one", point, auth, "endpoint", "unreachable"),
        ("https://push.example.net/" + String(repeating: "x", count: 2_048), point, auth, "endpoint", "too_long"),
        (device.endpoint, off, auth, "keys.p256dh", "invalid"),
        (device.endpoint, String(point.dropLast()), auth, "keys.p256dh", "invalid"),
        (device.endpoint, point, Base64.encode(Array(device.auth.dropLast()), .url), "keys.auth", "invalid"),
        (device.endpoint, point, "!", "keys.auth", "invalid"),
      ]
      for (endpoint, p256dh, auth, field, code) in cases {
        let body: [String: Any] = ["endpoint": endpoint, "keys": ["p256dh": p256dh, "auth": auth], "name": "Phone"]
        let answer = try await village.expect(400, .post, Self.path, as: "grace", body)
        #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(answer.text)")
      }
      let keys = ["p256dh": point, "auth": auth, "other": "x"]
      let more = device.draft.merging(["keys": keys]) { $1 }
      let refused = try await village.expect(400, .post, Self.path, as: "grace", more)
      #expect(refused["errors.0.field"] == "keys.other" && refused["errors.0.code"] == "unknown_field")
      let unnamed = device.draft.merging(["name": " "]) { $1 }
      #expect(try await village.expect(400, .post, Self.path, as: "grace", unnamed)["errors.0.field"] == "name")
    }
  }

  @Test func `a user has at most twenty`() async throws {
    try await Village.open(.inMemory) { village in
      for number in 1...20 { _ = try await village.subscribe("grace", "\(number)") }
      let more = try PushReceiver.Device("21").draft
      #expect(try await village.expect(409, .post, Self.path, as: "grace", more).code == "too_many")
      try await village.expect(201, .post, Self.path, as: "linus", more)
    }
  }

  @Test func `a device belongs to the last user who subscribed it`() async throws {
    try await Village.open(.inMemory) { village in
      let device = try PushReceiver.Device("one").draft
      try await village.expect(201, .post, Self.path, as: "grace", device)
      try await village.expect(201, .post, Self.path, as: "linus", device)
      #expect(try await village.expect(200, .get, Self.path, as: "grace").count("data") == 0)
      #expect(try await village.expect(200, .get, Self.path, as: "linus").count("data") == 1)
    }
  }

  @Test func `a subscription ends with its session`() async throws {
    try await Village.open(.inMemory) { village in
      _ = try await village.subscribe("grace")
      try await village.expect(204, .delete, "/sessions/current", as: "grace")
      #expect(try await village.rows("select endpoint from push_subscription").isEmpty)
    }
  }

  @Test func `a test tells what the push service says`() async throws {
    try await Village.open(.inMemory) { village in
      let (device, id) = try await village.subscribe("grace")
      let test = "\(Self.path)/\(id)/test"
      try await village.expect(404, .post, test, as: "linus")
      for (outcome, word) in [
        (PushOutcome.accepted, "accepted"), (.refused(status: 403, words: "No such key."), "refused"),
        (.busy(retryAfter: nil), "unavailable"), (.unreachable, "unavailable"), (.gone, "gone"),
      ] {
        village.pushReceiver.answer(with: outcome)
        let answer = try await village.expect(200, .post, test, as: "grace")
        #expect(answer["outcome"] == word)
        if word == "refused" { #expect(answer.int("status") == 403 && answer["detail"] == "No such key.") }
      }
      let sent = village.pushReceiver.take()
      #expect(try device.open(sent[0])["notification.body"] == "Notifications arrive on this device.")
      try await village.expect(404, .post, test, as: "grace")
    }
  }

  @Test func `without push messages there is no key, and no user subscribes`() async throws {
    try await Village.open(.inMemory, pushes: false) { village in
      #expect(try await village.expect(200, .get, "/server").isNull("vapid_key"))
      let device = try PushReceiver.Device("one").draft
      #expect(try await village.expect(403, .post, Self.path, as: "grace", device).code == "push_off")
      #expect(try await village.expect(200, .get, Self.path, as: "grace").count("data") == 0)
    }
  }

  @Test func `the key stays, and with another one subscriptions end`() async throws {
    try await Village.open(.inMemory) { village in
      _ = try await village.subscribe("grace")
      let key = try await village.community.loadPushKey()
      #expect(Base64.encode(key.point, .url) == village.pushDeliverer.service.publicKey)
      #expect(try await village.expect(200, .get, Self.path, as: "grace").count("data") == 1)
      // Restored without the key of the data folder.
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in try connection.execute("update push_key set secret = x'00'") }
      }
      #expect(try await village.community.loadPushKey() != key)
      #expect(try await village.expect(200, .get, Self.path, as: "grace").count("data") == 0)
    }
  }
}
