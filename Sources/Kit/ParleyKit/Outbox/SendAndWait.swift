public import ParleyModel

// Operations that wait until the server has processed them. Each throws the fault of its attempt; the operation then stays
// in the outbox.

extension Outbox {
  /// Sends a message and waits until the server has it.
  /// - Returns: the messages that were not cached up to the sent one, oldest first; without the older ones if they are too
  ///   many, or could not be fetched.
  public func sendAndWait(_ draft: Draft, in conversation: ID<Conversation>) async throws -> [Message] {
    let (draft, conversation) = try await addressed(draft, in: conversation)
    let before = await cache.history(of: conversation).cached
    let message = try await waitUntilSent { try await send(draft, in: conversation) }
    guard let message else { return [] }
    guard let sent = try await cache.messages(.ids([message])).first?.message else {
      // Such as a reply in the feed of another user, whose messages are not cached.
      do { return [try await client.send(.getMessage(message)).message] } catch { return [] }
    }
    let last = before.all.last(where: { $0.upperBound < sent.seq })?.upperBound
    // The message is sent, so a failure from here on is none of its sending.
    if let last, last + 1 < sent.seq { try? await fetchMissed(in: last + 1...sent.seq - 1, of: conversation) }
    do { return try await cache.new(upTo: sent, since: before) } catch { return [sent] }
  }

  /// Edits a message and waits until the server has the change. A failed message is sent again with the new text.
  /// - Returns: the message as stored.
  public func editAndWait(
    _ target: Draft.Target, in conversation: ID<Conversation>, to text: String
  ) async throws -> Message? {
    try await stored(waitUntilSent { try await edit(target, in: conversation, to: text) })
  }

  /// Deletes a message and waits until the server has the deletion.
  /// - Returns: the tombstone; nil if the message was never sent.
  public func deleteAndWait(
    _ target: Draft.Target, in conversation: ID<Conversation>, andFiles: Bool = false
  ) async throws -> Message? {
    try await stored(waitUntilSent { try await delete(target, in: conversation, andFiles: andFiles) })
  }

  /// Sets or removes an action and waits until the server has it.
  /// - Returns: the message with its actions; nil if it had that state.
  public func setActionAndWait(
    _ type: ActionType, on target: Draft.Target, in conversation: ID<Conversation>, isSet: Bool = true
  ) async throws -> Message? {
    try await stored(waitUntilSent { try await setAction(type, on: target, in: conversation, isSet: isSet) })
  }

  /// Creates a conversation and waits until the server has it.
  public func createConversationAndWait(
    _ kind: Conversation.Kind, with users: [ConversationDraft.Invited] = [], title: String? = nil,
    type: String? = nil, annotations: [Draft.Annotation]? = nil, readers: Conversation.Openness? = nil,
    writers: Conversation.Openness? = nil, isHistoryVisible: Bool? = nil, isDistinct: Bool? = nil
  ) async throws -> ID<Conversation> {
    let sent = try await waitUntilProcessed {
      try await createConversation(
        kind, with: users, title: title, type: type, annotations: annotations, readers: readers, writers: writers,
        isHistoryVisible: isHistoryVisible, isDistinct: isDistinct)
    }
    guard let sent else { throw ClientFault.cancelled }
    return sent.operation.conversation
  }

  /// Changes a conversation, except a topic, and waits until the server has the change.
  public func updateConversationAndWait(
    _ conversation: ID<Conversation>, _ change: ConversationChange
  ) async throws {
    _ = try await waitUntilProcessed { try await updateConversation(conversation, change) }
  }

  /// Leaves a conversation and waits until the server has ended the participation.
  public func leaveConversationAndWait(_ conversation: ID<Conversation>) async throws {
    _ = try await waitUntilProcessed { try await leaveConversation(conversation) }
  }

  /// Deletes a conversation and waits until the server has deleted it.
  public func deleteConversationAndWait(_ conversation: ID<Conversation>) async throws {
    _ = try await waitUntilProcessed { try await deleteConversation(conversation) }
  }

