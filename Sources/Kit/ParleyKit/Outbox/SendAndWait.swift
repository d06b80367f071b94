public import ParleyModel

extension Outbox {
  /// Sends a message and waits until the server has it.
  /// - Returns: the messages that were not cached up to the sent one, oldest first.
  /// - Throws: the fault of the attempt. The message then stays in the outbox.
  public func sendAndWait(_ draft: Draft, in conversation: ID<Conversation>) async throws -> [Message] {
    let before = await cache.history(of: conversation).held
    let events = events()
    let name = try await send(draft, in: conversation).id
    if !isRunning {
      let round = try await sendWaiting()
      if await cache.operations[name]?.state == .pending { throw round.stopped ?? .unfinished }
    } else if retryTimers[conversation] != nil {
      throw lastFault ?? .unfinished
    }
    for await event in events {
      switch event {
      case .didSend(let sent, let message) where sent.id == name:
        return try await new(in: conversation, upTo: message, before)
      // An earlier operation of the conversation is deferred, and so is this one.
      case .didFail(let failed, let fault)
      where failed.id == name || failed.conversation == conversation && failed.state == .pending:
        throw fault
      case .cancelled(name): throw ClientFault.cancelled
      case .signedOut, .stopped: throw lastFault ?? .cancelled
      case .didSend, .didFail, .cancelled, .progress: continue
      }
    }
    throw ClientFault.cancelled
  }

  private func new(
    in conversation: ID<Conversation>, upTo message: ID<Message>?, _ before: SeqRanges
  ) async throws -> [Message] {
    guard let message, let seq = try await cache.messages(.ids([message])).first?.message.seq else { return [] }
    var new: [Message] = []
    for seqs in before.missing(in: 1...seq) {
      new += try await cache.messages(.range(seqs, of: conversation)).map(\.message)
    }
    return new
  }
}
