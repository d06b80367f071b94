import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// A restore sends events to no outgoing webhook that has ended since the backup. The others go on.
@Suite struct RestoredEndpointTests {
  static func endpoint(_ name: String, token: ID<Session>? = nil) -> NewStoredWebhookEndpoint {
    let draft = WebhookEndpointDraft(
      name: name, url: "https://example.org/\(name)", topics: [.me, .conversation(Garden.room)],
      events: ["message.created"])
    return NewStoredWebhookEndpoint(draft, owner: Garden.ada, secret: [1], token: token, cursor: "a.b.1")
  }

  @Test func `outgoing webhooks that have ended since the backup stay off`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/site")
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("update account set role = 'owner' where id = 1") }
      for name in ["disabled", "deleted", "moved", "renewed", "kept"] { _ = try tx.add(Self.endpoint(name)) }
    }
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    try await garden.store.write { tx throws(Refusal) in
      for endpoint in try tx.webhookEndpoints(ListSlice(limit: 10)) {
        var changed = endpoint
        switch endpoint.name {
        case "disabled": try tx.disable(endpoint.id, .request)
        case "deleted": try tx.delete(endpoint.id)
        case "moved":
          changed.url = "https://example.com/"
          try tx.set(changed)
        case "renewed": try tx.renewSecret(of: endpoint.id, sealed: [2])
        default: break
        }
      }
    }
    await garden.store.close()
    let folder = try DataFolder(scratch.path + "/site")
    let restored = try folder.restore(
      scratch.path + "/good.tar", replacing: true, aside: "5", keepsSessions: false, at: 1_800_000_001_000
    ) { _ in }
    #expect(restored.undone.contains("4 changed outgoing webhooks (disabled)"), "\(restored.undone)")
    folder.release()
    let connection = try Connection.reader(scratch.path + "/site/parley.db")
    defer { connection.close() }
    let states = try connection.all("select name, enabled, coalesce(disabled_reason, '') from webhook_endpoint") {
      row in "\(try row.text(0)) \(try row.int(1)) \(try row.text(2))"
    }
    #expect(
      states == [
        "disabled 0 restored", "deleted 0 restored", "moved 0 restored", "renewed 0 restored", "kept 1 ",
      ])
  }

  @Test func `an endpoint is stored with its topics, events and secrets`() async throws {
    let garden = try await Garden()
    let id = try await garden.write { tx throws(Refusal) in try tx.add(Self.endpoint("index")) }
    let stored = try #require(try await garden.write { tx throws(Refusal) in try tx.storedWebhookEndpoint(id) })
    #expect(stored.endpoint.topics == [.me, .conversation(Garden.room)])
    #expect(stored.endpoint.events == ["message.created"] && stored.endpoint.isEnabled)
    #expect(stored.secrets == [[1]] && stored.cursor == "a.b.1" && stored.failures == 0)
    try await garden.write { tx throws(Refusal) in
      try tx.renewSecret(of: id, sealed: [2])
      try tx.didFail(id, nextAttemptAt: 5)
    }
    let renewed = try #require(try await garden.write { tx throws(Refusal) in try tx.storedWebhookEndpoint(id) })
    #expect(renewed.secrets == [[2], [1]] && renewed.failures == 1 && renewed.endpoint.nextAttemptAt == 5)
    try await garden.write { tx throws(Refusal) in try tx.didDeliver(to: id, cursor: "a.b.2") }
    let delivered = try #require(try await garden.write { tx throws(Refusal) in try tx.storedWebhookEndpoint(id) })
    #expect(delivered.cursor == "a.b.2" && delivered.failures == 0 && delivered.endpoint.failingSince == nil)
  }

  @Test func `the log of deliveries keeps the newest`() async throws {
    let garden = try await Garden()
    let id = try await garden.write { tx throws(Refusal) in
      let id = try tx.add(Self.endpoint("index"))
      for number in 1...30 {
        let delivery = NewWebhookDelivery("msg_\(number)", type: "message.created", event: number, attempt: 1)
        _ = try tx.add(delivery, of: id, .delivered)
      }
      let isMore = try tx.trimWebhookDeliveries(of: id, keeping: 10, limit: 15)
      #expect(isMore)
      try tx.trimWebhookDeliveries(of: id, keeping: 10)
      return id
    }
    let events = try await garden.write { tx throws(Refusal) in
      try tx.webhookDeliveries(of: id, ListSlice(limit: 50)).map(\.event)
    }
    #expect(events == (21...30).reversed().map { $0 })
  }
}
