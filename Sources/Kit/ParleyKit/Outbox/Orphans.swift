import ParleyJSON
public import ParleyModel

extension Outbox {
  /// The user's own messages that the server lost when it was restored from a backup.
  public var orphans: [Message] {
    get async { await cache.orphans.values.map(\.message).sorted { $0.id < $1.id } }
  }

  /// Sends an orphan again with its `client_id`, so there is no duplicate if the server has it after all.
  @discardableResult
  public func resend(_ orphan: ID<Message>) async throws -> OutboxOperation {
    guard let message = await cache.orphans[orphan]?.message, let content = message.content else {
      throw OutboxRefusal.unknownOperation
    }
    var draft = Draft(content.text)
    draft.attachments = content.attachments
    draft.descriptions = content.descriptions
    draft.replyTo = message.replyTo.map { .message($0) }
    draft.isMachineOnly = message.isMachineOnly
    draft.buttons = content.buttons
    if let annotations = content.annotations {
      draft.annotations = (try? Array(json: JSONValue(parsing: annotations.bytes))) ?? []
    }
    if let poll = content.poll {
      // A closing time in the past would be refused.
      let closesAt = poll.closesAt.flatMap { $0 > clock.now() ? $0 : nil }
      draft.poll = PollDraft(
        poll.options.map(\.text), choices: poll.choices, isAnonymous: poll.isAnonymous, closesAt: closesAt)
    }
    let operation = try await cache.addOrphan(
      orphan, draft, in: message.conversation, id: message.clientID ?? clock.name(), at: clock.now())
    schedule()
    return operation
  }

  /// Deletes an orphan from the cache.
  public func discard(_ orphan: ID<Message>) async throws(CacheFault) {
    try await cache.save([CacheRow(.orphan, orphan.description, nil)])
  }
}
