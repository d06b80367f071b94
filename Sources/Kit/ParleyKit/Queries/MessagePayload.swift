public import ParleyJSON
public import ParleyModel

/// The payload of a push notification. Only its message id and revision are used; the content is fetched from the
/// server.
///
/// The content of a push message (`{"web_push":8030,"notification":{…,"data":{"message_id":"1042"}}}`), or an event as outgoing
/// webhooks deliver it (`{"event":"message.created","data":{…}}`).
public struct MessagePayload: JSONReadable, Sendable, Hashable {
  /// The message of the notification.
  public let message: ID<Message>
  /// A cached message with a lower revision is outdated.
  public let revision: Int?

  /// Reads the content of a push message.
  public init(_ bytes: [UInt8]) throws(ClientFault) {
    do throws(JSONError) { try self.init(json: JSONValue(parsing: bytes)) } catch {
      throw .invalidResponse("\(error)")
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let event: String? = try object.optional("event")
    if event == nil { object = try object.object("notification") }
    object = try object.object("data")
    let isMessage = event?.hasPrefix("message.") ?? false
    message = try object.read(isMessage ? "id" : "message_id")
    revision = try object.optional("revision")
  }
}

extension Parley {
  /// The message of a notification, from the cache or else from the server, in a single request.
  public nonisolated func message(ofPayload payload: [UInt8]) async throws -> ShownMessage {
    let payload = try MessagePayload(payload)
    if let shown = try await cache.shown(payload) { return shown }
    guard let found = try await sync.refresh([payload.message]).first,
      let shown = try await cache.shown(found).first
    else { throw SyncRefusal.unknownMessage }
    return shown
  }
}

extension Cache {
  fileprivate func shown(_ payload: MessagePayload) throws(CacheFault) -> ShownMessage? {
    let known = try messages(.ids([payload.message]))
    return shown(known.filter { $0.message.revision >= payload.revision ?? 0 }).first
  }

  /// Works for messages of conversations that are not in the cache, too.
  func shown(_ seen: MessageView) throws(CacheFault) -> [ShownMessage] {
    let known = try messages(.ids([seen.message.id]))
    let own = CachedMessage(ReplicaMessage(seen, asOf: 0), generation: 0, indexing.index(seen.message))
    return shown(known.isEmpty ? [own] : known)
  }
}
