import ParleyJSON
public import ParleyModel

extension Outbox {
  /// One's own messages that the server has no longer, since it was restored from a backup.
  public var orphans: [Message] {
    get async { await cache.orphans.values.map(\.message).sorted { $0.id < $1.id } }
  }

  /// Says an orphan again, under the name that it had: where the server has it after all, there is still one.
  @discardableResult
  public func resend(_ orphan: ID<Message>) async throws -> OutboxOperation {
    guard let message = await cache.orphans[orphan]?.message, let content = message.content else {
      throw OutboxRefusal.unknownOperation
    }
    var draft = Draft(content.text)
    draft.attachments = content.attachments
    draft.replyTo = message.replyTo.map { .message($0) }
    draft.isMachineOnly = message.isMachineOnly
    if let annotations = content.annotations {
      draft.annotations = (try? Array(json: JSONValue(parsing: annotations.bytes))) ?? []
    }
    let operation = try await cache.addOrphan(
      orphan, draft, in: message.conversation, id: message.clientID ?? clock.name(), at: clock.now())
    schedule()
    return operation
  }

  public func discard(_ orphan: ID<Message>) async throws {
    try await cache.save([CacheRow(.orphan, orphan.description, nil)])
  }
}