  /// Retries an operation and waits until the server has it.
  /// - Returns: the message that it has created or changed; nil for other operations.
  public func retryAndWait(_ id: OutboxOperation.Name) async throws -> Message? {
    try await stored(waitUntilSent { try await retry(id) })
  }

  private func stored(_ message: ID<Message>?) async throws -> Message? {
    guard let message else { return nil }
    return try await cache.messages(.ids([message])).first?.message
  }

  /// Adds an operation and waits until the server has processed it.
  /// - Returns: the created message or the target.
  private func waitUntilSent(_ add: () async throws -> OutboxOperation?) async throws -> ID<Message>? {
    try await waitUntilProcessed(add)?.message
  }

  /// - Returns: nil if nothing was left to send.
  private func waitUntilProcessed(
    _ add: () async throws -> OutboxOperation?
  ) async throws -> OutboxRound.Sent? {
    let events = events()
    guard let operation = try await add() else { return nil }
    let (name, conversation) = (operation.id, operation.conversation)
    if let dependency = operation.dependsOn, let failure = await cache.operations[dependency]?.failure { throw failure }
    try await cache.retryOperations { $0.id == name }
    if !isRunning {
      let round = try await sendWaiting()
      if await cache.operations[name]?.state == .pending { throw round.stopped ?? .unfinished }
    } else if retryTimers[conversation] != nil {
      throw lastFault ?? .unfinished
    } else {
      schedule()
    }
    for await event in events {
      switch event {
      case .didSend(let sent, let message) where sent.id == name: return .init(operation: sent, message: message)
      // An earlier operation of the conversation is deferred, and so is this one.
      case .didFail(let failed, let fault)
      where failed.id == name || failed.conversation == conversation && failed.state == .pending:
        throw fault
      case .didFail(let failed, let fault) where failed.id == operation.dependsOn && failed.failure != nil: throw fault
      // A deletion is cancelled with its message, which was never sent.
      case .cancelled(name): if operation.kind == .delete { return nil } else { throw ClientFault.cancelled }
      case .signedOut, .stopped: throw lastFault ?? .cancelled
      case .didSend, .didFail, .cancelled, .progress: continue
      }
    }
    throw ClientFault.cancelled
  }

  /// The pages of missed messages that are fetched.
  private static let maxMissedPages = 50

  /// Fetches messages that the response to a post did not have: it has at most 100. The newest pages are fetched.
  private func fetchMissed(in seqs: ClosedRange<Int>, of conversation: ID<Conversation>) async throws {
    for _ in 0..<Self.maxMissedPages {
      guard let next = try await cache.messageAfterGap(in: seqs, of: conversation) else { return }
      let known = await cache.responseAge
      let page = try await client.send(
        .listMessages(
          in: conversation, before: next.id, order: .newestFirst, limit: Sync.pageSize, includeMachine: true,
          includeMuted: true
        ))
      let messages = page.elements.map(\.value)
      guard let oldest = messages.last, oldest.message.seq < next.seq else { return }
      try await cache.merge(missed: messages.reversed(), asOf: known)
    }
  }
}

extension Cache {
  /// The messages up to a sent one that were not held before, without a gap.
  fileprivate func new(upTo sent: Message, since before: SeqRanges) throws(CacheFault) -> [Message] {
    let first = history(of: sent.conversation).cached.range(at: sent.seq)?.lowerBound ?? sent.seq
    var new: [Message] = []
    for seqs in before.missing(in: first...sent.seq) {
      new += try messages(.range(seqs, of: sent.conversation)).map(\.message)
    }
    return new
  }

  /// The message after the last gap of a range; nil if there is none.
  fileprivate func messageAfterGap(
    in seqs: ClosedRange<Int>, of conversation: ID<Conversation>
  ) throws(CacheFault) -> Message? {
    guard let gap = history(of: conversation).cached.missing(in: seqs).last else { return nil }
    let after = gap.upperBound + 1
    return try messages(.range(after...after, of: conversation)).first?.message
  }

  fileprivate func merge(missed messages: [MessageView], asOf age: ResponseAge) throws(CacheFault) {
    guard isCurrent(age) else { return }
    try merge(ahead: messages, asOf: event(of: age))
  }
}
