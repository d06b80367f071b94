public import ParleyJSON
public import ParleyModel

/// What a notification says: which message it is about. That alone is believed of it; what the message says, the server
/// tells.
///
/// It is an event of the contract (`{"event":"message.created","data":{…}}`), or `{"message_id":"1042"}`.
public struct MessagePayload: JSONReadable, Sendable, Hashable {
  public let message: ID<Message>
  /// An older one is not what it tells of.
  public let revision: Int?

  public init(_ bytes: [UInt8]) throws(ClientFault) {
    do throws(JSONError) { try self.init(json: JSONValue(parsing: bytes)) } catch {
      throw .invalidResponse("\(error)")
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let event: String? = try object.optional("event")
    if event != nil { object = try object.object("data") }
    let isMessage = event?.hasPrefix("message.") ?? false
    message = try object.read(isMessage ? "id" : "message_id")
    revision = try object.optional("revision")
  }
}

extension Parley {
  /// The message that a notification is about. What is held here is not asked for; else that one message is.
  public nonisolated func message(ofPayload payload: [UInt8]) async throws -> ShownMessage {
    let payload = try MessagePayload(payload)
    let held = try await cache.messages(.ids([payload.message]))
      .filter { $0.message.revision >= payload.revision ?? 0 }
    if let shown = await cache.shown(held).first { return shown }
    guard let found = try await sync.refresh([payload.message]).first,
      let shown = try await cache.shown(found).first
    else { throw SyncRefusal.unknownMessage }
    return shown
  }
}

extension Cache {
  /// Also where it is of no conversation that is held.
  func shown(_ seen: MessageView) throws(CacheFault) -> [ShownMessage] {
    let held = try messages(.ids([seen.message.id]))
    let own = CachedMessage(HeldMessage(seen, asOf: 0), generation: 0, indexing.index(seen.message))
    return shown(held.isEmpty ? [own] : held)
  }
}
