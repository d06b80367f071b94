public import ParleyModel

extension Outbox {
  /// Says something, and waits until the server has it.
  /// - Returns: the message, behind all that was said since the newest that was held here; oldest first.
  /// - Throws: why it has not gone. It is in the outbox then, like everything that is said.
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
      // What goes before it waits, so it does, too.
      case .didFail(let held, let fault)
      where held.id == name || held.conversation == conversation && held.state == .pending:
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
